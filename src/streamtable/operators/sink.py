"""`Sink` -> bytes: NOT NULL and lengths checked, key and value encoded, ready for the writer."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connectors.kafka.sink import encode_records
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.settings import (
    NOT_NULL_ENFORCER,
    TYPE_LENGTH_ENFORCER,
    NotNullEnforcer,
    TypeLengthEnforcer,
)
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.length import with_length
from streamtable.operators.lower import lower
from streamtable.plan.nodes import Sink


def sink_table(sink: Sink) -> KafkaTable:
    """The table that a sink writes, as its connector knows it."""
    table = sink.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    return table


def lower_sink(sink: Sink, context: LoweringContext) -> DataFrame:
    """The records to write: columns `key`, `value` (BINARY) and the metadata that is written."""
    rows = lower(sink.input, context)
    enforcer = context.settings[TYPE_LENGTH_ENFORCER]
    if enforcer is not TypeLengthEnforcer.IGNORE:
        # The table's own types: an implicit cast leaves a column that of the query.
        columns = [with_length(f, enforcer, sink.table.name) for f in sink.table.schema.persisted]
        rows = rows.selectExpr(ROW_KIND_COLUMN, *columns)
    if context.settings[NOT_NULL_ENFORCER] is NotNullEnforcer.DROP:
        missing = " OR ".join(f"({_is_missing(sink, name)})" for name in sink.not_null)
        if missing:
            counters = context.counters_of(sink.table.name)
            rows = rows.where(context.bridge.drops_nulls(F.expr(missing), counters))
    else:
        rows = rows.selectExpr(
            ROW_KIND_COLUMN, *(_checked(sink, f.name) for f in sink.input.fields)
        )
    return encode_records(sink_table(sink), rows, context.bridge)


def _is_missing(sink: Sink, name: str) -> str:
    """Whether a row lacks a value it must have; a delete needs nothing but its key."""
    missing = f"{quote(name)} IS NULL"
    if name in sink.key:
        return missing
    return f"{missing} AND {ROW_KIND_COLUMN} <> {RowKind.DELETE.value}"


def _checked(sink: Sink, name: str) -> str:
    """The column, or the end of the job where it is NULL; Flink's rule and default."""
    if name not in sink.not_null:
        return quote(name)
    text = f"NULL_IN_NOT_NULL_COLUMN column ''{name}'' of {sink.table.name} is NOT NULL"
    failing = f"raise_error('{text}, but the query gives NULL for it')"
    return (
        f"CASE WHEN {_is_missing(sink, name)} THEN {failing} ELSE {quote(name)} END"
        f" AS {quote(name)}"
    )
