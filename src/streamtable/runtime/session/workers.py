"""Check of a cluster's workers: they reach the driver, and load the classes of a job."""

from __future__ import annotations

import threading
import time

from pyspark.sql import SparkSession

from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError, first_line
from streamtable.jvm.install.installed_spark import SCALA, minor_of
from streamtable.jvm.install.tools import MINIMUM_JAVA
from streamtable.runtime.session.driver_address import DRIVER_HOST

_POLL_S = 0.1

#: Time without an answer of a worker after which the user is told, in seconds. A cluster may give
#: a job its workers much later, when another job has ended.
_SILENT_S = 30.0

#: How Java and Scala name a class that a worker does not have, or has in another version. Java
#: cannot replace a serialized lambda by its class if that class is missing.
_NO_CLASS = ("ClassNotFoundException", "NoClassDefFoundError", "SerializedLambda")
_OTHER_CLASS = ("InvalidClassException", "local class incompatible")

_JARS = "name the jars that `streamtable jars` lists in 'spark.jars', or copy them to every worker"

#: Spark's message if the cluster has ended the application, mostly because its executors ended.
_REMOVED = "SparkContext was shut down"


def check_workers(
    spark: SparkSession, classes: dict[str, str], stop: threading.Event, notice: Notice
) -> None:
    """Run a task in the slots of a cluster, and wait for it; do nothing on a local master.

    Args:
        spark: the session of the job.
        classes: Java classes that tasks need, with the jars that have them, in words.
        stop: event of a stop request, which ends the wait.
        notice: takes one line for the user if no worker responds.

    Raises:
        StreamtableError: WORKERS_UNUSABLE.
    """
    bridge = Bridge(spark)
    if bridge.is_local:
        return
    check = bridge.java.query.WorkerCheck.start(bridge.java_session, bridge.java_list(classes))
    told_at = time.monotonic() + _SILENT_S
    context = spark.sparkContext
    while not check.isDone():
        if stop.wait(_POLL_S):
            check.cancel()
            return
        if time.monotonic() > told_at:
            told_at = float("inf")
            notice(_silence(spark))
    try:
        missing = [str(text) for text in check.missing()]
    except JavaError as error:
        raise _refused(str(context.master), context.version, str(error.java_exception)) from error
    if missing:
        host, _, lack = missing[0].partition(" ")
        raise _unfit(str(context.master), context.version, host, classes, lack)


def _unfit(
    master: str, version: str, host: str, classes: dict[str, str], lack: str
) -> StreamtableError:
    """Return the error of a worker that lacks something, as `WorkerCheck.missing` names it."""
    kind, equals, found = lack.partition("=")
    if not equals:
        reason, hint = f"lacks {classes[lack]}", _JARS
    elif kind == "spark":
        reason, hint = f"has Spark {found}, but the driver has {version}", _same_spark(version)
    else:
        reason = f"has another version of streamtable's operators: {found}"
        hint = f"remove {found} from the class path of the worker ('spark.executor.extraClassPath')"
    return StreamtableError(
        Condition.WORKERS_UNUSABLE,
        master=master,
        reason=f"the worker at {host} {reason}",
        hint=hint,
    )


def _same_spark(version: str) -> str:
    return f"install Spark {version} on every worker, and remove other jars of streamtable"


def _silence(spark: SparkSession) -> str:
    """Return the causes of a cluster without executors.

    The master of a standalone cluster starts an executor again and again if its process ends at
    once, as it does on an old Java, and does not tell the driver why.
    """
    host = spark.sparkContext.getConf().get(DRIVER_HOST)
    return (
        f"no worker of {spark.sparkContext.master} has responded for {_SILENT_S:.0f} s: check that"
        f" it has free cores and memory, that workers can connect to the driver at {host}"
        f" ('{DRIVER_HOST}'), and in the logs of its executors that they start: each needs"
        f" {_needed(spark.version)}"
    )


def _needed(version: str) -> str:
    return f"Java {MINIMUM_JAVA} or newer, and Spark {minor_of(version)} for Scala {SCALA}"


def _refused(master: str, version: str, text: str) -> StreamtableError:
    """Return the error of a cluster whose task has failed, from the text of the exception."""
    if any(word in text for word in _NO_CLASS):
        reason, hint = "a worker lacks the jar of streamtable's operators", _JARS
    elif any(word in text for word in _OTHER_CLASS):
        reason = "a worker has another version of Spark or of streamtable's operators"
        hint = _same_spark(version)
    else:
        removed = "it has ended the application, because executors did not start or ended at once"
        reason = removed if _REMOVED in text else first_line(text)
        hint = f"see the logs of the workers; each needs {_needed(version)}"
    return StreamtableError(Condition.WORKERS_UNUSABLE, master=master, reason=reason, hint=hint)
