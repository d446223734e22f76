"""Session: a front end whose INSERTs run as a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamtable.core.options import Given
from streamtable.core.settings.execution import RUNTIME_MODE, RuntimeMode
from streamtable.core.settings.session import SessionSettings
from streamtable.front_end import FrontEnd
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.sql.nodes import GivenRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamtable.connector_api.preflight import Notice
    from streamtable.runtime.background import Job
    from streamtable.runtime.job import RunOptions
    from streamtable.runtime.run_queries import JobObserver


@dataclass
class Session(FrontEnd):
    """Session with a catalog, settings and planned INSERTs. It needs no Spark until `run`."""

    def run(
        self,
        options: RunOptions,
        notice: Notice,
        spark: SparkSession | None = None,
        show: Callable[[str], None] = print,
        observer: JobObserver | None = None,
    ) -> None:
        """Run the INSERTs as one job, then show the result of each SELECT.

        See `runtime.job.run_job` and `runtime.select.run_select`.

        Args:
            options: options of the run.
            notice: takes one line for the user.
            spark: an existing session, which is neither changed nor stopped; None starts a session
                and stops it at the end.
            show: takes one line of the result of a SELECT.
            observer: observer of the INSERTs' job.

        Raises:
            StreamtableError: any error of the job; NOT_YET for a SELECT after a statement that
                never ends.
        """
        if spark is None:
            check_machine()
        from streamtable.runtime.scripts import Script, run_script  # the front end needs no Spark

        settings = self.job_settings
        for line in self.notices():
            notice(line)
        if settings[RUNTIME_MODE] is RuntimeMode.BATCH:
            options = replace(options, bounded=True)
        script = Script(self.plans, self.selects, settings, self.catalog.functions.made)
        run_script(script, options, notice, show, spark, observer)

    def start(
        self,
        options: RunOptions,
        notice: Notice,
        spark: SparkSession | None = None,
        show: Callable[[str], None] = print,
    ) -> Job:
        """Run the script as `run` does, in the background. `Job` returns metrics, end and error."""
        if spark is None:
            check_machine()
        from streamtable.runtime.background import Job

        return Job(lambda observer: self.run(options, notice, spark, show, observer))

    def spark_settings(self, master: str | None = None) -> dict[str, str]:
        """Return the settings, with jars, that a Spark session of your own needs for `run`.

        `SparkSession.builder.config(map=session.spark_settings()).getOrCreate()` creates the
        session.

        Args:
            master: Spark's master URL; None runs Spark on this machine.

        Raises:
            StreamtableError: SPARK_MISSING, SPARK_VERSION, RESOURCE_UNAVAILABLE, JAVA_MISSING, or
                INVALID_OPTION.
        """
        check_machine()
        from streamtable.runtime.session.configuration import start_settings

        return start_settings(self.job_settings, master)

    def create_temporary_view(self, path: str, frame: DataFrame) -> None:
        """Register a DataFrame as a temporary view, for lookup joins or for a single read.

        `JOIN view FOR SYSTEM_TIME AS OF t.proctime` reads the DataFrame again in each micro-batch.
        All other queries read its rows once, in their first batch.

        Args:
            path: `name`, `database.name` or `catalog.database.name`.
            frame: a batch DataFrame of the Spark session in which the job runs.

        Raises:
            StreamtableError: NOT_YET for a streaming DataFrame, or for a column of an unsupported
                type.
        """
        from streamtable.runtime.session.data_frames import fields_of

        rows = GivenRows(this=path, fields=fields_of(frame), rows=frame)
        self.catalog.put_view(tuple(path.split(".")), rows)


def fixed_settings(pairs: Mapping[str, str]) -> SessionSettings:
    """Return settings that a script cannot change, from the values of `--set`."""
    return SessionSettings({key: Given(value) for key, value in pairs.items()})
