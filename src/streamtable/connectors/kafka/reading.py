"""Which of our readers turns a table's records into rows, and how."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.connectors.kafka.changes import ChangeSide
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.counters import Counters
from streamtable.jvm.specs import ChangesSpec, DeadLetterSpec, ReaderSpec


def read_rows(
    table: KafkaTable,
    fields: tuple[Field, ...],
    records: DataFrame,
    *,
    bridge: Bridge,
    counters: Counters,
    last_only: bool,
) -> DataFrame:
    """The records that hold rows, each with one row more in a column `__row`.

    Args:
        table: what is read.
        fields: columns wanted that live in key and value, in order.
        records: as Spark's Kafka source gives them.
        bridge: the JVM side.
        counters: where records that are left out are counted.
        last_only: whether a record of several changes gives the last one of each row only.
    """
    spec = _reader_spec(table, fields, last_only)
    reader = bridge.read(spec, counters)
    if spec.changes is None:
        return records.select("*", reader.alias("__row")).where("__row IS NOT NULL")
    # One record holds any number of rows. Real-time mode takes explode, as it takes filters.
    return records.select("*", reader.alias("__rows")).selectExpr("*", "explode(__rows) AS __row")


def _reader_spec(table: KafkaTable, fields: tuple[Field, ...], last_only: bool) -> ReaderSpec:
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
        dead_letters=_dead_letters(table),
    )


def _dead_letters(table: KafkaTable) -> DeadLetterSpec | None:
    if table.dead_letter_topic is None:
        return None
    # A batch is committed once Kafka has its dead letters, whatever the sink may risk.
    properties = {**table.producer_properties(), "acks": "all"}
    return DeadLetterSpec(table.dead_letter_topic, properties)


def _position(name: str, names: list[str]) -> int:
    return names.index(name) if name in names else -1
