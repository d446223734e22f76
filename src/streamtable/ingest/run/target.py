"""The Kafka sink of a job: each topic as the sink of a table with raw bytes for key and value.

Options, checks, topic creation, transactions and recovery are therefore those of `upsert-kafka`
tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.preflight import Preflight, Resource
from streamtable.connector_api.sink import SinkFacts
from streamtable.connectors.kafka.options.options import (
    DELIVERY,
    TRANSACTION_PREFIX,
    DeliveryGuarantee,
)
from streamtable.connectors.kafka.sink import KafkaSink
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.producer import set_writer
from streamtable.connectors.kafka.write.writer import writer_spec
from streamtable.connectors.upsert_kafka.factory import UPSERT_KAFKA
from streamtable.core.changelog import UPSERT
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.options import Given
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.table import PhysicalColumn, Schema
from streamtable.core.types import BYTES
from streamtable.ingest.file.job_file import JobFile
from streamtable.ingest.run.rows import HEADERS_AT, TOPIC_AT
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.counters import Counters

#: The name of the job's only query, used for its checkpoint folder and in transactional ids.
QUERY = "ingest"

#: Keys of `sink` that a table does not have.
_OF_THE_JOB = ("type", "name", "sink.add-tableId-to-header-enabled", "sink.on-truncate")
_RAW = Schema(
    (
        PhysicalColumn("key", BYTES.with_nullable(False)),
        PhysicalColumn("value", BYTES),
    ),
    primary_key=("key",),
)


def topic_table(job: JobFile, topic: str, prefix: str) -> KafkaTable:
    """Return a topic of the job as a table.

    Args:
        job: the job, whose `sink` has the options.
        topic: the name of the topic.
        prefix: the prefix of transactional ids, if the file sets none.

    Raises:
        StreamtableError: an error in the options.
    """
    at = job.at["sink"]
    given = {
        key: value
        for key, value in job.sink.given.items()
        if key not in (*_OF_THE_JOB, "sink.on-drop")
    }
    exactly = job.sink[DELIVERY] is DeliveryGuarantee.EXACTLY_ONCE
    if exactly and TRANSACTION_PREFIX.key not in given:
        given[TRANSACTION_PREFIX.key] = Given(prefix, at)
    fixed = {
        "connector": "upsert-kafka",
        "topic": topic,
        "key.format": "raw",
        "value.format": "raw",
        "value.fields-include": "EXCEPT_KEY",
    }
    given.update({key: Given(text, at) for key, text in fixed.items()})
    table = UPSERT_KAFKA.create(f"topic {topic}", _RAW, given, at)
    assert isinstance(table, KafkaTable)  # noqa: S101 - of its own factory
    return table


@dataclass
class Target:
    """The topics of a running job.

    Attributes:
        directory: the directory of the query's checkpoint.
        preflight: the context of its start.
        ready: topics that exist.
    """

    job: JobFile
    checkpoint_id: str
    directory: CheckpointPath
    preflight: Preflight
    ready: set[str] = field(default_factory=set)

    def make_ready(self, topics: Iterable[str]) -> None:
        """Check topics, then create missing topics; create nothing unless all checks pass.

        Raises:
            StreamtableError: an error of the brokers or the options.
        """
        new = [self._sink(topic) for topic in dict.fromkeys(topics) if topic not in self.ready]
        missing: list[Resource] = []
        for sink in new:
            missing += sink.examine(self._facts, self.preflight)
        to_create = frozenset(resource.place for resource in missing)
        preflight = replace(self.preflight, to_create=to_create)
        for resource in missing:
            resource.check()
        for sink in new:
            sink.check(self._facts, preflight)
        for resource in missing:
            resource.create()
            self.preflight.notice(f"created topic '{resource.name}'")
        self.ready.update(sink.target for sink in new)

    def examine(self, topic: str) -> list[str]:
        """Check a topic without changes; return lines about what `run` would do.

        Raises:
            StreamtableError: an error of the brokers or the options.
        """
        sink = self._sink(topic)
        missing = sink.examine(self._facts, self.preflight)
        for resource in missing:
            resource.check()
        to_create = frozenset(resource.place for resource in missing)
        sink.check(self._facts, replace(self.preflight, to_create=to_create))
        return [f"run creates it, compacted ({resource.name})" for resource in missing]

    def recover(self, topic: str) -> None:
        """Abort the transactions that an earlier run left open."""
        self._sink(topic).recover(self._facts, self.preflight)

    def together(self, rows: DataFrame, topic: str) -> DataFrame:
        """Return the rows in `sink.parallelism` tasks; each task keeps its order."""
        tasks = self._table(topic).sink_tasks
        return rows if tasks is None else rows.coalesce(tasks)

    def write(self, writer: DataStreamWriter, topic: str, counters: Counters) -> None:
        """Configure a query to write the reader's rows.

        Args:
            writer: the writer of the query.
            topic: a topic of the job, under whose name transactions store their epochs.
            counters: the counters of written records.
        """
        table = self._table(topic)
        spec = writer_spec(table, ExecutionMode.MICRO_BATCH, QUERY, self.checkpoint_id)
        spec = replace(spec, topics=TOPIC_AT, headers=HEADERS_AT, reading=dict(table.properties))
        set_writer(writer, spec, counters, self.bridge, self.directory)

    @property
    def bridge(self) -> Bridge:
        """The JVM side."""
        return self.preflight.bridge

    @property
    def _facts(self) -> SinkFacts:
        return SinkFacts(
            query=QUERY,
            job=self.checkpoint_id,
            directory=self.directory,
            positions=self.directory / "sinks",
            mode=UPSERT,
            replaces_inserts=False,
            replays=True,
            reads_splits_alone=True,
            stateless_scans=True,
            interval=timedelta(0),
            rolls_back=False,
            adjusts=False,
            targets={},
        )

    def _table(self, topic: str) -> KafkaTable:
        return topic_table(self.job, topic, f"streamtable-{self.checkpoint_id}")

    def _sink(self, topic: str) -> KafkaSink:
        return KafkaSink(self._table(topic))
