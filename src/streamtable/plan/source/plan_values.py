"""Plan VALUES and SELECT without FROM: a leaf of the plan with literal rows."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import DataType, Field
from streamtable.plan.binding.expressions import Binder, Bound, Input, common_type, explicit_cast
from streamtable.plan.query.relation import Relation, of_node
from streamtable.plan.source.values import Values
from streamtable.sql.place import place_of


def plan_values(query: exp.Values) -> Relation:
    """Plan `VALUES (...), (...)`; the columns are named `EXPR$0`, `EXPR$1`, ...

    Raises:
        StreamtableError: COLUMN_COUNT_MISMATCH or COLUMN_TYPE_MISMATCH if the rows differ, or an
            error of an expression.
    """
    binder = Binder(Input(()))
    first, *others = query.expressions
    for other in others:
        if len(other.expressions) != len(first.expressions):
            raise StreamtableError(
                Condition.COLUMN_COUNT_MISMATCH,
                at=place_of(other),
                table="the first row of VALUES",
                expected=len(first.expressions),
                columns="",
                found=len(other.expressions),
            )
    rows = [[binder.bind(value) for value in row.expressions] for row in query.expressions]
    columns = list(zip(*rows, strict=True))
    fields = tuple(Field(f"EXPR${i}", _common(i, column)) for i, column in enumerate(columns))
    cast = [
        [explicit_cast(value, field.type).sql for value in column]
        for field, column in zip(fields, columns, strict=True)
    ]
    return of_node(Values(fields, tuple(zip(*cast, strict=True))))


def one_row() -> Relation:
    """Return the input of a SELECT without FROM: one row without columns."""
    return of_node(Values((), ((),)))


def _common(position: int, column: Sequence[Bound]) -> DataType:
    """Return the common type of one column of all rows; nullable if a value of it is."""
    kind = common_type([value.type for value in column])
    if kind is None:
        first = column[0].type
        other = next(v for v in column if common_type((first, v.type)) is None)
        raise StreamtableError(
            Condition.COLUMN_TYPE_MISMATCH,
            at=other.at,
            column=f"EXPR${position}",
            table="VALUES",
            expected=first,
            found=other.type,
            hint="write CAST(... AS type) in the rows that differ",
        )
    return kind
