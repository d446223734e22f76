"""`KafkaSink`: the `Sink` of a table that is written to a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.connector_api.joint_sink import JointSink
from streamtable.connector_api.preflight import Notice, Preflight, Resource
from streamtable.connector_api.reading import ReadContext
from streamtable.connector_api.sink import Rollback, Sink, SinkFacts, WriteContext
from streamtable.connector_api.tables import TableEndpoint
from streamtable.connectors.kafka.cluster.access import check_sink_access
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.cluster.faults import explain_fault
from streamtable.connectors.kafka.cluster.topics import (
    TopicToCreate,
    check_keys,
    check_schemas,
    check_shape,
)
from streamtable.connectors.kafka.inspect.tail import KafkaTail
from streamtable.connectors.kafka.options.values import NewTopic
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.partitioners import is_function, java_class, load, not_there
from streamtable.connectors.kafka.write.producer import set_writer, set_writers
from streamtable.connectors.kafka.write.rewrite import rewrite_obstacle, topic_records
from streamtable.connectors.kafka.write.rollback import KafkaRollback, recorded_ends
from streamtable.connectors.kafka.write.rollback_obstacles import (
    declared_obstacle,
    obstacle_there,
    safe_lag,
)
from streamtable.connectors.kafka.write.transactions import abort_orphans, check_transactions
from streamtable.connectors.kafka.write.writer import (
    encode_records,
    encode_records_together,
    writer_spec,
)
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import EXECUTION_MODE
from streamtable.jvm.bridge import Bridge

_COMPACTED = {"cleanup.policy": "compact"}


@dataclass(frozen=True)
class KafkaSink(TableEndpoint[KafkaTable], Sink):
    """The sink topic of a table."""

    @property
    def target(self) -> str:
        """The name of the topic."""
        return self.declared.topics[0]

    @property
    def place(self) -> str:
        """The addresses of the brokers, in any order, and the topic."""
        return self.declared.place

    def place_there(self, bridge: Bridge) -> str:
        """Return the id of the cluster, and the topic."""
        return KafkaAdmin(bridge, self.declared.properties).place_of(self.target)

    @property
    def target_noun(self) -> str:
        """What messages call the target."""
        return "topic"

    def encode(self, rows: DataFrame, context: WriteContext) -> DataFrame:
        """Encode rows into the columns `key` and `value` (BINARY) and the writable metadata."""
        return encode_records(self.declared, rows, context.bridge)

    @property
    def names_tasks_by_split(self) -> bool:
        """Whether the sink is exactly-once: the rows of a task carry the name of its split."""
        return self.declared.transaction_prefix is not None

    def write(self, writer: DataStreamWriter, facts: SinkFacts, context: WriteContext) -> None:
        """Configure the query to write its records with our producer."""
        spec = writer_spec(self._recorded(facts), context.mode, facts.query, facts.job)
        counters = context.counters_of(self.table)
        set_writer(writer, spec, counters, context.bridge, facts.directory)

    def encode_together(self, rows: DataFrame, context: WriteContext) -> DataFrame:
        """Encode rows into `key`, `value` and all writable metadata."""
        return encode_records_together(self.declared, rows, context.bridge)

    def write_together(
        self,
        sinks: Sequence[JointSink],
        writer: DataStreamWriter,
        facts: SinkFacts,
        context: WriteContext,
    ) -> None:
        """Configure the query to write the records of all topics, in common transactions if any."""
        written = []
        for sink in sinks:
            assert isinstance(sink, KafkaSink), "of an equal CommonWriter"  # noqa: S101
            table = sink._recorded(facts)  # noqa: SLF001 - of this class
            spec = writer_spec(table, context.mode, facts.query, facts.job, together=True)
            written.append((spec, context.counters_of(sink.table)))
        set_writers(writer, written, context.bridge, facts.directory)

    def _recorded(self, facts: SinkFacts) -> KafkaTable:
        """Return the table with the prefix of transactional ids that the checkpoint has, if any."""
        table = self.declared
        if table.transaction_prefix is None or facts.writer_id is None:
            return table
        return replace(table, transaction_prefix=facts.writer_id)

    def real_time_obstacle(self) -> StreamtableError | None:
        """Return an error for `sink.parallelism`, a partitioner in Python, or transactions.

        Real-time mode records the end of a batch after the batch. If the batch fails, the retry may
        end elsewhere. The sink then cannot separate records of the first attempt's transaction from
        new ones.
        """
        table = self.declared
        if table.sink_tasks is not None:
            return self._not_in_real_time("sink.parallelism")
        if is_function(table):
            return self._not_in_real_time("sink.partitioner")
        if table.transaction_prefix is None:
            return None
        return StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} uses exactly-once, which real-time mode does not support,"
                " because the end of a batch is not known when the batch starts"
            ),
            hint="SET 'execution.mode' = 'micro-batch', or use 'at-least-once'",
        )

    def _not_in_real_time(self, option: str) -> StreamtableError:
        return StreamtableError(
            Condition.NOT_YET,
            at=self.at,
            what=f"this '{option}' of {self.table} in real-time mode",
            hint=f"remove it, or SET '{EXECUTION_MODE.key}' = 'micro-batch'",
        )

    def new_splits(self, bridge: Bridge) -> Mapping[str, int]:
        """Return the partitions of a topic to create; 1 if the brokers do not report them."""
        new, admin = self.declared.new_topic, KafkaAdmin(bridge, self.declared.properties)
        try:
            if admin.describe(self.target):
                return {}
            found = new.partitions or admin.check_creation(
                self.target, new.configs, replication=new.replication
            )
        except StreamtableError:
            return {}  # `examine` and `check` report the error
        return {self.target: found or 1}

    def tail(self, rows: int, bridge: Bridge) -> KafkaTail:
        """Return the newest records of the topic as rows; NOT_YET for some formats."""
        return KafkaTail(self.declared, rows, bridge)

    def examine(self, facts: SinkFacts, preflight: Preflight) -> Sequence[Resource]:
        """Check the partitioner and the topic; return a missing topic as a resource to create."""
        table, bridge, notice = self.declared, preflight.bridge, preflight.notice
        found = KafkaAdmin(bridge, table.properties).describe(self.target)
        self._check_partitioner(bridge)
        missing: Sequence[Resource] = ()
        if found:
            check_shape(table, found, notice)
        else:
            missing = (TopicToCreate(table, self.target, self._new_topic(facts), bridge),)
        if facts.replaces_inserts:
            notice(
                f"{table.table}: the query is append-only, so each row replaces the previous"
                " row of its key; use connector 'kafka' to keep all rows"
            )
        return missing

    def check(self, facts: SinkFacts, preflight: Preflight) -> None:
        """Check schemas, transactions, rights, and the existing keys of the topic."""
        table, bridge = self._recorded(facts), preflight.bridge
        check_schemas(table, bridge)
        check_transactions(table, facts, bridge)
        check_sink_access(table, facts.query, preflight)
        # After the first run, the topic has keys of this job. Encoding keys for the comparison
        # registers their schema, so this check is last.
        if not preflight.first_run:
            return
        if preflight.to_create and self.place_there(bridge) in preflight.to_create:
            return
        if preflight.read_only and table.key is not None and table.key.encoder().registers:
            preflight.notice(
                f"{table.table}: the keys in topic '{self.target}' are compared only by `run`,"
                " because this registers the schema of the key"
            )
        else:
            check_keys(table, bridge, preflight.notice)

    def recover(self, facts: SinkFacts, preflight: Preflight) -> None:
        """Abort transactions that an earlier run left open."""
        abort_orphans(self._recorded(facts), facts.query, preflight)

    def explain(self, sink: str, text: str) -> StreamtableError | None:
        """Translate a delivery timeout into JOB_FAILED."""
        return explain_fault(sink, text)

    @property
    def may_repeat(self) -> bool:
        """Whether the sink is not exactly-once."""
        return self.declared.transaction_prefix is None

    def recorded_ends(self, positions: CheckpointPath, batch: int) -> Mapping[str, int] | None:
        """Return the end offsets that real-time mode has recorded with a commit."""
        return recorded_ends(positions, batch)

    def rewrite_obstacle(self) -> str | None:
        """Return why the topic cannot be made equal to other rows; see `rewrite_obstacle`."""
        return rewrite_obstacle(self.declared)

    def records(
        self,
        context: ReadContext,
        since: Mapping[int, int] | None = None,
        *,
        settled: bool = False,
    ) -> DataFrame:
        """Return the committed records of the topic, from these offsets on."""
        return topic_records(self.declared, context, since or {}, settled=settled)

    def rollback_obstacle(self, facts: SinkFacts) -> str | None:
        """Return why the topic cannot be rolled back, judged by the script alone; else None."""
        return declared_obstacle(self.declared, facts)

    def target_rollback_obstacle(self, facts: SinkFacts, bridge: Bridge) -> str | None:
        """Return why the topic cannot be rolled back, judged by the checkpoint and the brokers."""
        return obstacle_there(self.declared, facts, bridge)

    def rollback(
        self, facts: SinkFacts, context: WriteContext, notice: Notice, *, keeps: bool
    ) -> Rollback | None:
        """Return the rollback of the topic to the offsets that each commit records."""
        return KafkaRollback(self.declared, facts, context, notice, keeps=keeps)

    def _check_partitioner(self, bridge: Bridge) -> None:
        chooser = java_class(self.declared)
        if chooser is not None and not bridge.has_class(chooser):
            raise not_there(self.declared)
        if is_function(self.declared):
            load(self.declared)

    def _new_topic(self, facts: SinkFacts) -> NewTopic:
        """Describe the topic to create: compacted for an upsert sink, with a lag if rolled back."""
        new = self.declared.new_topic
        if not self.declared.is_upsert:
            return new
        rolled_back = facts.rolls_back and not facts.replays
        kept = safe_lag(facts.interval) if rolled_back else {}
        return replace(new, configs={**_COMPACTED, **kept, **new.configs})
