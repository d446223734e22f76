"""Folds of stored changes by Spark: the rows that are left, the history, and a difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.comparable import comparable, identity
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.connector_api.stored import NUMBER_COLUMN, TIME_COLUMN, reached_column
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import Field, quote

#: Projects and filters rows; further columns pass through.
Project = Callable[[DataFrame, Sequence[str]], DataFrame]

#: Orders the changes of a split.
ORDER = (*ORDER_COLUMNS, NUMBER_COLUMN)
#: Columns of a change that `history` adds after the fields.
HISTORY = (*ORDER, TIME_COLUMN)

_KEPT = f"{ROW_KIND_COLUMN} IN ({RowKind.INSERT.value}, {RowKind.UPDATE_AFTER.value})"
_SIDE = "__side"


def content(
    changes: DataFrame,
    fields: Sequence[Field],
    key: Sequence[str],
    carried: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the rows that the changes leave, as inserts.

    Args:
        changes: row kind, fields, then `ORDER`. They have the old row of each update, or a key.
        fields: the fields.
        key: names of the fields that identify a row. Without a key, rows are counted.
        carried: further columns of the changes that follow the fields. Without a key, the mapped
            aggregate expression combines the changes of equal rows.
    """
    names = [quote(f.name) for f in fields]
    kept = [*names, *map(quote, carried or ())]
    kind = f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"
    if not key:
        counted = _counted(changes, fields, _sign("TRUE"), carried or {}).where("__n > 0")
        repeated = counted.selectExpr(*kept, "explode(array_repeat(0, __n))")
        return repeated.selectExpr(kind, *kept)
    row = f"struct({', '.join([ROW_KIND_COLUMN, *kept])})"
    latest = changes.selectExpr("*", f"{row} AS __row", f"{_order()} AS __order")
    last = _grouped(latest, fields, key, {"__last": "max_by(__row, __order)"})
    rows = last.selectExpr("__last.*").where(_KEPT)
    return rows.selectExpr(kind, *kept)


def inconsistent(changes: DataFrame, fields: Sequence[Field], key: Sequence[str]) -> DataFrame:
    """Return the keys whose inserts and retractions do not leave exactly their last row, or none.

    Args:
        changes: row kind, fields, then `ORDER`, with the old row of each update.
        fields: the fields.
        key: names of the fields that identify a row.
    """
    values = ", ".join(comparable(quote(f.name), f.type) for f in fields)
    hashed = changes.selectExpr(
        "*",
        f"{_sign('TRUE')} AS __sign",
        f"CAST(xxhash64({values}) AS DECIMAL(20, 0)) AS __hash",
        f"{_order()} AS __order",
    )
    last = f"max_by(if({_KEPT}, __hash, 0), __order)"
    totals = {"__rows": "sum(__sign)", "__left": "sum(__sign * __hash)", "__last": last}
    there = f"max_by(if({_KEPT}, 1, 0), __order)"
    grouped = _grouped(hashed, fields, key, {**totals, "__there": there})
    return grouped.where("__rows <> __there OR __left <> __last")


def history(
    changes: DataFrame, fields: Sequence[Field], key: Sequence[str], *, upserts: bool
) -> DataFrame:
    """Return all changes with their row kinds: row kind, fields, then `HISTORY`.

    Args:
        changes: row kind, fields, then `HISTORY`.
        fields: the fields.
        key: names of the fields that identify a row.
        upserts: whether the changes are upserts. The first change of a key is then an insert, and
            a delete has the row that it deletes.
    """
    names = [quote(f.name) for f in fields]
    if not upserts:
        return changes.selectExpr(ROW_KIND_COLUMN, *names, *HISTORY)
    partition = ", ".join(_identities(fields, key))
    window = f"OVER (PARTITION BY {partition} ORDER BY {', '.join(ORDER)})"
    before = changes.selectExpr("*", f"lag({_row(fields)}) {window} AS __before")
    delete, insert = RowKind.DELETE.value, RowKind.INSERT.value
    is_new = f"__before IS NULL OR __before.{ROW_KIND_COLUMN} = {delete}"
    deletes = f"{ROW_KIND_COLUMN} = {delete}"
    columns = [
        n if f.name in key else f"if({deletes}, __before.{n}, {n}) AS {n}"
        for f, n in zip(fields, names, strict=True)
    ]
    kind = f"CASE WHEN {deletes} THEN {delete}Y WHEN {is_new} THEN {insert}Y ELSE"
    return before.selectExpr(
        f"{kind} {RowKind.UPDATE_AFTER.value}Y END AS {ROW_KIND_COLUMN}", *columns, *HISTORY
    )


