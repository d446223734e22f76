"""Hold on Spark: a session keeps the Spark that its first statement starts until it is closed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamtable.core.options import Settings
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.job import PARALLELISM
from streamtable.jvm.install.installed_spark import check_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Task slots of the Spark that a session starts, as threads. A query in real-time mode holds a slot
#: for each of its tasks, and Spark cannot get more slots while other jobs run.
SLOTS = 32


class SparkHold:
    """Spark of a session.

    Args:
        given: a Spark session of the caller, which is neither changed nor stopped; None starts one.
        master: Spark's master URL for a start; None runs Spark on this machine.
        notice: takes one line for the user.
        verbose: whether Spark's own log is shown.
    """

    def __init__(
        self,
        given: SparkSession | None,
        master: str | None,
        notice: Callable[[str], None],
        *,
        verbose: bool = False,
    ) -> None:
        self.given = given
        self._master = master or f"local[{max(SLOTS, os.cpu_count() or 1)}]"
        self._notice = notice
        self._verbose = verbose
        self._lock = threading.Lock()
        self._held: tuple[SparkSession, Callable[[], None]] | None = None

    def check(self) -> None:
        """Check that Spark can be started, without starting it.

        Raises:
            StreamtableError: SPARK_MISSING, SPARK_VERSION, JAVA_MISSING.
        """
        if self.given is None and self._held is None:
            check_machine()

    def session(self, settings: Settings) -> SparkSession:
        """Return the Spark session; the first call starts Spark. Any thread may call this.

        Raises:
            StreamtableError: the errors of a start of Spark.
        """
        if self.given is not None:
            return self.given
        with self._lock:
            if self._held is None:
                check_machine()
                from streamtable.runtime.session.sessions import hold_spark

                # Jobs set their own parallelism, and this one would outlast a RESET.
                given = {k: v for k, v in settings.given.items() if k != PARALLELISM.key}
                started = SETTINGS.read(given, "session")
                self._held = hold_spark(started, self._master, self._notice, verbose=self._verbose)
            return self._held[0]

    def release(self) -> None:
        """Let go of Spark; it stops unless other jobs of the process use it."""
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            held[1]()
