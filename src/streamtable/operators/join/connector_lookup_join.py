"""`ConnectorLookupJoin` -> a call per row that finds the matches, and a row for each match."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.lookup import LookupCache
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.types import Field, quote, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.deletes import IS_LIVE, matches_no_delete
from streamtable.operators.rows.kinds import row_kind
from streamtable.plan.join.connector_lookup_join import ConnectorLookupJoin

_MATCH = "__match"
#: The only column of a match if the query reads no column of the table.
_THERE = "__there"
#: The only column of the input row if the condition reads none.
_KEY = "__key"
_UNLIMITED = -1


def lower_connector_lookup_join(
    node: ConnectorLookupJoin, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a lookup join, which emits each row once for every matching row of the table."""
    matches = _matches(node, context)
    if matches_no_delete(node):
        matches = F.when(F.expr(IS_LIVE), matches)
    explode = F.explode_outer if node.kind.pads_right else F.explode
    found = rows.select(
        ROW_KIND_COLUMN,
        *(quote(f.name) for f in node.input.fields),
        explode(matches).alias(_MATCH),
    )
    theirs = {f.name for f in node.table.fields}
    columns = (
        f"{_MATCH}.{quote(f.name)} AS {quote(f.name)}" if f.name in theirs else quote(f.name)
        for f in node.fields
    )
    return found.selectExpr(row_kind(node.mode), *columns)


def _matches(node: ConnectorLookupJoin, context: LoweringContext) -> Column:
    """Return the array of matches of each row."""
    bridge, key = context.bridge, node.key_fields
    lookup = context.lookup_of(node.looked_up)
    counters = context.lookup_counters_of(lookup.table)
    retry = node.retry
    keys = [name for name, _ in node.keys]
    left = tuple(f for f in node.input.fields if f.name in node.condition_fields)
    found = bridge.java.lookup.LookupCall.column(
        str(uuid4()),
        lookup.reader(key, _read(node), bridge),
        _cache(lookup.cache, bridge),
        _steps(node, left, bridge),
        1 if retry is None else retry.attempts,
        0 if retry is None else milliseconds(retry.delay),
        counters.java,
        spark_ddl(key),
        spark_ddl(node.table.fields) or f"{_THERE} BOOLEAN",
        bridge.java_columns([_struct(keys), _struct([f.name for f in left] or keys[:1])]),
    )
    return Column(found)


def _read(node: ConnectorLookupJoin) -> tuple[Field, ...]:
    """Return the columns to read; one of the key if the query reads none."""
    return node.scan.fields or node.key_fields[:1]


def _steps(node: ConnectorLookupJoin, left: tuple[Field, ...], bridge: Bridge) -> Any:
    """Return the Java object that turns looked-up rows into matches."""
    conditions = [calc.condition for calc in node.calcs]
    outputs = [
        [f"{p.sql} AS {quote(p.field.name)}" for p in calc.projections] for calc in node.calcs
    ]
    if not node.table.fields:
        if not outputs:
            conditions, outputs = [None], [[]]
        outputs[-1] = [f"true AS {_THERE}"]
    return bridge.java.lookup.Matches.create(
        bridge.java_session,
        spark_ddl(_read(node)),
        bridge.java_list(conditions),
        bridge.java_list(map(bridge.java_list, outputs)),
        spark_ddl(left) or f"{_KEY} {node.key_fields[0].type.spark_sql()}",
        node.condition,
    )


def _cache(cache: LookupCache | None, bridge: Bridge) -> Any:
    if cache is None:
        return None
    return bridge.java.lookup.CacheSpec(
        _UNLIMITED if cache.max_rows is None else cache.max_rows,
        _milliseconds(cache.expire_after_write),
        _milliseconds(cache.expire_after_access),
        cache.missing_keys,
    )


def _milliseconds(span: timedelta | None) -> int:
    return _UNLIMITED if span is None else milliseconds(span)


def _struct(names: Iterable[str]) -> Column:
    return F.struct(*(F.col(quote(name)) for name in names))
