"""Spark session of a job: start, stop, and the end of its JVM."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import FrameType

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from streamtable.core.options import Settings
from streamtable.core.settings.execution import BUNDLE_SIZE, STATE_ORDER, STATE_ROWS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.jvm.install.jars import connector_jars
from streamtable.jvm.numpy_values import import_numpy_late
from streamtable.jvm.submitted import (
    add_to_class_path,
    is_submitted,
    submitting_jvm_has_ended,
)
from streamtable.jvm.vector_functions import without_vector_functions
from streamtable.runtime.session.configuration import (
    CALL_SITES,
    COUNTS_ROWS,
    IN_STATE_ORDER,
    ROWS_PER_BUNDLE,
    local_files,
    start_settings,
)
from streamtable.runtime.session.driver_address import check_master
from streamtable.runtime.session.launch import launch, set_environment
from streamtable.runtime.session.submitted import settings_after_submit
from streamtable.runtime.socket_server import stop_at_once

#: A shell's exit code for a process that a signal has ended is this number plus the signal number.
_BY_SIGNAL = 128

#: Timeout for the end of a JVM after a stop request, in seconds.
_ENDING_S = 10.0


def start_spark(
    settings: Settings,
    master: str | None,
    *,
    verbose: bool = False,
    notice: Callable[[str], None] = lambda _: None,
    call_sites: bool = False,
) -> SparkSession:
    """Start Spark for a job, or return the existing session of this process unchanged.

    Args:
        settings: session settings; `spark.*` settings override our defaults.
        master: Spark's master URL; None is this machine with all its cores.
        verbose: show Spark's own log instead of writing it to a file.
        notice: takes one line for the user.
        call_sites: whether errors of PySpark name the user's lines of Python, by default.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING, SPARK_VERSION, RESOURCE_UNAVAILABLE,
            INVALID_OPTION for a time zone, CLUSTER_UNREACHABLE, or SPARK_ENDED if Spark's JVM does
            not start.
        KeyboardInterrupt: Ctrl-C was pressed during the start, and no `stop_signals` takes it;
            Spark has been stopped again.
    """
    if SparkContext._active_spark_context is not None:  # noqa: SLF001 - no public way
        return SparkSession.builder.getOrCreate()
    check_machine()
    set_environment()
    if is_submitted():
        wanted = settings_after_submit(settings, master)
    else:
        check_master(master)
        wanted = start_settings(settings, master)
        if call_sites and CALL_SITES.removeprefix("spark.") not in settings.passthrough:
            wanted[CALL_SITES] = "true"
    # The JVM runs already if spark-submit or a session that was stopped has launched it.
    if SparkContext._gateway is not None:  # noqa: SLF001 - no public way
        add_to_class_path([*connector_jars(), operators_jar()])
    with _interrupt_held() as asked:
        spark = _in_a_thread(lambda: _session(wanted, verbose, notice))
    if asked.is_set():
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            stop_spark(spark)
            raise
    for key, value in local_files(settings).items():
        spark.conf.set(key, value)
    bridge = Bridge(spark)
    bridge.activate()  # the launch has activated only its own thread
    bridge.register_functions()
    bridge.remove_default_sources()
    return spark


def set_up_state(spark: SparkSession, settings: Settings) -> None:
    """Apply a job's state settings to a session, which may have served other jobs."""
    spark.conf.set(COUNTS_ROWS, settings[STATE_ROWS])
    spark.conf.set(IN_STATE_ORDER, settings[STATE_ORDER])
    spark.conf.set(ROWS_PER_BUNDLE, settings[BUNDLE_SIZE])


def stop_spark(spark: SparkSession) -> None:
    """Stop Spark, or clean up if its JVM has been ended from outside."""
    context = spark.sparkContext
    accumulators = context._accumulatorServer  # noqa: SLF001 - no public way
    context._accumulatorServer = None  # type: ignore[assignment]  # noqa: SLF001 - as PySpark does
    try:
        spark.stop()
    except Exception:
        if not jvm_has_ended():
            raise
        _forget_jvm()
    finally:
        if accumulators is not None:
            stop_at_once(accumulators)


def end_jvm() -> None:
    """End Spark's JVM, if this process has launched one, and wait for its end."""
    process = _jvm_process()
    if process is not None:
        assert process.stdin is not None, "PySpark opens a pipe"  # noqa: S101
        process.stdin.close()
        process.wait()
        _forget_jvm()


def _jvm_process() -> subprocess.Popen[bytes] | None:
    """Return the process of Spark's JVM; None if this process has launched none."""
    return getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001 - no public way


def _forget_jvm() -> None:
    """Reset PySpark after the JVM has ended, so that this process can start another JVM.

    PySpark does not reset itself. Its gateway and its active context are private attributes.
    """
    SparkContext._active_spark_context = None  # noqa: SLF001
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
    SparkSession._instantiatedSession = SparkSession._activeSession = None  # noqa: SLF001


def jvm_has_ended() -> bool:
    """Whether Spark's JVM has ended or ends within seconds; False if another program started it.

    A signal to a whole process group, as service managers send it, also reaches the JVM.
    """
    return jvm_end(wait=True) is not None


def jvm_end(*, wait: bool) -> str | None:
    """Describe in words how Spark's JVM has ended; None if it runs or another program started it.

    Args:
        wait: whether to wait a few seconds for a JVM that is about to end.
    """
    if is_submitted():
        ended = submitting_jvm_has_ended(_ENDING_S if wait else 0)
        return "the process of spark-submit has ended" if ended else None
    process = _jvm_process()
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


def _session(
    wanted: Mapping[str, str], verbose: bool, notice: Callable[[str], None]
) -> SparkSession:
    """Create a Spark session, in a new JVM unless this process has one."""
    builder = SparkSession.builder.config(map={**wanted})
    if is_submitted():
        return builder.getOrCreate()
    gateway = SparkContext._gateway  # noqa: SLF001 - no public way
    if gateway is None:
        gateway = launch(wanted, verbose, notice).connect()
        import_numpy_late(gateway)
    context = SparkContext(conf=SparkConf().setAll(list(wanted.items())), gateway=gateway)
    with without_vector_functions(context):
        return builder.getOrCreate()


def _in_a_thread(create: Callable[[], SparkSession]) -> SparkSession:
    """Create a Spark session in a separate thread, and wait for it.

    In the main thread, PySpark sets a handler of SIGINT, which calls the JVM in the middle of other
    operations.
    """
    with ThreadPoolExecutor(1, "streamtable-launch") as pool:
        return pool.submit(create).result()


@contextmanager
def _interrupt_held() -> Iterator[threading.Event]:
    """Hold Ctrl-C back in the block; yield an event that is set after Ctrl-C.

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
