"""The bridge to the JVM: all py4j calls go through this module.

Python passes plain values, lists of them, columns and DataFrames. The JVM returns DataFrames,
columns and plain values. `jvm.faults` translates Java exceptions into StreamtableErrors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import count
from pathlib import Path
from typing import Any

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JJavaError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.streaming.readwriter import DataStreamWriter

from streamtable.core.codec import Codec
from streamtable.jvm.faults import codec_fault
from streamtable.jvm.literals import null
from streamtable.jvm.packages import Packages
from streamtable.jvm.specs.operator import Named, OperatorSpec
from streamtable.jvm.specs.reader import ReaderSpec
from streamtable.jvm.streaming.counters import COUNTED_IN, COUNTED_OUT, Counters, LatestPair

_NO_HEADERS = "array<struct<key: string, value: binary>>"


class Bridge:
    """Calls our Java classes for one Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        context: Any = spark._sc  # noqa: SLF001 - PySpark has no public way
        self._gateway: Any = context._gateway  # noqa: SLF001
        client = self._gateway._gateway_client  # noqa: SLF001 - no public way
        self._ours = Packages("io.streamtable", client)
        self._lang = Packages("java.lang", client)
        self._util = Packages("java.util", client)
        self._io = Packages("java.io", client)
        self._sessions = Packages("org.apache.spark.sql.classic", client).SparkSession
        self._readers = count()

    def register_functions(self) -> None:
        """Register the `flink_*` functions in the session's SQL."""
        self._ours.functions.Functions.register(self.java_session)
        self._ours.watermarks.CurrentWatermark.register(self.java_session)

    def remove_default_sources(self) -> None:
        """Remove the names of files with defaults from Hadoop's settings, which keep their values.

        Spark sends the settings and these names to the tasks of each batch.
        """
        self._ours.query.HadoopSources.removeDefaults(self.java_session)

    def activate(self) -> JavaObject | None:
        """Make the session the active session of this thread; return the previous one.

        Some settings of Spark do not depend on a DataFrame, such as the Java class of a TIMESTAMP
        in a row. Spark reads them from the active session of the thread, and uses defaults if there
        is none.
        """
        active = self._sessions.getActiveSession()
        self._sessions.setActiveSession(self.java_session)
        return active.get() if active.isDefined() else None

    def deactivate(self, before: JavaObject | None) -> None:
        """Restore the session that `activate` returned."""
        if before is None:
            self._sessions.clearActiveSession()
        else:
            self._sessions.setActiveSession(before)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the session the active session of this thread in the block."""
        before = self.activate()
        try:
            yield
        finally:
            self.deactivate(before)

    def counters(self, names: Iterable[str] = (*COUNTED_IN, *COUNTED_OUT)) -> Counters:
        """Create counters with the value zero."""
        java_context: Any = self._spark._jsc  # noqa: SLF001 - no public way
        context = java_context.sc()
        ours = self._ours.metrics
        pairs = (
            LatestPair(ours.LatestPair.register(context, name)) for name in ("lastRead", "sendTime")
        )
        return Counters(ours.Counters.register(context, self._strings(names)), *pairs)

    def read(
        self, spec: ReaderSpec, counters: Counters, record: Sequence[Column] | None = None
    ) -> Column:
        """Decode columns of a record into a struct, null if skipped; or into an array of changes.

        Args:
            spec: the settings of the reader.
            counters: the counters of skipped records.
            record: key, value, and the record's location: a name, a part of it, a position; None
                for the columns `key`, `value`, `topic`, `partition`, `offset`. With dead letters
                the column `headers` is also part of the record.
        """
        ours = self._ours.source
        key = self._codec("decoder", spec.key) if spec.key else None
        positions = (self._ints(spec.key_positions), self._ints(spec.value_positions))
        source = ours.TaskSource(next(self._readers))
        ends = (source, self._faults(spec, counters), counters.java)
        headers = F.col("headers") if spec.dead_letters else null(_NO_HEADERS)
        named = map(F.col, ("key", "value", "topic", "partition", "offset"))
        arguments = self.java_list(self._java_column(c) for c in (*(record or named), headers))
        if spec.changes:
            value = self._codec("changeDecoder", spec.value)
            of_rows = (self._ints(spec.changes.primary_key), spec.changes.last_only)
            reader = ours.ChangeReader(key, value, *positions, *of_rows, *ends)
            return Column(reader.column(spec.output_ddl, arguments))
        value = self._codec("decoder", spec.value)
        make = ours.RecordReader.upsert if spec.upsert else ours.RecordReader.append
        reader = make(key, value, *positions, *ends)
        return Column(reader.column(spec.output_ddl, arguments))

    def _faults(self, spec: ReaderSpec, counters: Counters) -> JavaObject:
        skips = (spec.skip_key_errors, spec.skip_value_errors)
        return self._ours.source.ReadFaults(*skips, spec.dead_letters, spec.place, counters.java)

    def split_watermarks(
        self, known: Mapping[str, int], first: Iterable[str], splits: JavaObject | None
    ) -> JavaObject:
        """Create the Java object of `jvm.streaming.watermarks`, with the watermarks of a scan.

        Args:
            known: split -> milliseconds, from earlier runs.
            first: splits that hold the watermark back from the start.
            splits: a Java `Splits` that finds new splits; None if no splits are added.
        """
        # As text, because py4j converts a number to an Integer or a Long depending on its size.
        texts = self.java_map({name: str(value) for name, value in known.items()})
        make = self._ours.watermarks.SplitWatermarks.register
        return make(self.java_session, texts, self.java_list(first), splits)

    def observed(self, watermarks: JavaObject, columns: Sequence[Column]) -> Column:
        """Observe each row in a column: the two parts of its split's id, then microseconds."""
        return Column(watermarks.column(self.java_list(self._java_column(c) for c in columns)))

    def metered(
        self, records: DataFrame, counters: Counters, record: Sequence[Column] | None = None
    ) -> DataFrame:
        """Count records as they are read.

        Args:
            records: the rows of a source.
            counters: the counters of the table.
            record: key, value, and the record's time in epoch milliseconds; None for the columns
                `key`, `value` and `timestamp`.
        """
        named = (F.col("key"), F.col("value"), F.unix_millis("timestamp"))
        parts = self.java_columns(record or named)
        ours = self._ours.metrics.SourceMeter
        return records.where(Column(ours.counted(counters.java, counters.last_read.java, parts)))

    def drops_nulls(self, missing: Column, counters: Counters) -> Column:
        """Return a condition that drops rows with a missing value and counts them."""
        ours = self._ours.metrics.DroppedNulls
        return Column(ours.stays(counters.java, self._java_column(missing)))

    def has_class(self, name: str) -> bool:
        """Return whether Spark's class path, including `spark.jars`, has a class."""
        loader = self._lang.Thread.currentThread().getContextClassLoader()
        try:
            loader.loadClass(name)
        except Py4JJavaError:
            return False
        return True

    @property
    def is_local(self) -> bool:
        """Whether Spark runs its tasks in the driver's JVM."""
        return str(self._spark.sparkContext.master).partition("[")[0] == "local"

    def add_jar(self, jar: Path) -> None:
        """Add a jar to the driver's class path; tasks in the same JVM also use this class path."""
        url = self._io.File(str(jar)).toURI().toURL()
        self._lang.Thread.currentThread().getContextClassLoader().addURL(url)

    def add_jars(self, jars: Iterable[Path]) -> None:
        """Add jars to the class paths of the driver and of all tasks."""
        for jar in jars:
            self.add_jar(jar)
            self._spark.sparkContext._jsc.addJar(str(jar))  # noqa: SLF001 - no public way

    def jar_of(self, name: str) -> str | None:
        """Return the file name of the jar with a class of Spark's class path, or None."""
        loader = self._lang.Thread.currentThread().getContextClassLoader()
        try:
            source = loader.loadClass(name).getProtectionDomain().getCodeSource()
        except Py4JJavaError:
            return None
        return str(source.getLocation().getPath()).rsplit("/", 1)[-1]

    def encode(self, codec: Codec, row: Column) -> Column:
        """Encode a struct into bytes; a null struct becomes null.

        Raises:
            StreamtableError: an error of the schema registry, if the codec uses one.
        """
        encoder = self._codec("encoder", codec)
        return Column(self._ours.codec.EncodedColumn.of(encoder, self._java_column(row)))

    def check_schema(self, codec: Codec) -> None:
        """Check that a registry accepts the schema of a codec that `registers`, without changes.

        Raises:
            StreamtableError: the error of the schema registry for the codec's schema.
        """
        parameters = self.java_map({**codec.parameters, **codec.secrets})
        try:
            self._ours.codec.Codecs.checkSchema(codec.java_class, parameters)
        except Py4JJavaError as error:
            raise codec_fault(error) or error from None

    def operator(self, rows: DataFrame, spec: OperatorSpec) -> DataFrame:
        """Apply one of our operators to a DataFrame; `jvm.specs` defines its parameters."""
        put = self._ours.operators.Operators.put
        name = f"{spec.package}.{type(spec).__name__}"
        return self.frame(put(rows._jdf, name, self._java_value(spec)))  # noqa: SLF001 - no public way

    def shared_key(self, key: Column, ddl: str) -> Column:
        """Return a grouping key that is stored in the state of several queries.

        Args:
            key: its bytes.
            ddl: its columns.
        """
        keys = self._ours.operators.fanout.RowBytes
        return Column(keys.decoded(self._java_column(key), ddl))

    def python_program(self, name: str) -> JavaObject:
        """Return the Python function that has this name in the session's SQL, for operators."""
        return self._ours.python.PythonProgram.of(self.java_session, name)

    def _java_value(self, value: Any) -> Any:
        """Convert a value of a `Named` for Java."""
        match value:
            case Named():
                names = (field.name for field in fields(value))  # type: ignore[arg-type]
                parts = {camel_case(n): self._java_value(getattr(value, n)) for n in names}
                return self.java_map(parts)
            case Counters():
                return value.java
            case DataFrame():
                return value._jdf  # noqa: SLF001 - no public way
            case list() | tuple():
                return self.java_list(map(self._java_value, value))
            case _:
                return value

    @property
    def default_parallelism(self) -> int:
        """The number of tasks that Spark runs in parallel."""
        return self._spark.sparkContext.defaultParallelism

    @property
    def java(self) -> Packages:
        """Our Java classes by attribute, such as `java.kafka.admin.KafkaAdmin`."""
        return self._ours

    def java_class(self, name: str) -> Any:
        """Return a Java class by its full name, from a jar in `spark.jars`."""
        package, _, simple = name.rpartition(".")
        return getattr(Packages(package, self._ours.client), simple)

    def java_columns(self, columns: Iterable[Column]) -> JavaObject:
        """Return a `java.util.List` of Spark's columns."""
        return self.java_list(map(self._java_column, columns))

    def frame(self, java: JavaObject) -> DataFrame:
        """Return a `Dataset<Row>` of Spark as a DataFrame."""
        return DataFrame(java, self._spark)

    def for_writers(self, rows: DataFrame) -> DataFrame:
        """Return the same rows, which Java writers take without generated code."""
        return self.frame(self._ours.operators.encoding.DirectEncoder.rows(rows._jdf))  # noqa: SLF001

    def decoder(self, codec: Codec) -> JavaObject:
        """Create the Java decoder of a codec; raise an error of its schema registry."""
        return self._codec("decoder", codec)

    def encoder(self, codec: Codec) -> JavaObject:
        """Create the Java encoder of a codec; raise an error of its schema registry."""
        return self._codec("encoder", codec)

    def for_each(self, query: DataStreamWriter, writer: JavaObject) -> None:
        """Configure a streaming query to write its rows with a Java `ForeachWriter<Row>`."""
        query._jwrite = query._jwrite.foreach(writer)  # noqa: SLF001 - PySpark takes Python's only

    @property
    def java_session(self) -> JavaObject:
        """Spark's session on the JVM."""
        return self._spark._jsparkSession  # noqa: SLF001

    def java_map(self, items: Mapping[str, Any]) -> JavaObject:
        """Return a `java.util.Map`."""
        found = self._util.HashMap()
        for key, value in items.items():
            found.put(key, value)
        return found

    def java_list(self, items: Iterable[Any]) -> JavaObject:
        """Return a `java.util.List`."""
        found = self._util.ArrayList()
        for item in items:
            found.add(item)
        return found

    def _codec(self, kind: str, codec: Codec) -> JavaObject:
        make = getattr(self._ours.codec.Codecs, kind)
        parameters = self.java_map({**codec.parameters, **codec.secrets})
        try:
            return make(codec.java_class, codec.schema_ddl, parameters)
        except Py4JJavaError as error:
            raise codec_fault(error) or error from None

    def _java_column(self, column: Column) -> JavaObject:
        return column._jc  # noqa: SLF001

    def _strings(self, items: Iterable[str]) -> JavaObject:
        return self._array(self._lang.String, list(items))

    def _ints(self, items: Sequence[int]) -> JavaObject:
        return self._array(self._gateway.jvm.int, list(items))

    def _array(self, kind: Any, items: list[Any]) -> JavaObject:
        found = self._gateway.new_array(kind, len(items))
        for i, item in enumerate(items):
            found[i] = item
        return found


def camel_case(name: str) -> str:
    """Return the Java name of a Python field."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
