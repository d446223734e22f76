"""The launch of Spark's JVM, which needs no PySpark.

PySpark launches a JVM with its first SparkContext, and passes all settings on the command line,
which every user of a machine can read. `Launch` starts the JVM before PySpark is imported, and
passes the settings in a file.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.install.tools import pyspark_jars
from streamtable.jvm.property_files import properties

#: Seconds between two looks for the file in which the JVM says that it has started.
_POLL_S = 0.01

#: PySpark's variable for arguments of spark-submit.
_SUBMIT = "PYSPARK_SUBMIT_ARGS"

_FILE = "--properties-file"

#: The variable that tells PySpark's JVM where to write its port and its secret, and the variables
#: with which PySpark connects to a JVM that runs already.
_ANSWER = "_PYSPARK_DRIVER_CONN_INFO_PATH"
_PORT = "PYSPARK_GATEWAY_PORT"
_SECRET = "PYSPARK_GATEWAY_SECRET"  # noqa: S105 - the name of a variable


class Launch:
    """A JVM that starts in the background, for the first Spark session of this process.

    Attributes:
        wanted: the settings with which the JVM starts.
    """

    def __init__(self, wanted: Mapping[str, str], log: Path | None) -> None:
        """Start the JVM, with all variables of this process.

        Args:
            wanted: Spark's settings, with those of the JVM itself, such as `spark.driver.memory`.
            log: a new file for the JVM's standard error; None is the one of this process.

        Raises:
            StreamtableError: SPARK_MISSING.
        """
        self.wanted = dict(wanted)
        self._log = log
        self._folder = TemporaryDirectory(prefix="streamtable-launch-")
        self._answer = Path(self._folder.name, "answer")
        given = shlex.split(os.environ.get(_SUBMIT, "pyspark-shell"))
        with log.open("wb") if log else nullcontext() as errors:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own Spark
                [str(pyspark_jars().parent / "bin/spark-submit"), *self._settings(given), *given],
                stdin=subprocess.PIPE,  # the JVM ends when this pipe is closed
                stderr=errors,
                env={**os.environ, "SPARK_CONNECT_MODE": "0", _ANSWER: str(self._answer)},
                preexec_fn=_ignore_interrupts,  # noqa: PLW1509 - as PySpark does
            )

    def _settings(self, given: Sequence[str]) -> list[str]:
        """Return the arguments with the settings, beside the arguments that the user has given.

        spark-submit reads one property file. If the user has given one, the settings are passed as
        PySpark passes them.
        """
        if _FILE in given:
            pairs = (("--conf", f"{key}={value}") for key, value in self.wanted.items())
            return [word for pair in pairs for word in pair]
        file = Path(self._folder.name, "settings.conf")
        file.write_text(properties(self.wanted), encoding="utf-8")
        return [_FILE, str(file), "--load-spark-defaults"]

    def connect(self) -> Any:
        """Wait for the JVM, and return PySpark's gateway to it.

        Raises:
            StreamtableError: SPARK_ENDED.
        """
        from pyspark.java_gateway import launch_gateway
        from pyspark.serializers import UTF8Deserializer, read_int

        with self._folder:
            while not self._answer.is_file():
                if self._process.poll() is not None:
                    raise self._ended()
                time.sleep(_POLL_S)
            with self._answer.open("rb") as stream:
                port = read_int(stream)  # type: ignore[no-untyped-call]
                secret = UTF8Deserializer().loads(stream)  # type: ignore[no-untyped-call]
        os.environ[_PORT], os.environ[_SECRET] = str(port), secret
        try:
            gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            del os.environ[_PORT], os.environ[_SECRET]
        gateway.proc = self._process  # as PySpark does for a JVM that it launches itself
        return gateway

    def _ended(self) -> StreamtableError:
        where = "above" if self._log is None else f"in {self._log}"
        return StreamtableError(
            Condition.SPARK_ENDED,
            how=f"exit code {self._process.returncode} at its start",
            hint=f"its output is {where}; check the spark.* settings, such as"
            " 'spark.driver.memory' and 'spark.driver.extraJavaOptions'",
        )

    def abandon(self) -> None:
        """End a JVM to which nothing will connect."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which a terminal also sends to the JVM: the job ends before its JVM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
