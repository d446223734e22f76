"""Spark session of a job: jars, state store, and Flink's SQL rules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from zoneinfo import ZoneInfo

from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import JOB_NAME, PARALLELISM, STATE_ORDER, STATE_ROWS, TIME_ZONE
from streamtable.core.spark_settings import FIXED
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.class_archive import java_options
from streamtable.jvm.compile import operators_jar
from streamtable.jvm.installed_spark import check_machine
from streamtable.jvm.jars import connector_jars
from streamtable.runtime.session.launch_log import launch_output

_STATE = "spark.sql.streaming.stateStore."

#: Whether RocksDB counts its rows, which costs a read for every write.
_COUNTS_ROWS = f"{_STATE}rocksdb.trackTotalNumberOfRows"

#: Read by `StateOrder`, a Spark extension.
_IN_STATE_ORDER = "spark.streamtable.stateOrder.enabled"

#: Spark extensions and jars, separated by commas: the values of the script, then ours.
_EXTENSIONS = "spark.sql.extensions"
OWN_EXTENSION = "io.streamtable.query.StateOrder"
PARTITIONS = "spark.sql.shuffle.partitions"
_JARS = "spark.jars"

#: Java options of the driver: ours, then the options of the script, which take precedence.
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"

#: Environment variable of glibc: maximum number of arenas for memory outside the heap. The default
#: is eight per core, and memory that is freed in one arena stays in this arena.
_ARENAS = "MALLOC_ARENA_MAX"
_ARENAS_KEPT = "4"

#: Default settings of Spark, which a script may change through `spark.*` settings.
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.sql.streaming.minBatchesToRetain": "10",
    _COUNTS_ROWS: "false",
    # Maintenance deletes old versions of the state and writes snapshots. With Spark's default of
    # one minute, a query with short batches keeps a thousand versions although it needs ten.
    f"{_STATE}maintenanceInterval": "5s",
    # All RocksDB stores of a process share one cache and one budget of write buffers. By default,
    # each store, one per operator and partition, has about 140 MB.
    f"{_STATE}rocksdb.boundedMemoryUsage": "true",
    f"{_STATE}rocksdb.maxMemoryUsageMB": "512",
    f"spark.executorEnv.{_ARENAS}": _ARENAS_KEPT,
    # Measured: with Hadoop's class, a checkpoint of one operator starts about seventy processes.
    "spark.sql.streaming.checkpointFileManagerClass": "io.streamtable.query.LocalCheckpointFiles",
    # Maximum time, in ms, that a row of real-time mode waits in the buffer to the next stage.
    # Measured: the median latency is 32 ms with Spark's default, and 5 ms with 2.
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

#: A shell's exit code for a process that a signal has ended is this number plus the signal number.
_BY_SIGNAL = 128

#: Timeout for the end of a JVM after a stop request, in seconds.
_ENDING_S = 10.0

_LOGGING = Path(__file__).with_name("log4j2.properties")


def start_spark(
    settings: Settings,
    master: str | None,
    *,
    verbose: bool = False,
    notice: Callable[[str], None] = lambda _: None,
) -> SparkSession:
    """Start Spark for a job, or return the existing session of this process unchanged.

    Args:
        settings: session settings; `spark.*` settings override our defaults.
        master: Spark's master URL; None is this machine with all its cores.
        verbose: show Spark's own log instead of writing it to a file.
        notice: takes one line for the user.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING, SPARK_VERSION, RESOURCE_UNAVAILABLE, or
            INVALID_OPTION for a time zone.
        KeyboardInterrupt: Ctrl-C was pressed during the start; Spark has been stopped again.
    """
    if SparkContext._active_spark_context is not None:  # noqa: SLF001 - no public way
        return SparkSession.builder.getOrCreate()
    check_machine()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault(_ARENAS, _ARENAS_KEPT)  # inherited by the JVM
    builder = SparkSession.builder.config(map={**start_settings(settings, master)})
    with launch_output(verbose, notice), _interrupt_held() as asked:
        spark: SparkSession = _launched(builder.getOrCreate)
    if asked.is_set():
        spark.stop()
        raise KeyboardInterrupt
    bridge = Bridge(spark)
    bridge.activate()  # the launch has activated only its own thread
    bridge.register_functions()
    return spark


def start_settings(settings: Settings, master: str | None) -> dict[str, str]:
    """Return all settings that a Spark session builder needs so that jobs can run in the session.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE for jars that cannot be fetched, JAVA_MISSING, or
            INVALID_OPTION for a time zone.
    """
    jars = [*connector_jars(), operators_jar()]
    name = {"spark.app.name": settings.get(JOB_NAME) or "streamtable"}
    return {**name, **configuration(settings, master, jars)}


def set_up_state(spark: SparkSession, settings: Settings) -> None:
    """Apply a job's state settings to a session, which may have served other jobs."""
    spark.conf.set(_COUNTS_ROWS, settings[STATE_ROWS])
    spark.conf.set(_IN_STATE_ORDER, settings[STATE_ORDER])


