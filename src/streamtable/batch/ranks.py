"""Batch answers of rankings: `row_number` in the total order of the operators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.arrival import arrival_decides
from streamtable.batch.comparable import holds_map
from streamtable.batch.context import BatchContext
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import Field, quote
from streamtable.operators.window.window import last_moment
from streamtable.plan.binding.moments import millis
from streamtable.plan.node import Key
from streamtable.plan.query.relation import bound_field
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.window.window_top_n import WindowTopN

_NUMBER = "__number"
_ARRIVAL = "it keeps the first rows of several partitions or tasks, whose order is that of arrival"


def ranking_refusal(node: TopN | WindowTopN | Deduplicate | Limit) -> str | None:
    """Return why the ranking has no batch answer; None if it has."""
    if isinstance(node, TopN) and node.arrival:
        return "it ranks rows by processing time"
    mapped = next((f.name for f in node.input.fields if holds_map(f.type)), None)
    if mapped is not None and not _positions(node):
        return f"rows that tie have the order of '{mapped}', and maps have no order"
    return None


def _positions(node: TopN | WindowTopN | Deduplicate | Limit) -> Key:
    match node:
        case TopN() | WindowTopN():
            return node.ties
        case Limit():
            return node.order
        case _:
            return ()


def top_rows(node: TopN, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return the first rows of each partition.

    The operator orders rows by the sort keys, then by their positions, then by all columns from the
    left. That order does not depend on arrival.
    """
    order = [*map(_key, node.order), *(_column(name, last=node.last) for name in node.ties)]
    others = () if node.ties else node.input.fields
    return _numbered(
        rows, node.partition, order, others, node.skip, node.limit, node.rank, node.fields, context
    )


def limited_rows(node: Limit, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return the first rows by position; other rows may have arrived first."""
    # Up to so many rows, the answer is all of them or none.
    known = node.skip or node.limit
    several = f"count(*) > {known} AND ({arrival_decides(node.input, node.order, context)})"
    cases = rows.agg(F.expr(several).alias("__several")).where("__several")
    context.doubt(node, _ARRIVAL, cases)
    order = [_column(name) for name in node.order]
    others = () if node.order else node.input.fields
    return _numbered(rows, (), order, others, node.skip, node.limit, None, node.fields, context)


def window_top_rows(node: WindowTopN, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return the first rows of each partition of the windows that the watermark has passed."""
    ended = context.passed(last_moment(node.end, node.window))
    rows = rows if ended is None else rows.where(ended)
    return _numbered(
        rows,
        node.partition,
        [*map(_key, node.order), *(_column(name, last=node.last) for name in node.ties)],
        () if node.ties else node.input.fields,
        node.skip,
        node.limit,
        node.rank,
        node.fields,
        context,
    )


def first_rows(node: Deduplicate, rows: DataFrame, context: BatchContext) -> DataFrame:
    """Return the first row of each partition by event time, if the watermark has passed it."""
    time = next(f for f in node.input.fields if f.name == node.time)
    order = [_column(node.time), *(_column(name) for name in node.order)]
    others = () if node.order else node.input.fields
    first = _numbered(rows, node.partition, order, others, 0, 1, None, node.fields, context)
    passed = context.passed(millis(bound_field(time)))
    return first if passed is None else first.where(passed)


def _key(key: SortKey) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{quote(key.field)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _column(name: str, *, last: bool = False) -> str:
    return f"{quote(name)} {'DESC' if last else 'ASC'} NULLS FIRST"


def _numbered(
    rows: DataFrame,
    partition: Key,
    order: Sequence[str],
    others: Iterable[Field],
    skip: int,
    limit: int | None,
    rank: Field | None,
    fields: Iterable[Field],
    context: BatchContext,
) -> DataFrame:
    by = f"PARTITION BY {', '.join(map(quote, partition))} " if partition else ""
    ordered = ", ".join([*order, *(_column(f.name) for f in others)])
    number = f"CAST(row_number() OVER ({by}ORDER BY {ordered}) AS BIGINT) AS {_NUMBER}"
    last = f" AND {_NUMBER} <= {skip + limit}" if limit is not None else ""
    found = rows.selectExpr("*", number).where(f"{_NUMBER} > {skip}{last}")
    names = [f"{_NUMBER} AS {quote(f.name)}" if f is rank else quote(f.name) for f in fields]
    return found.selectExpr(ROW_KIND_COLUMN, *names, *context.kept)
