"""`connect`: opens a session."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from streamtable.api.family import one_family
from streamtable.api.hold import SparkHold
from streamtable.api.session import Session
from streamtable.core.options import Given
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.flink import flink_settings
from streamtable.core.settings.session import SessionSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = logging.getLogger("streamtable")


def connect(
    spark: SparkSession | None = None,
    *,
    master: str | None = None,
    notice: Callable[[str], None] | None = None,
    verbose: bool = False,
    **settings: object,
) -> Session:
    """Open a session: a catalog, settings, and jobs.

    Nothing is started yet. The first statement that needs Spark starts it, and `Session.close`
    stops it.

    >>> import streamtable
    >>> session = streamtable.connect(execution_runtime_mode="batch", parallelism_default=2)
    >>> session.get("execution.runtime-mode")
    'batch'

    Args:
        spark: a Spark session of yours, which is neither changed nor stopped: jobs run in a copy
            of it. Build it with `Session.spark_settings`.
        master: Spark's master URL, if the session starts Spark; None runs Spark on this machine,
            with 32 task slots.
        notice: takes one line for the user, such as `starting Spark`; None logs it as INFO of the
            logger `streamtable`.
        verbose: whether Spark's own log is shown, if the session starts Spark.
        **settings: initial settings, as SET takes them. Write `_` for `.` and `-`:
            `execution_mode="micro-batch"`. A key may have its dots in a dictionary:
            `**{"spark.driver.memory": "4g"}`.

    Raises:
        StreamtableError: UNKNOWN_SETTING, INVALID_OPTION, or another error of a setting.
    """
    given = {_key(name): _text(value) for name, value in settings.items()}
    return Session(*session_parts(given, spark, master, notice, verbose=verbose))


def session_parts(
    settings: Mapping[str, str],
    spark: SparkSession | None = None,
    master: str | None = None,
    notice: Callable[[str], None] | None = None,
    *,
    verbose: bool = False,
) -> tuple[SessionSettings, SparkHold, Callable[[str], None]]:
    """Return what a `Session` is made of; see `connect`.

    Args:
        settings: initial settings, key -> value as SET takes them.
        spark: a Spark session of the caller, or None.
        master: Spark's master URL, or None.
        notice: takes one line for the user; None logs it.
        verbose: whether Spark's own log is shown.

    Raises:
        StreamtableError: an error of a setting.
    """
    tell = notice or _LOG.info
    with one_family():
        initial = SessionSettings(initial={key: Given(text) for key, text in settings.items()})
        initial.current()
        return initial, SparkHold(spark, master, tell, verbose=verbose), tell


def _key(name: str) -> str:
    """Return the key of a setting that is written with underscores, or the name itself."""
    return name if "." in name else _spelled().get(name, name)


@cache
def _spelled() -> dict[str, str]:
    keys = [*(setting.key for setting in flink_settings()), *SETTINGS.keys()]
    return {re.sub(r"[.-]", "_", key): key for key in keys}


def _text(value: object) -> str:
    """Return a value as SET takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, timedelta):
        return f"{round(value.total_seconds() * 1_000)} ms"
    return str(value)
