"""Spark sessions of a caller: checks of the session, and a copy that a job may change."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pyspark.sql import SparkSession

from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.spark import FIXED
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.installed_spark import SPARK_MINORS, minor_of, supported
from streamtable.runtime.session.configuration import (
    DEFAULTS,
    OWN_EXTENSION,
    PARTITIONS,
    session_settings,
    start_settings,
)

_HINT = (
    "build it with SparkSession.builder.config(map=session.spark_settings()), the settings of a"
    " streamtable Session, or stop this session, and let the job start its own"
)
_ROCKSDB = "spark.sql.streaming.stateStore.rocksdb."


def check_usable(spark: SparkSession, settings: Settings, master: str | None) -> None:
    """Check that a session has everything that a job needs and cannot set itself.

    Raises:
        StreamtableError: SPARK_UNUSABLE with the first missing item; OPTION_NOT_SETTABLE for a
            `spark.*` setting of the script that Spark reads only at startup.
    """
    reason = _lacks(spark)
    if reason is None and master not in (None, spark.sparkContext.master):
        reason = f"its master is {spark.sparkContext.master}, but {master} is requested"
    if reason is not None:
        raise StreamtableError(Condition.SPARK_UNUSABLE, reason=reason, hint=_HINT)
    wanted = start_settings(settings, master) if settings.passthrough else {}
    for key in settings.passthrough:
        full = f"spark.{key}"
        if not _settable(spark, full) and spark.conf.get(full, None) != wanted[full]:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.given[full].at,
                option=full,
                reason="Spark is already running, and reads it only at startup",
                hint="set it in the builder of the Spark session",
            )


def copy_of(spark: SparkSession, settings: Settings) -> SparkSession:
    """Clone a Spark session and set the clone up for a job.

    The clone has its own settings, functions and streaming queries. The listeners of the given
    session receive the events of these queries.
    """
    given: Any = spark._jsparkSession  # noqa: SLF001 - PySpark can make an empty one only
    made: Any = given.cloneSession()
    known = list(made.streams().listListeners())
    for listener in given.streams().listListeners():
        if listener not in known:
            made.streams().addListener(listener)
    copied = SparkSession(spark.sparkContext, made)
    explicit = spark.conf.getAll
    for key, value in {PARTITIONS: str(spark.sparkContext.defaultParallelism), **DEFAULTS}.items():
        if key not in explicit and _settable(spark, key):
            copied.conf.set(key, value)
    fixed = {key: setting.value for key, setting in FIXED.items()}
    for key, value in {**session_settings(settings), **fixed}.items():
        if _settable(spark, key):
            copied.conf.set(key, value)
    return copied


def _lacks(spark: SparkSession) -> str | None:
    """Return what a session lacks, in words; None if a job can use the session."""
    if not hasattr(spark, "_jsparkSession"):
        return "it is one of Spark Connect, which cannot reach the JVM"
    if spark.sparkContext._jsc is None:  # noqa: SLF001 - no public way
        return "it has been stopped"
    if minor_of(spark.version) not in SPARK_MINORS:
        return (
            f"it runs Spark {spark.version}, and this streamtable has operators for {supported()}"
        )
    bridge = Bridge(spark)
    for name, jars in _connector_classes().items():
        if not bridge.has_class(name):
            return f"it lacks {jars} ('spark.jars')"
    jar = bridge.jar_of(OWN_EXTENSION)
    if jar is None:
        return "it lacks the jar of streamtable's operators ('spark.jars')"
    if jar != operators_jar().name:
        return f"it has another version of streamtable's operators: {jar}"
    if OWN_EXTENSION not in str(spark.conf.get("spark.sql.extensions", "")):
        return f"'spark.sql.extensions' lacks {OWN_EXTENSION}"
    return None


def task_classes() -> dict[str, str]:
    """Return the Java classes that tasks need, with the jars that have them, in words."""
    return {**_connector_classes(), OWN_EXTENSION: "the jar of streamtable's operators"}


def _connector_classes() -> dict[str, str]:
    """Return the Java classes of all connectors, with the jars that have them, in words."""
    found: dict[str, str] = {}
    for name in CONNECTORS:
        # A connector that cannot be loaded is reported where a script uses it.
        with suppress(StreamtableError):
            found.update(CONNECTORS[name].java_classes)
    return found


def _settable(spark: SparkSession, key: str) -> bool:
    """Whether a setting may be changed at runtime. Spark does not list the settings of RocksDB."""
    return key.startswith(_ROCKSDB) or bool(spark.conf.isModifiable(key))
