"""Checks of a submission before spark-submit starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.spark import check_spark_setting
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.session.driver_address import check_master, is_local
from streamtable.runtime.submission.line import spark_defaults, spark_home

_IMAGES = ("spark.kubernetes.container.image", "spark.kubernetes.driver.container.image")
_UPLOAD = "spark.kubernetes.file.upload.path"


def check_submission(
    master: str | None,
    conf: Mapping[str, str],
    checkpoint: str | None,
    *,
    in_cluster: bool,
) -> None:
    """Check what spark-submit refuses late or at length, or what the driver would not find.

    Args:
        master: Spark's master URL; None leaves it to `spark-defaults.conf`.
        conf: Spark settings of the command line.
        checkpoint: the checkpoint directory, if the command line names one.
        in_cluster: whether the driver runs in the cluster.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING, SPARK_VERSION, CLUSTER_UNREACHABLE;
            the errors of `check_spark_setting`.
    """
    check_machine()
    for key, value in conf.items():
        check_spark_setting(key, value, None)
    if not (spark_home() / "bin" / "spark-submit").is_file():
        raise StreamtableError(
            Condition.SPARK_MISSING,
            reason=f"{spark_home()} has no bin/spark-submit",
            hint="set SPARK_HOME to a whole Spark, or pip install 'streamtable[spark]'",
        )
    check_master(master)
    if not in_cluster:
        return
    if master is not None and (is_local(master) or master.startswith("spark://")):
        reason = "it runs the driver of a Python program on this machine only"
        raise _unfit(master, reason, "remove --deploy-mode cluster")
    if checkpoint is not None and "://" not in checkpoint and not Path(checkpoint).is_absolute():
        reason = f"the driver has its own working directory, and --checkpoint {checkpoint} is in it"
        raise _unfit(master, reason, "give an absolute path that all machines share, or a URL")
    if str(master).startswith("k8s://"):
        found = {**spark_defaults(), **conf}
        if not any(key in found for key in _IMAGES):
            hint = f"add --conf {_IMAGES[0]}=IMAGE, built by deploy/Containerfile"
            raise _unfit(master, "it needs an image with streamtable", hint)
        if _UPLOAD not in found:
            hint = f"add --conf {_UPLOAD}=s3a://BUCKET/PATH or another URL that pods reach"
            raise _unfit(master, "the files of the job must be uploaded", hint)


def _unfit(master: str | None, reason: str, hint: str) -> StreamtableError:
    shown = master or "of spark-defaults.conf"
    return StreamtableError(Condition.CLUSTER_UNREACHABLE, master=shown, reason=reason, hint=hint)
