"""Answers that follow from an earlier answer and from the records since then.

This holds for queries over append-only input without state, and for those that group such input by
the key of the sink with aggregates that merge. Their earlier answer is the content of the sink.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.calls import call_sql
from streamtable.batch.refusals import Refusal
from streamtable.core.types import (
    APPROXIMATE,
    CHARACTER,
    INTEGERS,
    MAX_DECIMAL_PRECISION,
    TIMESTAMPS,
    DataType,
    Field,
    Root,
    quote,
)
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.keys import listed
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rows.expand import Expand
from streamtable.plan.rows.union_all import UnionAll
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan, scans
from streamtable.plan.window.watermark import WatermarkAssigner

#: Operators whose rows each come from one row of one input.
_ROW_BY_ROW = (Scan, Calc, Expand, UnionAll, WatermarkAssigner)

#: The aggregate that merges the results of two parts of the input.
_MERGED_BY = {"COUNT": "SUM", "SUM": "SUM", "MIN": "MIN", "MAX": "MAX"}

#: Types of keys that every format writes without loss: two groups have two keys in the sink.
_KEYS = frozenset({*CHARACTER, *INTEGERS, Root.BOOLEAN, Root.DATE, Root.DECIMAL})

#: Types whose smallest value is the same before and after a format has rounded values. Texts and
#: numbers like NaN are missing: formats write some of them as NULL.
_ORDERED = frozenset({*INTEGERS, *TIMESTAMPS, Root.DATE, Root.DECIMAL})

#: Decimal digits of a number of rows: 2^63 rows are fewer than 10^19.
_DIGITS_OF_ROWS = 19


def increment_refusal(sink: Sink, fields: Sequence[Field], key: Sequence[str]) -> Refusal | None:
    """Return why the answer does not follow from the earlier one; None if it does.

    Args:
        sink: a query with a batch answer.
        fields: the columns of the sink that are compared.
        key: the key of the sink; empty if rows are counted.
    """
    return next(_refusals(sink, fields, key), None)


def grown(
    sink: Sink, fields: Sequence[Field], key: Sequence[str], earlier: DataFrame, more: DataFrame
) -> DataFrame:
    """Return the rows of the sink after an increment of the input.

    Args:
        sink: a query without `increment_refusal`, whose sink has a key.
        fields: columns of both frames.
        key: the key of the sink.
        earlier: the rows of the sink before the increment, one per key.
        more: the answer over the increment alone.
    """
    aggregate = _aggregate_of(sink)
    if aggregate is None:
        # The sink has the row that was written last: one of the increment, if there is any.
        written = more.select(*map(quote, key)).distinct()
        others = earlier.join(written, list(key), "left_anti")
        return more.unionByName(others)
    types = {f.name: f.type for f in fields}
    calls = {call.output.name: call for call in aggregate.calls}
    origins = _origins(sink)
    columns = []
    for field in fields:
        if field.name in key:
            continue
        function = _MERGED_BY[calls[origins[field.name] or ""].function]
        merged = AggregateCall(function, field, argument=field.name)
        columns.append(F.expr(call_sql(merged, types, "0")).alias(field.name))
    counted = F.expr("count(*)").alias("__parts")
    both = earlier.union(more).groupBy(*map(quote, key)).agg(counted, *columns)
    return both.selectExpr(*(quote(f.name) for f in fields))


def extremes(sink: Sink, fields: Sequence[Field]) -> list[str]:
    """Return the columns of a sink with results of MIN and MAX, which a wrong NULL would change.

    Args:
        sink: a query without `increment_refusal`.
        fields: the columns of the sink that are compared.
    """
    aggregate = _aggregate_of(sink)
    if aggregate is None:
        return []
    names = {c.output.name for c in aggregate.calls if c.function in ("MIN", "MAX")}
    origins = _origins(sink)
    return [f.name for f in fields if origins[f.name] in names]


def _refusals(sink: Sink, fields: Sequence[Field], key: Sequence[str]) -> Iterator[Refusal]:
    aggregate = _aggregate_of(sink)
    if aggregate is not None:
        yield from _result_refusals(sink, aggregate)
    for scan in scans(sink.input):
        if not scan.mode.is_append:
            yield Refusal(scan, "its records may change or delete earlier rows")
    for node in every(sink.input if aggregate is None else aggregate.input):
        if not isinstance(node, _ROW_BY_ROW):
            yield Refusal(node, "its results for new rows may depend on earlier ones")
    if aggregate is not None:
        yield from _column_refusals(sink, aggregate, fields, key)


def _aggregate_of(sink: Sink) -> GroupAggregate | None:
    """Return the aggregation below the projections of a query; None if there is none."""
    node = sink.input
    while isinstance(node, Calc):
        node = node.input
    return node if isinstance(node, GroupAggregate) else None


def _result_refusals(sink: Sink, aggregate: GroupAggregate) -> Iterator[Refusal]:
    node: Node = sink.input
    while isinstance(node, Calc):
        if node.condition is not None:
            reason = "it filters groups by their results, and a group that is left out is not known"
            yield Refusal(node, reason)
        node = node.input
    for call in aggregate.calls:
        types = {f.name: f.type for f in aggregate.input.fields}
        reason_of_call = _call_refusal(call, types.get(call.argument or ""))
        if reason_of_call is not None:
            yield Refusal(aggregate, reason_of_call)


def _call_refusal(call: AggregateCall, argument: DataType | None) -> str | None:
    if not call.merges or call.function not in _MERGED_BY:
        return f"{call.described} does not follow from its earlier result"
    if argument is None or call.function == "COUNT":
        return None
    if call.function != "SUM":
        if argument.root in _ORDERED:
            return None
        return f"{call.described}: a format may not keep the smallest or largest {argument.sql()}"
    if argument.root in APPROXIMATE:
        return f"{call.described} is equal up to a tolerance only, which would add up"
    digits = argument.precision or 0
    if argument.root is Root.DECIMAL and digits + _DIGITS_OF_ROWS > MAX_DECIMAL_PRECISION:
        return f"{call.described} may exceed {MAX_DECIMAL_PRECISION} digits, and is then NULL"
    return None


def _column_refusals(
    sink: Sink, aggregate: GroupAggregate, fields: Sequence[Field], key: Sequence[str]
) -> Iterator[Refusal]:
    """Refuse columns of the sink that are not the group's key or one of its results."""
    origins = _origins(sink)
    kinds = {f.name: f.type for f in aggregate.fields}
    if not key or {origins[name] for name in key} != set(aggregate.keys):
        reason = f"the sink has another key, {listed(tuple(key))}" if key else "the sink has no key"
        yield Refusal(aggregate, reason)
    optional = {c.output.name for c in aggregate.calls if c.function != "COUNT"}
    for field in fields:
        origin = origins[field.name]
        if origin is None or (field.name not in key and origin in aggregate.keys):
            yield Refusal(aggregate, f"column {field.name} is neither a key nor a result")
        elif not kinds[origin].same_shape(field.type):
            reason = f"column {field.name} has not the type of the result, {kinds[origin].sql()}"
            yield Refusal(aggregate, reason)
        elif field.name in key and field.type.root not in _KEYS:
            reason = f"a format may not keep {field.name}, {field.type.sql()}, without loss"
            yield Refusal(aggregate, reason)
        elif origin in optional and field.name in sink.required:
            reason = f"column {field.name} is NOT NULL, and a part of the rows may give NULL"
            yield Refusal(aggregate, reason)


def _origins(sink: Sink) -> dict[str, str | None]:
    """Return, for each column of a sink, the field below the projections that it passes on."""
    names: dict[str, str | None] = {f.name: f.name for f in sink.input.fields}
    node = sink.input
    while isinstance(node, Calc):
        sources = {p.field.name: p.source for p in node.projections}
        names = {name: None if now is None else sources[now] for name, now in names.items()}
        node = node.input
    return names
