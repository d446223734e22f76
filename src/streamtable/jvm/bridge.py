"""The one bridge to the JVM: everything that goes through py4j goes through here.

Python hands over plain values, lists of them, columns and DataFrames; it gets DataFrames, columns
and plain values back. `jvm.faults` turns Java exceptions into ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.core.codec import Codec
from streamtable.jvm.counters import COUNTED_IN, COUNTED_OUT, Counters, LatestPair
from streamtable.jvm.faults import codec_fault
from streamtable.jvm.packages import Packages
from streamtable.jvm.specs import Aggregation, ReaderSpec, WriterSpec

_NO_HEADERS = "array<struct<key: string, value: binary>>"


class Bridge:
    """Java classes of ours, called on behalf of one Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        context: Any = spark._sc  # noqa: SLF001 - PySpark has no public way
        self._gateway: Any = context._gateway  # noqa: SLF001
        client = self._gateway._gateway_client  # noqa: SLF001 - no public way
        self._ours = Packages("io.streamtable", client)
        self._lang = Packages("java.lang", client)
        self._util = Packages("java.util", client)
        self._readers = count()

    def register_functions(self) -> None:
        """Makes the `flink_*` functions known to the session's SQL."""
        self._ours.functions.Functions.register(self.java_session)

    def counters(self, names: Iterable[str] = (*COUNTED_IN, *COUNTED_OUT)) -> Counters:
        """New counters at zero."""
        java_context: Any = self._spark._jsc  # noqa: SLF001 - no public way
        context = java_context.sc()
        pairs = (
            LatestPair(self._ours.codec.LatestPair.register(context, name))
            for name in ("newestRecord", "sendTime")
        )
        return Counters(self._ours.codec.Counters.register(context, self._strings(names)), *pairs)

    def read(self, spec: ReaderSpec, counters: Counters) -> Column:
        """Columns of Spark's Kafka source -> a struct, null if left out; an array of changes.

        Of the source's columns it takes `key`, `value`, `topic`, `partition`, `offset`, and
        `headers` where there are dead letters.
        """
        ours = self._ours.codec
        key = self._codec("decoder", spec.key) if spec.key else None
        positions = (self._ints(spec.key_positions), self._ints(spec.value_positions))
        source = ours.TaskSource(next(self._readers))
        ends = (source, self._faults(spec, counters), counters.java)
        headers = F.col("headers") if spec.dead_letters else F.lit(None).cast(_NO_HEADERS)
        columns = [F.col(name) for name in ("key", "value", "topic", "partition", "offset")]
        arguments = self.java_list(self._java_column(c) for c in (*columns, headers))
        if spec.changes:
            value = self._codec("changeDecoder", spec.value)
            of_rows = (self._ints(spec.changes.primary_key), spec.changes.last_only)
            reader = ours.ChangeReader(key, value, *positions, *of_rows, *ends)
            return Column(ours.Columns.readChanges(reader, spec.output_ddl, arguments))
        value = self._codec("decoder", spec.value)
        make = ours.RecordReader.upsert if spec.upsert else ours.RecordReader.append
        reader = make(key, value, *positions, *ends)
        return Column(ours.Columns.read(reader, spec.output_ddl, arguments))

    def _faults(self, spec: ReaderSpec, counters: Counters) -> JavaObject:
        letters = None
        if spec.dead_letters:
            properties = self.java_map(spec.dead_letters.properties)
            letters = self._ours.kafka.DeadLetterWriter(spec.dead_letters.topic, properties)
        skips = (spec.skip_key_errors, spec.skip_value_errors)
        return self._ours.codec.ReadFaults(*skips, letters, counters.java)

    def partition_watermarks(self, known: Mapping[str, int]) -> JavaObject:
        """What `jvm.watermarks` wraps: the watermark of each partition of a scan."""
        java_context: Any = self._spark._jsc  # noqa: SLF001 - no public way
        make = self._ours.codec.PartitionWatermarks.register
        # As texts: py4j makes of a number an Integer or a Long, as its size wants.
        texts = self.java_map({name: str(value) for name, value in known.items()})
        return make(java_context.sc(), texts)

    def watermark(self, watermarks: JavaObject, columns: Sequence[Column]) -> Column:
        """(topic, partition, microseconds) of each row -> its watermark in milliseconds."""
        arguments = self.java_list(self._java_column(c) for c in columns)
        return Column(self._ours.codec.Columns.watermark(watermarks, arguments))

    def known_watermark(self, watermarks: JavaObject, partition: str) -> Column:
        """The watermark of "topic/partition" at the beginning of a batch, in milliseconds."""
        name = self.java_list([self._java_column(F.lit(partition))])
        return Column(self._ours.codec.Columns.knownWatermark(watermarks, name))

    def metered(self, records: DataFrame, counters: Counters) -> DataFrame:
        """Records of Spark's Kafka source, counted as they are read."""
        columns = (F.col("key"), F.col("value"), F.unix_millis("timestamp"))
        record = self.java_list(self._java_column(c) for c in columns)
        ours = self._ours.codec.SourceMeter
        return records.where(Column(ours.counted(counters.java, counters.newest.java, record)))

    def drops_nulls(self, missing: Column, counters: Counters) -> Column:
        """Whether a row stays; one that lacks a value is counted and does not."""
        ours = self._ours.codec.DroppedNulls
        return Column(ours.stays(counters.java, self._java_column(missing)))

    def has_class(self, name: str) -> bool:
        """Whether Spark's class path has a class, those of `spark.jars` included."""
        loader = self._lang.Thread.currentThread().getContextClassLoader()
        try:
            loader.loadClass(name)
        except Py4JJavaError:
            return False
        return True

    def leader_epoch(self, properties: Mapping[str, str], position: Iterable[str]) -> Column:
        """The leader epoch of records by the columns of their topic, partition and offset."""
        columns = self.java_list(self._java_column(F.col(name)) for name in position)
        return Column(self._ours.kafka.LeaderEpochs.column(self.java_map(properties), columns))

    def encode(self, codec: Codec, row: Column) -> Column:
        """A struct -> its bytes, null for a null struct.

        Raises:
            StreamtableError: what a schema registry says to the codec, where it asks one.
        """
        encoder = self._codec("encoder", codec)
        return Column(self._ours.codec.Columns.encode(encoder, self._java_column(row)))

    def check_schema(self, codec: Codec) -> None:
        """Tries a codec that `registers`, and changes nothing.

        Raises:
            StreamtableError: what the schema registry would say to the codec's schema.
        """
        parameters = self.java_map({**codec.parameters, **codec.secrets})
        try:
            self._ours.codec.AvroConfluentEncoder.check(parameters)
        except Py4JJavaError as error:
            raise codec_fault(error) or error from None

    def aggregations(self, calls: Sequence[Aggregation]) -> JavaObject:
        """Aggregate calls as the operators take them."""
        make = self._ours.operators.Aggregation.of
        return self.java_list(
            make(
                c.function,
                c.argument,
                c.filter,
                c.distinct,
                c.argument_type,
                c.result_type,
                self.java_list(c.parameters),
            )
            for c in calls
        )

    def operator(self, name: str, rows: DataFrame, *arguments: Any) -> DataFrame:
        """A DataFrame behind an operator of ours; `jvm.stateful` says what each takes.

        Args:
            name: the Java class and its method, with a dot between.
            rows: its input.
            arguments: what the method takes besides.
        """
        owner, method = name.split(".")
        found = getattr(getattr(self._ours.operators, owner), method)
        return self._frame(found(_jdf(rows), *arguments))

    def set_writer(self, query: DataStreamWriter, spec: WriterSpec, counters: Counters) -> None:
        """Lets a streaming query write its rows as records."""
        properties = self.java_map(spec.properties)
        buffer = (spec.buffer_rows, spec.buffer_interval_ms)
        make = self._ours.kafka.KafkaWriter
        if spec.transactions is None:
            writer = make.create(spec.topic, properties, spec.guarantee, *buffer, counters.java)
        else:
            ids = (spec.transactions.prefix, spec.transactions.job)
            writer = make.createTransactional(spec.topic, properties, *ids, *buffer, counters.java)
        writer = writer.withMetadata(spec.headers, spec.timestamp, spec.partition)
        writer = writer.withPartitions(spec.partitions).withSendTime(counters.sending.java)
        query._jwrite = query._jwrite.foreach(writer)  # noqa: SLF001 - a Java writer has no other way

    def key_difference(
        self, properties: JavaObject, timeout_ms: int, topic: str, *, reads: Codec, writes: Codec
    ) -> str | None:
        """What tells a topic's keys from those that `writes` would write."""
        found = self._ours.kafka.KeySample.difference(
            properties,
            timeout_ms,
            topic,
            self._codec("decoder", reads),
            self._codec("encoder", writes),
        )
        return None if found is None else str(found)

    @property
    def kafka(self) -> Packages:
        """Java classes of ours that speak to brokers, by their names."""
        found: Packages = self._ours.kafka
        return found

    @property
    def java_session(self) -> JavaObject:
        """Spark's session on the JVM."""
        return self._spark._jsparkSession  # noqa: SLF001

    @property
    def planned_batches(self) -> Any:
        """The Java class behind `jvm.planned_batches`."""
        return self._ours.query.PlannedBatches

    def advance_watermark(self, query: StreamingQuery, watermark: int) -> bool:
        """Lets the next batch of a running query have at least this watermark, in milliseconds.

        False where it is just making one: to be tried again.
        """
        return bool(self._ours.query.QueryWatermark.advance(query._jsq, watermark))  # noqa: SLF001

    def set_real_time_interval(self, query: StreamingQuery, milliseconds: int) -> None:
        """Lets the batches of a running query of real-time mode last so long from the next one."""
        self._ours.query.RealTimeInterval.set(query._jsq, milliseconds)  # noqa: SLF001

    def begin_buffer_timeout(
        self, directory: str, sources: Sequence[Counters], when_quiet_ms: int
    ) -> None:
        """Lets rows of a query of real-time mode wait longer for others while nothing comes.

        Args:
            directory: of the query's checkpoint.
            sources: of the tables that it reads.
            when_quiet_ms: how long, after a batch in which no record came.
        """
        counters = self.java_list(source.java for source in sources)
        self._ours.query.BufferTimeout.begin(directory, counters, when_quiet_ms)

    def end_buffer_timeout(self, directory: str) -> None:
        """Ends that with the query."""
        self._ours.query.BufferTimeout.end(directory)

    def practise_plans(self, query: StreamingQuery, plans: int) -> None:
        """Plans the batches of a running query in the background, until as many are planned.

        Those of earlier queries in this JVM count.
        """
        self._ours.query.PlanPractice.begin(query._jsq, plans)  # noqa: SLF001

    @property
    def practised_plans(self) -> int:
        """How many have been planned in this JVM."""
        return int(self._ours.query.PlanPractice.planned())

    @property
    def rehearsal(self) -> Any:
        """The Java class behind `jvm.rehearsal`."""
        return self._ours.operators.Rehearsal

    def java_map(self, items: Mapping[str, Any]) -> JavaObject:
        """A `java.util.Map`."""
        found = self._util.HashMap()
        for key, value in items.items():
            found.put(key, value)
        return found

    def java_list(self, items: Iterable[Any]) -> JavaObject:
        """A `java.util.List`."""
        found = self._util.ArrayList()
        for item in items:
            found.add(item)
        return found

    def positions(self, given: Sequence[int] | None) -> JavaObject | None:
        """Positions of columns as the operators take them."""
        return None if given is None else self.java_list(given)

    def _codec(self, kind: str, codec: Codec) -> JavaObject:
        make = getattr(self._ours.codec.Codecs, kind)
        parameters = self.java_map({**codec.parameters, **codec.secrets})
        try:
            return make(codec.java_class, codec.schema_ddl, parameters)
        except Py4JJavaError as error:
            raise codec_fault(error) or error from None

    def _java_column(self, column: Column) -> JavaObject:
        return column._jc  # noqa: SLF001

    def _frame(self, java: JavaObject) -> DataFrame:
        return DataFrame(java, self._spark)

    def _strings(self, items: Iterable[str]) -> JavaObject:
        return self._array(self._lang.String, list(items))

    def _ints(self, items: Sequence[int]) -> JavaObject:
        return self._array(self._gateway.jvm.int, list(items))

    def _array(self, kind: Any, items: list[Any]) -> JavaObject:
        found = self._gateway.new_array(kind, len(items))
        for i, item in enumerate(items):
            found[i] = item
        return found


def _jdf(rows: DataFrame) -> JavaObject:
    return rows._jdf  # noqa: SLF001 - PySpark has no public way
