"""Run scripts to the end of their input in an existing Spark session."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.settings.execution import DRAIN
from streamtable.core.table import Table
from streamtable.runtime.job import RunOptions
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.run_queries import JobObserver
from streamtable.session import Session, fixed_settings


@dataclass
class BoundedRun:
    """Runs one script on one checkpoint, any number of times; each run is a restart.

    Attributes:
        frames: DataFrames that are views of the script, by their names.
        notices: messages of the runs to the user.
        metrics: metrics of the last run.
    """

    spark: SparkSession
    script: str
    checkpoint: Path | str
    variables: Mapping[str, str] = field(default_factory=dict)
    frames: Mapping[str, DataFrame] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    metrics: JobMetrics = field(default_factory=JobMetrics)

    def __call__(
        self,
        settings: Mapping[str, str] | None = None,
        *,
        bounded: bool = True,
        drain: bool = False,
    ) -> None:
        """Process the current content of the topics, with settings like those of `--set`.

        Args:
            settings: settings that override those of the script.
            bounded: False for a script that ends by itself.
            drain: whether the input ends with this run, so that no other run may follow.
        """
        session = self._session({DRAIN.key: str(drain).lower(), **(settings or {})})
        options = RunOptions(bounded=bounded, checkpoint=str(self.checkpoint))
        self.metrics = JobMetrics()
        session.run(options, self.notices.append, self.spark, observer=JobObserver(self.metrics))

    def until(
        self,
        done: Callable[[], bool],
        settings: Mapping[str, str] | None = None,
        seconds: float = 240,
    ) -> None:
        """Run unbounded, and stop like Ctrl-C once `done()` is true; polls several times a second.

        Raises:
            TimeoutError: `done()` is not true before the timeout, in seconds.
        """
        session = self._session(settings or {})
        deadline = time.monotonic() + seconds
        asked = False

        def after() -> None:
            nonlocal asked
            if not asked and done():
                asked = True
                signal.raise_signal(signal.SIGINT)
            elif not asked and time.monotonic() > deadline:
                raise TimeoutError

        self.metrics = JobMetrics()
        options = RunOptions(checkpoint=str(self.checkpoint))
        session.run(
            options, self.notices.append, self.spark, observer=JobObserver(self.metrics, after)
        )

    def table(self, name: str) -> KafkaTable:
        """Return a table of the script."""
        found = self._session({}).catalog.find((name,), None)
        assert isinstance(found, Table), f"{name} is a view"  # noqa: S101
        connector = found.connector
        assert isinstance(connector, KafkaTable), "every connector is one over Kafka"  # noqa: S101
        return connector

    def rows(self, name: str) -> dict[tuple[Any, ...], Mapping[str, Any]]:
        """Return the current rows of an upsert table of the script."""
        with FoldedTopic(self.table(name)) as topic:
            topic.catch_up()
            return topic.rows

    def _session(self, settings: Mapping[str, str]) -> Session:
        session = Session(settings=fixed_settings(settings))
        for name, frame in self.frames.items():
            session.create_temporary_view(name, frame)
        session.load(self.script, "test.sql", self.variables)
        return session
