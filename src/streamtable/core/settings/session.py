"""Settings of a session, as changed by `SET`, `RESET` and `--set`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from streamtable.core.answer import Answer
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Option, Settings
from streamtable.core.secrets import shown_option
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.execution import CHECKPOINT_INTERVAL
from streamtable.core.settings.flink import (
    RENAMED,
    flink_setting,
    flink_settings,
    no_effect,
    refusal,
)
from streamtable.core.settings.job import PIPELINE_JARS, PYTHON_FILES, TIME_ZONE
from streamtable.core.settings.spark import check_spark_setting
from streamtable.core.shown_options import value_shown

#: Default time between two checkpoints of a real-time query. Between checkpoints, rows flow without
#: a pause. At a checkpoint, rows wait until the state is committed.
DEFAULT_INTERVAL = timedelta(seconds=60)

#: Spark accepts no shorter interval from a user.
SHORTEST_INTERVAL = timedelta(seconds=5)


class SessionSettings:
    """Settings in force at a point of a script.

    Args:
        fixed: settings that `SET` cannot change, as `--set` gives them.
        initial: settings that hold until `SET` changes them, and again after `RESET`.

    Raises:
        StreamtableError: as for `set`.
    """

    def __init__(
        self, fixed: Mapping[str, Given] | None = None, initial: Mapping[str, Given] | None = None
    ) -> None:
        self._fixed = dict(fixed or {})
        self._initial = dict(initial or {})
        self._given: dict[str, Given] = {}
        for key, value in (*self._fixed.items(), *self._initial.items()):
            self._check(key, value, None)

    def copy(self) -> SessionSettings:
        """Return independent settings with the same content."""
        other = SessionSettings()
        other._fixed = self._fixed
        other._initial = self._initial
        other._given = dict(self._given)
        return other

    def set(self, key: str, value: Given, at: Span | None = None) -> None:
        """`SET 'key' = 'value'`; `at` is the place of the key.

        Raises:
            StreamtableError: UNKNOWN_SETTING, INVALID_OPTION or NOT_YET; OPTION_NOT_SETTABLE for a
                Spark setting that a job fixes, or a Flink setting that would change results.
        """
        self._check(key, value, at)
        self._given[key] = value

    def reset(self, key: str | None, at: Span | None = None) -> None:
        """`RESET 'key'`, or RESET of all keys; initial settings hold again.

        Raises:
            StreamtableError: UNKNOWN_SETTING if the key does not exist.
        """
        if key is None:
            self._given.clear()
            return
        if not key.startswith("spark."):
            _check_known(key, at)
        self._given.pop(key, None)

    def current(self) -> Settings:
        """Typed settings in force; Spark's keys are in `passthrough`, without the prefix."""
        given = self._in_force().items()
        ours = {key: value for key, value in given if _ours(key) or key.startswith("spark.")}
        return SETTINGS.read(ours, "session")

    def notices(self) -> Iterator[str]:
        """Yield a line for each Flink setting in force that has no effect."""
        for key, value in self._in_force().items():
            reason = None if _ours(key) or key.startswith("spark.") else no_effect(key)
            if reason is not None:
                place = f"{value.at}: " if value.at else ""
                yield f"{place}setting '{key}' has no effect here: {reason}"

    def listed(self) -> Answer:
        """Return all settings in force, secrets masked."""
        values = {
            option.key: value_shown(option.default)
            for option in SETTINGS.options
            if option.default not in (None, "")
        }
        values |= {key: given.text for key, given in self._in_force().items()}
        rows = ((key, shown_option(key, value)) for key, value in sorted(values.items()))
        return Answer(("key", "value"), tuple(rows))

    def _in_force(self) -> dict[str, Given]:
        """Return the settings in force by current key; the last wins, `--set` wins over all."""
        layers = (self._initial, self._given, self._fixed)
        return {key: given for kept in layers for key, given in SETTINGS.spelled_out(kept).items()}

    def __getitem__(self, option: Option[Any]) -> Any:
        return self.current()[option]

    def _check(self, key: str, value: Given, at: Span | None) -> None:
        option = _ours(key)
        if option is not None:
            option.read(value)
        elif key.startswith("spark."):
            check_spark_setting(key, value.text, at)
        else:
            _check_known(key, at)
            reason = refusal(key, value.text)
            if reason is not None:
                raise StreamtableError(
                    Condition.OPTION_NOT_SETTABLE,
                    at=at,
                    option=key,
                    reason=reason,
                    hint="remove it",
                )


