"""The Spark session of a job: our jars, our state store, Flink's SQL rules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from zoneinfo import ZoneInfo

from pyspark import SparkContext
from pyspark.sql import SparkSession

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import JOB_NAME, PARALLELISM, STATE_ORDER, STATE_ROWS, TIME_ZONE
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.cache import cache_dir
from streamtable.jvm.class_archive import java_options
from streamtable.jvm.compile import operators_jar
from streamtable.jvm.jars import connector_jars
from streamtable.jvm.tools import java_tool
from streamtable.plan.binding.session import SPARK_RULES

_STATE = "spark.sql.streaming.stateStore."

#: Whether RocksDB's rows are counted, which costs a read for every write.
_COUNTS_ROWS = f"{_STATE}rocksdb.trackTotalNumberOfRows"

#: Asked by `StateOrder`, an extension of Spark's.
_IN_STATE_ORDER = "spark.streamtable.stateOrder.enabled"

#: Classes that change Spark's plans, with commas: a script's, and then ours.
_EXTENSIONS = "spark.sql.extensions"
_OWN_EXTENSION = "io.streamtable.query.StateOrder"

#: What a job relies on; a script's own `spark.*` settings cannot change these.
_FIXED = {
    **SPARK_RULES,
    "spark.sql.datetime.java8API.enabled": "true",
    f"{_STATE}providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    f"{_STATE}rocksdb.changelogCheckpointing.enabled": "true",
    # A batch without rows follows where the watermark has moved: windows must not wait for more.
    # `with_empty_batches` says where that is otherwise.
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
    # Every partition has a watermark; the least of them counts, for all operators of a query.
    "spark.sql.streaming.multipleWatermarkPolicy": "min",
    "spark.sql.streaming.statefulOperator.allowMultiple": "false",
    # Version 2 lets one checkpoint move between micro-batch and real-time mode.
    f"{_STATE}checkpointFormatVersion": "2",
    # The first checkpoints of real-time mode come quickly, one after the other.
    "spark.sql.streaming.realTimeMode.minBatchDuration": "1000",
    # Real-time mode writes a batch down when it ends: who is killed in the first one leaves state
    # without a batch. No run reads it, for the first batch begins with none.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    # A batch that runs again must have the tasks that it had, by which exactly-once sinks go.
    "spark.sql.adaptive.streaming.stateless.enabled": "false",
}

#: Defaults that a script may change through `spark.*` settings.
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.sql.streaming.minBatchesToRetain": "10",
    _COUNTS_ROWS: "false",
    # Measured: a checkpoint of one operator starts some seventy processes with Hadoop's own.
    "spark.sql.streaming.checkpointFileManagerClass": "io.streamtable.query.LocalCheckpointFiles",
    # How long a row of real-time mode may wait for others on its way to the next stage, in ms.
    # Measured: a median latency of 32 ms with Spark's default, of 5 ms with 2.
    "spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "2",
}


#: The JVM's second compiler begins with what has been called ten times as often as by default.
#: Measured on two cores: it takes one of them for minutes after a start, for code that a thousand
#: rows a second do not need, while they wait; where rows come by the million, it is as far within
#: a second.
_LATER_COMPILED = " ".join(
    f"-XX:{threshold}"
    for threshold in (
        "Tier4InvocationThreshold=50000",
        "Tier4MinInvocationThreshold=6000",
        "Tier4CompileThreshold=150000",
        "Tier4BackEdgeThreshold=400000",
    )
)

#: How many starts' logs stay in the cache.
_LOGS_KEPT = 10

#: How long a JVM may take to end that was asked to, in seconds.
_ENDING_S = 10.0

_LOGGING = Path(__file__).with_name("log4j2.properties")


def start_spark(settings: Settings, master: str | None, *, verbose: bool = False) -> SparkSession:
    """Starts (or reuses) Spark for a job.

    Args:
        settings: session settings; `spark.*` ones win over our defaults.
        master: Spark's master URL; None is this machine with all its cores.
        verbose: whether Spark's own log is shown rather than kept in a file.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, or INVALID_OPTION for a time zone.
        KeyboardInterrupt: Ctrl-C came meanwhile; Spark has been stopped again.
    """
    java_tool("java")
    jars = [*connector_jars(), operators_jar()]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(settings.get(JOB_NAME) or "streamtable")
    for key, value in configuration(settings, master).items():
        builder = builder.config(key, value)
    builder = builder.config("spark.jars", ",".join(str(jar) for jar in jars))
    with _launch_output(verbose), _interrupt_held() as asked:
        spark: SparkSession = builder.getOrCreate()
    if asked.is_set():
        spark.stop()
        raise KeyboardInterrupt
    Bridge(spark).register_functions()
    return spark


def set_up_state(spark: SparkSession, settings: Settings) -> None:
    """Tells a session, which may have served others, what a job wants of its state."""
    spark.conf.set(_COUNTS_ROWS, settings[STATE_ROWS])
    spark.conf.set(_IN_STATE_ORDER, settings[STATE_ORDER])


def stop_spark(spark: SparkSession) -> None:
    """Stops Spark; nothing is left to do where its JVM has been ended from outside."""
    try:
        spark.stop()
    except Exception:
        if not jvm_has_ended():
            raise


def jvm_has_ended() -> bool:
    """Whether Spark's JVM has ended, or does within a few seconds; False where another started it.

    A signal to a whole process group, as service managers send it, reaches that JVM as well.
    """
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - no public way
    if process is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        process.wait(_ENDING_S)
    return process.poll() is not None


@contextmanager
def _interrupt_held() -> Iterator[threading.Event]:
    """Holds Ctrl-C back and tells of it; a second one ends the process at once.

    A JVM whose launch is broken off finds the file gone by which it was to tell its port; that
    ends its main thread, but not its server's, and the process stays for good.
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
        # PySpark sets a handler of its own at the end of a start, which then stays.
        if signal.getsignal(signal.SIGINT) in (hold, signal.SIG_DFL):
            signal.signal(signal.SIGINT, before)


@contextmanager
def _launch_output(verbose: bool) -> Iterator[None]:
    """Lets what the JVM prints, Spark's log included, go to a file in the cache.

    A process inherits standard error when it is launched, and a JVM greets there with lines that
    no setting turns off. `--debug` shows everything instead.
    """
    if verbose:
        yield
        return
    logs = cache_dir() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for old in sorted(logs.glob("spark-*.log"), key=lambda p: p.stat().st_mtime)[:-_LOGS_KEPT]:
        old.unlink(missing_ok=True)
    log = logs / f"spark-{os.getpid()}.log"
    sys.stderr.flush()
    kept = os.dup(2)
    with log.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)


def configuration(settings: Settings, master: str | None) -> Mapping[str, str]:
    """What Spark is started with, its settings -> values; the arguments are those of a start.

    Raises:
        StreamtableError: INVALID_OPTION for a time zone.
    """
    parallelism = settings.get(PARALLELISM) or os.cpu_count() or 1
    own = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    found = {
        **_DEFAULTS,
        "spark.driver.defaultJavaOptions": f"{_LATER_COMPILED} {java_options()}".strip(),
        "spark.executor.defaultJavaOptions": _LATER_COMPILED,
        "spark.driver.extraJavaOptions": (f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"),
        "spark.master": master or "local[*]",
        "spark.sql.shuffle.partitions": str(parallelism),
        **own,
        **_FIXED,
    }
    found[_EXTENSIONS] = ",".join(filter(None, (found.get(_EXTENSIONS), _OWN_EXTENSION)))
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
