"""Settings of a job's Spark session: jars, state store, Flink's SQL rules, driver address."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from streamtable.core.options import Settings
from streamtable.core.settings.job import JOB_NAME, PARALLELISM, TIME_ZONE
from streamtable.core.settings.session import time_zone
from streamtable.core.settings.spark import FIXED
from streamtable.jvm.install.class_archive import java_options
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.jars import connector_jars
from streamtable.runtime.session.driver_address import driver_address

_STATE = "spark.sql.streaming.stateStore."

#: Whether RocksDB counts its rows, which costs a read for every write.
COUNTS_ROWS = f"{_STATE}rocksdb.trackTotalNumberOfRows"

#: Read by `StateOrder`, a Spark extension, and by `RowBundles`, which it registers.
IN_STATE_ORDER = "spark.streamtable.stateOrder.enabled"
ROWS_PER_BUNDLE = "spark.streamtable.bundleSize"

#: Whether PySpark notes the line of Python of each call of its functions, for errors. It takes
#: several calls of the JVM each, and the lines of a job are ours, not those of its script.
CALL_SITES = "spark.python.sql.dataFrameDebugging.enabled"

#: Spark extensions and jars, separated by commas: the values of the script, then ours.
EXTENSIONS = "spark.sql.extensions"
OWN_EXTENSION = "io.streamtable.query.StateOrder"
PARTITIONS = "spark.sql.shuffle.partitions"
JARS = "spark.jars"

#: Spark's setting for the class that writes checkpoint files, and our class, which listeners use to
#: act just before a commit, and which writes only while the job holds its checkpoint.
FILES_KEY = "spark.sql.streaming.checkpointFileManagerClass"
FILES = "io.streamtable.checkpoint.CheckpointFiles"

#: Hadoop's settings for local files, which a session adds when its jars are loaded: our class sets
#: permissions without a process. Hadoop's cache has an object of another class from Spark's start.
LOCAL_FILES = {
    "fs.file.impl": "io.streamtable.checkpoint.DirectLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}

#: Spark's setting for the class of real-time mode's shuffles, and our class, which works within one
#: process. Measured: two aggregations have a median latency of 1.6 ms, and 5.5 with Spark's class.
SHUFFLES_KEY = "spark.shuffle.manager.incremental"
LOCAL_SHUFFLES = "io.streamtable.shims.shuffle.LocalShuffleManager"

#: Java options of the driver: ours, then the options of the script, which take precedence.
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_DEFAULT_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"

#: Environment variable of glibc: maximum number of arenas for memory outside the heap. The default
#: is eight per core, and memory that is freed in one arena stays in this arena.
ARENAS = "MALLOC_ARENA_MAX"
ARENAS_KEPT = "4"

#: Default settings of Spark, which a script may change through `spark.*` settings.
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.streaming.metricsEnabled": "false",
    CALL_SITES: "false",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.sql.streaming.minBatchesToRetain": "10",
    COUNTS_ROWS: "false",
    # Maintenance deletes old versions of the state and writes snapshots. With Spark's default of
    # one minute, a query with short batches keeps a thousand versions although it needs ten.
    f"{_STATE}maintenanceInterval": "5s",
    # The changes of each batch, which most of a checkpoint consists of. Measured: half the size of
    # Spark's default, lz4, at the same throughput. A checkpoint keeps the codec that it began with.
    f"{_STATE}compression.codec": "zstd",
    # All RocksDB stores of a process share one cache and one budget of write buffers. By default,
    # each store, one per operator and partition, has about 140 MB.
    f"{_STATE}rocksdb.boundedMemoryUsage": "true",
    f"{_STATE}rocksdb.maxMemoryUsageMB": "512",
    f"spark.executorEnv.{ARENAS}": ARENAS_KEPT,
    # Measured: with Hadoop's class, a checkpoint of one operator starts about seventy processes.
    FILES_KEY: FILES,
    # Spark passes its own objects to the tasks of a stage instead of closures, whose classes it
    # parses in each batch. Measured: this takes 5 instead of 10 % of the query's thread.
    "spark.sql.execution.usePartitionEvaluator": "true",
    # Maximum time, in ms, that a row of real-time mode waits in the buffer to the next stage on a
    # cluster. Measured: the median latency is 32 ms with Spark's default, and 5 ms with 2.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "2",
}


#: The second compiler of the JVM starts at ten times the default number of calls.
#: Measured on two cores with the default: the compiler uses one core for minutes after a start, and
#: rows wait, although a load of a thousand rows per second does not need the compiled code. With
#: millions of rows per second, the higher thresholds are reached within a second.
_LATER_COMPILED = " ".join(
    f"-XX:{threshold}"
    for threshold in (
        "Tier4InvocationThreshold=50000",
        "Tier4MinInvocationThreshold=6000",
        "Tier4CompileThreshold=150000",
        "Tier4BackEdgeThreshold=400000",
    )
)

_LOGGING = Path(__file__).with_name("log4j2.properties")


def start_settings(settings: Settings, master: str | None) -> dict[str, str]:
    """Return all settings that a Spark session builder needs so that jobs can run in the session.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE for jars that cannot be fetched, JAVA_MISSING, or
            INVALID_OPTION for a time zone.
    """
    jars = [*connector_jars(), operators_jar()]
    name = {"spark.app.name": settings.get(JOB_NAME) or "streamtable"}
    return {**name, **configuration(settings, master, jars)}


def configuration(
    settings: Settings, master: str | None, jars: Sequence[Path] = ()
) -> Mapping[str, str]:
    """Return the settings to start Spark with: setting -> value.

    The arguments are the same as in `start_spark`; `jars` are added to the jars of the script.

    Raises:
        StreamtableError: INVALID_OPTION for a time zone.
    """
    own = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    logging = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
    found = {
        **DEFAULTS,
        **driver_address(master),
        **_shuffles(master),
        _DEFAULT_JAVA_OPTIONS: f"{_LATER_COMPILED} {java_options()}".strip(),
        "spark.executor.defaultJavaOptions": _LATER_COMPILED,
        PARTITIONS: str(os.cpu_count() or 1),
        **session_settings(settings),
        "spark.master": master or "local[*]",
        _JAVA_OPTIONS: f"{logging} {own.get(_JAVA_OPTIONS, '')}".strip(),
        **{key: fixed.value for key, fixed in FIXED.items()},
    }
    found[EXTENSIONS] = ",".join(filter(None, (found.get(EXTENSIONS), OWN_EXTENSION)))
    if jars:
        found[JARS] = ",".join(filter(None, (found.get(JARS), *map(str, jars))))
    return found


def _shuffles(master: str | None) -> dict[str, str]:
    """Return the setting for shuffles of real-time mode in memory, if Spark is one process.

    Spark 4.2 has no shuffles in real-time mode, and does not know the setting.
    """
    one_process = (master or "local").partition("[")[0] == "local"
    return {SHUFFLES_KEY: LOCAL_SHUFFLES} if one_process else {}


def local_files(settings: Settings) -> dict[str, str]:
    """Return `LOCAL_FILES` without settings that the script sets for Hadoop (`spark.hadoop.*`)."""
    given = settings.passthrough
    return {key: value for key, value in LOCAL_FILES.items() if f"hadoop.{key}" not in given}


def platform_java_options(settings: Settings) -> dict[str, str]:
    """Return the driver's Java options without files of this machine, for another machine."""
    own = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    return {
        _DEFAULT_JAVA_OPTIONS: own.get(_DEFAULT_JAVA_OPTIONS, _LATER_COMPILED),
        _JAVA_OPTIONS: own.get(_JAVA_OPTIONS, ""),
    }


def session_settings(settings: Settings) -> dict[str, str]:
    """Return only the settings that a job's settings define for its Spark session.

    Raises:
        StreamtableError: INVALID_OPTION for a time zone.
    """
    found = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    if settings.has(PARALLELISM):
        found.setdefault(PARTITIONS, str(settings[PARALLELISM]))
    if settings[TIME_ZONE] != "default":
        time_zone(settings)  # refuses an unknown zone
        found["spark.sql.session.timeZone"] = settings[TIME_ZONE]
    return found