def difference(
    changes: DataFrame,
    fields: Sequence[Field],
    key: Sequence[str],
    project: Project,
    result: Sequence[Field],
    ignored: frozenset[str],
) -> DataFrame:
    """Return how the result of a projection differs between two moments, as a changelog.

    The old and the new row of an update follow each other.

    Args:
        changes: row kind, fields, `ORDER`, and the `reached_column` of both moments.
        fields: the fields of the changes.
        key: names of the fields that identify a row. Without a key, rows are counted.
        project: the projection and filter.
        result: its fields.
        ignored: fields of the result whose change is no change of the row.
    """
    if not key:
        return _counted_difference(changes, project, result)
    latest = changes.selectExpr("*", f"{_row(fields)} AS __row", f"{_order()} AS __order")
    both = _grouped(
        latest,
        fields,
        key,
        {
            f"__at_{place}": f"max_by(__row, __order) FILTER (WHERE {reached_column(place)})"
            for place in (0, 1)
        },
    )
    keys = [f"__key_{place}" for place in range(len(key))]
    sides = ", ".join(f"named_struct('side', {p}, 'row', __at_{p})" for p in (0, 1))
    split = both.selectExpr(*keys, f"explode(array({sides})) AS {_SIDE}")
    there = split.where(f"{_SIDE}.row IS NOT NULL").selectExpr(
        *keys, f"{_SIDE}.side AS {_SIDE}", f"{_SIDE}.row.*"
    )
    rows = project(there.where(_KEPT), [*keys, _SIDE])
    packed = rows.selectExpr(*keys, _SIDE, f"{_struct(result)} AS __row")
    found = packed.groupBy(*keys).agg(
        *(F.expr(f"first(__row) FILTER (WHERE {_SIDE} = {p})").alias(f"__at_{p}") for p in (0, 1))
    )
    compared = [f for f in result if f.name not in ignored]
    old, new = (_comparable(f"__at_{place}", compared) for place in (0, 1))
    changed = found.where(f"isnull(__at_0) <> isnull(__at_1) OR NOT ({old} <=> {new})")
    before, after = RowKind.UPDATE_BEFORE.value, RowKind.UPDATE_AFTER.value
    update = f"array({_change(before, '__at_0')}, {_change(after, '__at_1')})"
    gone = f"array({_change(RowKind.DELETE.value, '__at_0')})"
    made = f"array({_change(RowKind.INSERT.value, '__at_1')})"
    emitted = f"CASE WHEN __at_1 IS NULL THEN {gone} WHEN __at_0 IS NULL THEN {made} ELSE {update}"
    exploded = changed.selectExpr(*keys, f"explode({emitted} END) AS __change")
    names = [f"__change.row.{quote(f.name)}" for f in result]
    ordered = exploded.orderBy(*keys, "__change.kind")
    return ordered.selectExpr(f"__change.kind AS {ROW_KIND_COLUMN}", *names)


def _counted_difference(changes: DataFrame, project: Project, result: Sequence[Field]) -> DataFrame:
    flags = [reached_column(place) for place in (0, 1)]
    rows = project(changes, flags)
    weight = f"{_sign(flags[1])} - {_sign(flags[0])}"
    counted = _counted(rows, result, weight, {}).where("__n <> 0")
    kind = f"if(__n > 0, {RowKind.INSERT.value}Y, {RowKind.DELETE.value}Y) AS {ROW_KIND_COLUMN}"
    names = [quote(f.name) for f in result]
    repeated = counted.selectExpr(kind, *names, "explode(array_repeat(0, abs(__n)))")
    return repeated.selectExpr(ROW_KIND_COLUMN, *names)


def _sign(condition: str) -> str:
    """Return SQL of the change of a row's number by one change."""
    return f"if({condition}, if({_KEPT}, 1, -1), 0)"


def _counted(
    changes: DataFrame, fields: Sequence[Field], weight: str, carried: Mapping[str, str]
) -> DataFrame:
    """Sum a weight for each distinct row, in the column `__n`; combine carried columns."""
    names = [f.name for f in fields]
    weighted = changes.selectExpr("*", f"{weight} AS __weight")
    # Spark aggregates `first` of a text by sorting. It is computed for few fields.
    values = {
        place: f"first({quote(name)})"
        for place, (name, sql) in enumerate(zip(names, _identities(fields, names), strict=True))
        if sql != quote(name)
    }
    totals = {"__n": "CAST(sum(__weight) AS INT)", **carried}
    firsts = {f"__value_{place}": sql for place, sql in values.items()}
    grouped = _grouped(weighted, fields, names, {**firsts, **totals})
    columns = [
        f"{'__value' if place in values else '__key'}_{place} AS {quote(name)}"
        for place, name in enumerate(names)
    ]
    return grouped.selectExpr(*columns, *map(quote, totals))


def _grouped(
    rows: DataFrame, fields: Sequence[Field], key: Sequence[str], results: Mapping[str, str]
) -> DataFrame:
    """Group by the identity of the key, whose parts become `__key_0`, `__key_1`, ..."""
    keys = [f"__key_{place}" for place in range(len(key))]
    found = _identities(fields, key)
    named = [f"{sql} AS {name}" for sql, name in zip(found, keys, strict=True)]
    columns = [F.expr(sql).alias(name) for name, sql in results.items()]
    return rows.selectExpr("*", *named).groupBy(*keys).agg(*columns)


def _identities(fields: Sequence[Field], key: Sequence[str]) -> list[str]:
    """Return Spark SQL of the identity of each field of the key."""
    types = {f.name: f.type for f in fields}
    return [identity(quote(name), types[name]) for name in key]


def _row(fields: Sequence[Field]) -> str:
    columns = ", ".join([ROW_KIND_COLUMN, *(quote(f.name) for f in fields)])
    return f"struct({columns})"


def _struct(fields: Sequence[Field]) -> str:
    return f"struct({', '.join(quote(f.name) for f in fields)})"


def _order() -> str:
    return f"struct({', '.join(ORDER)})"


def _change(kind: int, row: str) -> str:
    return f"named_struct('kind', {kind}Y, 'row', {row})"


def _comparable(row: str, fields: Sequence[Field]) -> str:
    return f"struct({', '.join(comparable(f'{row}.{quote(f.name)}', f.type) for f in fields)})"
