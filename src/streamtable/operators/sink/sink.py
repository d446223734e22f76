"""`Sink` -> rows with checked NOT NULL constraints and lengths, encoded for the writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.endpoints import sink_of
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.settings.table import (
    NOT_NULL_ENFORCER,
    TYPE_LENGTH_ENFORCER,
    NotNullEnforcer,
    TypeLengthEnforcer,
)
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.lower import lower
from streamtable.operators.rows.kinds import deleting_row_kind
from streamtable.operators.rows.materialize import lower_materialize
from streamtable.operators.sink.exchange import lower_exchange
from streamtable.operators.sink.length import with_length
from streamtable.plan.node import Node
from streamtable.plan.sink.exchange import Exchange
from streamtable.plan.sink.materialize import Materialize
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.metadata_columns import written_metadata

#: Lowerings of the operators by the sink's key, over checked rows.
_BY_KEY: Mapping[type[Node], Callable[[Any, DataFrame, LoweringContext], DataFrame]] = {
    Materialize: lower_materialize,
    Exchange: lower_exchange,
}


def lower_sink(sink: Sink, context: LoweringContext) -> DataFrame:
    """Lower a sink to the rows that it writes, checked and encoded."""
    return encoded(sink, checked_rows(sink, context), context)


def encoded(sink: Sink, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Encode checked rows for the writer."""
    return sink_of(sink.table).encode(with_metadata(sink, rows), context)


def with_metadata(sink: Sink, rows: DataFrame) -> DataFrame:
    """Cast written metadata columns to the types of the connector."""
    casts = written_metadata(sink.table)
    if not casts:
        return rows
    names = (f.name for f in sink.input.fields)
    columns = [f"{casts.get(name, quote(name))} AS {quote(name)}" for name in names]
    return rows.selectExpr(ROW_KIND_COLUMN, *columns)


def checked_rows(sink: Sink, context: LoweringContext) -> DataFrame:
    """Lower a sink to row kinds and columns in the types of the table, checked but not encoded.

    As in Flink, rows are fitted before an operator by the sink's key orders or replaces them. Only
    rows that are written fail the job.
    """
    own = replace(context, settings=sink.settings, lacking=sink.lacking)
    by_key = _BY_KEY.get(type(sink.input))
    if by_key is not None:
        (below,) = sink.input.inputs
        rows = _fitted(sink, lower(below, own), context, final=False)
        return _enforced(sink, by_key(sink.input, rows, own))
    rows = lower(sink.input, own)
    if sink.deletes_before:
        rows = rows.selectExpr(deleting_row_kind(), *(quote(f.name) for f in sink.input.fields))
    return checked(sink, rows, context)


def checked(sink: Sink, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Check the rows of a sink's query: the lengths of values, and NOT NULL."""
    return _enforced(sink, _fitted(sink, rows, context, final=True))


def _fitted(sink: Sink, rows: DataFrame, context: LoweringContext, *, final: bool) -> DataFrame:
    """Trim and pad values, and drop rows with NULLs, as the settings say.

    Args:
        sink: the sink.
        rows: row kinds, columns of the sink, and columns that are passed on.
        context: the context of the job.
        final: whether the rows are written as they are. Otherwise an operator removes retracted
            rows by their values, and must not get the retraction of a dropped row.
    """
    if sink.settings[TYPE_LENGTH_ENFORCER] is TypeLengthEnforcer.TRIM_PAD:
        rows = _with_lengths(sink, rows)
    if sink.settings[NOT_NULL_ENFORCER] is NotNullEnforcer.DROP and sink.required:
        missing = " OR ".join(f"({_is_missing(sink, name)})" for name in sink.required)
        if not final:
            rows = rows.where(_is_kept(sink))
        counters = context.counters_of(sink.table.name)
        rows = rows.where(context.bridge.drops_nulls(F.expr(missing), counters))
    return rows


def _enforced(sink: Sink, rows: DataFrame) -> DataFrame:
    """Fail the job on values with a wrong length and on NULLs, as the settings say."""
    if sink.settings[TYPE_LENGTH_ENFORCER] is TypeLengthEnforcer.ERROR:
        rows = _with_lengths(sink, rows)
    if sink.settings[NOT_NULL_ENFORCER] is NotNullEnforcer.ERROR:
        rows = rows.selectExpr(*(_checked(sink, name) for name in rows.columns))
    return rows


def _with_lengths(sink: Sink, rows: DataFrame) -> DataFrame:
    # Use the types of the table: an implicit cast leaves a column with the type of the query.
    enforcer, fields = sink.settings[TYPE_LENGTH_ENFORCER], sink.table.schema.persisted
    fitted = {f.name: with_length(f, enforcer, sink.table.name) for f in fields}
    return rows.selectExpr(*(fitted.get(name, quote(name)) for name in rows.columns))


def _is_kept(sink: Sink) -> str:
    """Return a condition for additions, and for retractions of rows that were not dropped."""
    added = ", ".join(str(kind.value) for kind in RowKind if not kind.removes)
    present = " AND ".join(f"{quote(name)} IS NOT NULL" for name in sink.required)
    return f"{ROW_KIND_COLUMN} IN ({added}) OR ({present})"


def _is_missing(sink: Sink, name: str) -> str:
    """Return a condition for rows that lack a required value; a delete requires only its key."""
    missing = f"{quote(name)} IS NULL"
    if name in sink.key:
        return missing
    return f"{missing} AND {ROW_KIND_COLUMN} <> {RowKind.DELETE.value}"


def _checked(sink: Sink, name: str) -> str:
    """Return the column with a check that fails the job if the value is NULL: Flink's default."""
    if name not in sink.required:
        return quote(name)
    text = f"NULL_IN_NOT_NULL_COLUMN column ''{name}'' of {sink.table.name} is NOT NULL"
    failing = f"raise_error('{text}, but the query returns NULL')"
    return (
        f"CASE WHEN {_is_missing(sink, name)} THEN {failing} ELSE {quote(name)} END"
        f" AS {quote(name)}"
    )