def _ours(key: str) -> Option[Any] | None:
    """Return streamtable's setting by its current or an older key."""
    for option in SETTINGS.options:
        if key == option.key or key in option.fallback_keys:
            return option
    return None


#: Prefixes of the settings of Flink's file systems for S3.
_S3 = ("s3.", "s3a.")


def _check_known(key: str, at: Span | None) -> None:
    """Raise UNKNOWN_SETTING unless streamtable or Flink has the key."""
    if _ours(key) or flink_setting(key):
        return
    hint: str | None = None
    if key in RENAMED:
        hint = f"Flink calls it '{RENAMED[key]}'"
    elif key.startswith(_S3):
        own = key.partition(".")[2].replace("-", ".")
        hint = f"set 'spark.hadoop.fs.s3a.{own}', and write s3a:// in paths"
    else:
        hint = closest(key, [*SETTINGS.keys(), *(setting.key for setting in flink_settings())])
    raise StreamtableError(Condition.UNKNOWN_SETTING, at=at, option=key, hint=hint)


def python_files(settings: Settings) -> list[str]:
    """Return the paths in `python.files`."""
    return [place.strip() for place in settings[PYTHON_FILES].split(",") if place.strip()]


def jars(settings: Settings) -> list[str]:
    """Return the paths of jars in `pipeline.jars` and `spark.jars`."""
    given = [*settings[PIPELINE_JARS].split(";"), *settings.passthrough.get("jars", "").split(",")]
    return [path.strip() for path in given if path.strip()]


def checkpoint_interval(settings: Settings) -> timedelta:
    """Return the time between two checkpoints of real-time mode.

    Raises:
        StreamtableError: INVALID_OPTION if the interval is too short.
    """
    interval: timedelta = settings.get(CHECKPOINT_INTERVAL) or DEFAULT_INTERVAL
    if interval < SHORTEST_INTERVAL:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(CHECKPOINT_INTERVAL),
            option=CHECKPOINT_INTERVAL.key,
            value=settings.given[CHECKPOINT_INTERVAL.key].text,
            expected="at least 5 s, which real-time mode needs",
        )
    return interval


def time_zone(settings: Settings) -> tzinfo:
    """Return the session's time zone; `default` is the zone of this machine.

    Raises:
        StreamtableError: INVALID_OPTION for an unknown zone.
    """
    name = settings[TIME_ZONE]
    if name == "default":
        local = datetime.now().astimezone().tzinfo
        assert local is not None, "astimezone sets a zone"  # noqa: S101
        return local
    try:
        return zone_named(name)
    except (KeyError, ValueError):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(TIME_ZONE),
            option=TIME_ZONE.key,
            value=name,
            expected="a zone such as 'Europe/Berlin' or 'GMT-08:00'",
        ) from None


def zone_name(settings: Settings) -> str:
    """Return the name of the session's time zone; for `default`, that of this machine."""
    name = settings[TIME_ZONE]
    if name != "default":
        return name
    found = os.environ.get("TZ") or os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    return found or datetime.now().astimezone().isoformat()[-6:]


def same_zone(left: str, right: str) -> bool:
    """Return whether two names are those of one time zone, such as `UTC` and `Etc/UTC`."""
    if left == right:
        return True
    try:
        first, second = zone_named(left), zone_named(right)
    except (KeyError, ValueError):
        return False
    weeks = (datetime(1970, 1, 1) + timedelta(weeks=week) for week in range(68 * 52))
    return all(first.utcoffset(week) == second.utcoffset(week) for week in weeks)


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its name: `Europe/Berlin`, `UTC`, `GMT+05:30`, `-08:00`.

    Raises:
        ValueError, KeyError: the zone does not exist.
    """
    if name.startswith(("GMT", "UTC", "+", "-")):
        offset = name.removeprefix("GMT").removeprefix("UTC") or "+00:00"
        return datetime.fromisoformat(f"2000-01-01T00:00:00{offset}").tzinfo or UTC
    from zoneinfo import ZoneInfo  # few scripts name a region

    return ZoneInfo(name)
