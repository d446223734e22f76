"""Batch answers of tables, projections, filters, expansions and unions."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.batch.context import BatchContext
from streamtable.batch.fold import content, inconsistent
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, quote
from streamtable.operators.join.lookup_join import lower_lookup_join
from streamtable.operators.rows.calc import lower_calc
from streamtable.operators.rows.expand import lower_expand
from streamtable.operators.source.values import given_rows, rows_of
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION, without_position
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rows.expand import Expand
from streamtable.plan.rows.replicate_rows import ReplicateRows
from streamtable.plan.rows.union_all import UnionAll
from streamtable.plan.sink.exchange import Exchange
from streamtable.plan.sink.materialize import Materialize
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan
from streamtable.plan.source.static_table import StaticTable
from streamtable.plan.source.values import Values

_COPY = "__copy"


def scan_rows(node: Scan, context: BatchContext) -> DataFrame:
    """Return the rows of a table: every record of an append-only one, else the current rows."""
    changes = _changes(node, context)
    if node.mode.is_append:
        return changes.selectExpr(ROW_KIND_COLUMN, *_names(node.fields), *context.kept)
    key = node.table.schema.primary_key
    fields = without_position(node.fields)
    if key and node.mode.has_before:
        cases = inconsistent(changes, fields, key)
        reason = "its change events contradict each other, and are counted one by one"
        context.doubt(node, reason, cases)
    return _folded(node.fields, changes, key, context)


def normalized_rows(node: Normalize, context: BatchContext) -> DataFrame:
    """Return the last row of each key."""
    return _folded(node.fields, _changes(node.input, context), node.key, context)


def _changes(node: Scan, context: BatchContext) -> DataFrame:
    number = context.next_scan()
    changes = context.changes_of(node)
    if context.carried is None:
        return changes
    carried = f"{context.carried.of_record(number)} AS {quote(context.carried.column)}"
    return changes.selectExpr("*", carried)


def _folded(
    fields: tuple[Field, ...], changes: DataFrame, key: tuple[str, ...], context: BatchContext
) -> DataFrame:
    """Fold changes; the position of a row is that of its last change."""
    aggregates = {}
    if context.carried is not None:
        column = context.carried.column
        aggregates[column] = context.carried.of_group(column)
    if key:
        folded = content(changes, fields, key, aggregates)
    else:
        # A retraction has another position than its row.
        folded = content(changes, without_position(fields), key, aggregates)
        folded = folded.selectExpr("*", *(f"-1 AS {f.name}" for f in POSITION if f in fields))
    return folded.selectExpr(ROW_KIND_COLUMN, *_names(fields), *context.kept)


def values_rows(node: Values, context: BatchContext) -> DataFrame:
    """Return the rows of VALUES."""
    marker = context.lowering.spark.range(0, 1, 1, numPartitions=1)
    return _without_records(rows_of(node, marker), context)


def static_rows(node: StaticTable, context: BatchContext) -> DataFrame:
    """Return the rows of a program's DataFrame."""
    return _without_records(given_rows(node), context)


def _without_records(rows: DataFrame, context: BatchContext) -> DataFrame:
    if context.carried is None:
        return rows
    column = quote(context.carried.column)
    return rows.selectExpr("*", f"{context.carried.constant} AS {column}")


def calc_rows(node: Calc, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Project and filter."""
    plain = Calc(node.input, node.projections, node.condition, node.condition_paths)
    return lower_calc(plain, rows, context.lowering, context.kept)


def expanded_rows(node: Expand, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return each row once per element."""
    return lower_expand(node, rows, context.kept)


def replicated_rows(node: ReplicateRows, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return each row as often as its count says."""
    count = quote(node.count)
    copies = f"explode(array_repeat(0, CAST({count} AS INT))) AS {_COPY}"
    columns = (ROW_KIND_COLUMN, *_names(node.fields), *context.kept)
    return rows.where(f"{count} > 0").selectExpr(*columns, copies).selectExpr(*columns)


def lookup_rows(node: LookupJoin, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return each row with its matches in a static table."""
    return lower_lookup_join(node, rows, context.lowering, context.kept)


def union_rows(node: UnionAll, inputs: list[DataFrame], context: BatchContext) -> DataFrame:
    """Return the rows of all inputs."""
    columns = (ROW_KIND_COLUMN, *_names(node.fields), *context.kept)
    first, *others = (rows.selectExpr(*columns) for rows in inputs)
    for other in others:
        first = first.union(other)
    return first


def keyed_rows(node: Materialize | Exchange, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return all rows of each key; the sink has the one that arrived last."""
    return rows.selectExpr(ROW_KIND_COLUMN, *_names(node.fields), *context.kept)


def passed_rows(node: Node, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return the input of an operator that only observes it."""
    del node, context
    return rows


def _names(fields: tuple[Field, ...]) -> list[str]:
    return [quote(f.name) for f in fields]
