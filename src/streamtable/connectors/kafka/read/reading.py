"""Choose the Java reader that decodes a table's records into rows, and apply it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.read.changes import ChangeSide
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ChangesSpec, ReaderSpec
from streamtable.jvm.streaming.counters import Counters


def read_rows(
    table: KafkaTable,
    fields: tuple[Field, ...],
    records: DataFrame,
    *,
    bridge: Bridge,
    counters: Counters,
    last_only: bool,
    skips_errors: bool = False,
    number: str | None = None,
) -> DataFrame:
    """Decode records into rows, in the additional column `__row`.

    Args:
        table: the table to read.
        fields: the required columns of key and value, in order.
        records: the rows of Spark's Kafka source.
        bridge: the JVM side.
        counters: the counters of skipped records.
        last_only: whether a record with several changes gives only the last change of each row.
        skips_errors: whether to count and skip records that do not parse, whatever the formats say.
        number: name of a further column with the place of the row in its record; None for none.
    """
    spec = _reader_spec(table, fields, last_only, bridge)
    if skips_errors:
        spec = replace(spec, skip_key_errors=True, skip_value_errors=True)
    reader = bridge.read(spec, counters)
    if spec.changes is None:
        rows = records.select("*", reader.alias("__row")).where("__row IS NOT NULL")
        return rows.withColumn(number, F.expr("0")) if number else rows
    # A record may contain any number of rows. Real-time mode supports explode, as it supports
    # filters.
    exploded = f"posexplode(__rows) AS ({number}, __row)" if number else "explode(__rows) AS __row"
    return records.select("*", reader.alias("__rows")).selectExpr("*", exploded)


def _reader_spec(
    table: KafkaTable, fields: tuple[Field, ...], last_only: bool, bridge: Bridge
) -> ReaderSpec:
    wanted = {f.name for f in fields}
    key = table.key.read(wanted) if table.key else None
    value = table.value.read(wanted)
    key_names = [c.name for c in key.columns] if key else []
    value_names = [c.name for c in value.columns]
    changes = None
    if isinstance(value, ChangeSide):
        value_names += [c.name for c in value.metadata]
        names = [f.name for f in fields]
        changes = ChangesSpec([names.index(k) for k in table.schema.primary_key], last_only)
    ddl = f"{ROW_KIND_COLUMN} TINYINT"
    return ReaderSpec(
        key=key.decoder() if key else None,
        value=value.decoder(),
        key_positions=[_position(f.name, key_names) for f in fields],
        value_positions=[_position(f.name, value_names) for f in fields],
        upsert=table.is_upsert,
        skip_key_errors=table.key.skips_errors if table.key else False,
        skip_value_errors=table.value.skips_errors,
        output_ddl=f"{ddl}, {spark_ddl(fields)}" if fields else ddl,
        changes=changes,
        dead_letters=_dead_letters(table, bridge),
    )


def _dead_letters(table: KafkaTable, bridge: Bridge) -> Any:
    """Return the Java producer of dead letters; None if the table has no dead-letter topic."""
    if table.dead_letter_topic is None:
        return None
    # A batch commits only after Kafka has acknowledged its dead letters, whatever the guarantee of
    # the sink.
    properties = {**table.producer_properties(), "acks": "all"}
    make = bridge.java.kafka.write.DeadLetterWriter
    return make(table.dead_letter_topic, bridge.java_map(properties))


def _position(name: str, names: list[str]) -> int:
    return names.index(name) if name in names else -1