def stop_spark(spark: SparkSession) -> None:
    """Stop Spark, or clean up if its JVM has been ended from outside."""
    try:
        spark.stop()
    except Exception:
        if not jvm_has_ended():
            raise
        _forget_jvm()


def _forget_jvm() -> None:
    """Reset PySpark after the JVM has ended, so that this process can start another JVM.

    PySpark does not reset itself. Its gateway and its active context are private attributes.
    """
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001


def jvm_has_ended() -> bool:
    """Whether Spark's JVM has ended or ends within seconds; False if another process started it.

    A signal to a whole process group, as service managers send it, also reaches the JVM.
    """
    return jvm_end(wait=True) is not None


def jvm_end(*, wait: bool) -> str | None:
    """Describe in words how Spark's JVM has ended; None if it runs or another process started it.

    Args:
        wait: whether to wait a few seconds for a JVM that is about to end.
    """
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - no public way
    if process is None:
        return None
    if wait:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_S)
    code = process.poll()
    if code is None:
        return None
    # A JVM that a signal has ended returns the signal number in its exit code, as a shell does.
    number = -code if code < 0 else code - _BY_SIGNAL
    try:
        return f"killed by {signal.Signals(number).name}"
    except ValueError:
        return f"exit code {code}"


def _launched(launch: Callable[[], SparkSession]) -> SparkSession:
    """Launch Spark in a separate thread, and wait for it.

    In the main thread, PySpark sets a handler of SIGINT, which calls the JVM in the middle of other
    operations.
    """
    with ThreadPoolExecutor(1, "streamtable-launch") as pool:
        return pool.submit(launch).result()


@contextmanager
def _interrupt_held() -> Iterator[threading.Event]:
    """Defer Ctrl-C until the end of the block; yield an event that is set after Ctrl-C.

    A second Ctrl-C ends the process at once. If the launch of a JVM is interrupted, the JVM does
    not find the file to which it writes its port. Its main thread then ends, but the thread of its
    server does not, and the process never ends.
    """
    asked = threading.Event()

    def hold(number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        asked.set()

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, hold)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


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
        "spark.driver.defaultJavaOptions": f"{_LATER_COMPILED} {java_options()}".strip(),
        "spark.executor.defaultJavaOptions": _LATER_COMPILED,
        PARTITIONS: str(os.cpu_count() or 1),
        **session_settings(settings),
        "spark.master": master or "local[*]",
        _JAVA_OPTIONS: f"{logging} {own.get(_JAVA_OPTIONS, '')}".strip(),
        **{key: fixed.value for key, fixed in FIXED.items()},
    }
    found[_EXTENSIONS] = ",".join(filter(None, (found.get(_EXTENSIONS), OWN_EXTENSION)))
    if jars:
        found[_JARS] = ",".join(filter(None, (found.get(_JARS), *map(str, jars))))
    return found


def session_settings(settings: Settings) -> dict[str, str]:
    """Return only the settings that a job's settings define for its Spark session.

    Raises:
        StreamtableError: INVALID_OPTION for a time zone.
    """
    found = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    if settings.has(PARALLELISM):
        found.setdefault(PARTITIONS, str(settings[PARALLELISM]))
    zone = settings[TIME_ZONE]
    if zone != "default":
        found["spark.sql.session.timeZone"] = _checked_zone(zone, settings)
    return found


def _checked_zone(zone: str, settings: Settings) -> str:
    try:
        if not zone.startswith(("GMT", "UTC", "+", "-")):
            ZoneInfo(zone)
    except (KeyError, ValueError):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(TIME_ZONE),
            option=TIME_ZONE.key,
            value=zone,
            expected="a zone such as 'Europe/Berlin' or 'GMT-08:00'",
        ) from None
    return zone
