"""Nodes that Flink has and sqlglot has not; everything else in a tree is sqlglot's.

sqlglot's own function nodes are not used: they carry the meaning of other databases' functions.
"""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from streamtable.core.options import Given
from streamtable.core.types import DataType
from streamtable.sql.place import place_of


class FlinkType(exp.Expression):
    """A type in an expression; `this` is the `DataType`."""

    @property
    def data_type(self) -> DataType:
        """The type."""
        return cast("DataType", self.this)


class FlinkCall(exp.Expression, exp.Condition):
    """A call of any function, as written.

    Args:
        this: name in upper case.
        expressions: arguments in order.
        distinct: True for `f(DISTINCT x)`.
        filter: condition of `FILTER (WHERE ...)`.
        order: `exp.Order` of `WITHIN GROUP (ORDER BY ...)`.
        nulls: `IGNORE` or `RESPECT`.
        clauses: `CallClause`s of the JSON functions.
        function: the user's function that is meant, once the catalog has told; None: a built-in.
        database: the one in use, once the catalog has told; for CURRENT_DATABASE.
    """

    arg_types = {  # noqa: RUF012 (sqlglot's way to declare arguments)
        "this": True,
        "expressions": False,
        "distinct": False,
        "filter": False,
        "order": False,
        "nulls": False,
        "clauses": False,
        "function": False,
        "database": False,
    }


class GivenRows(exp.Expression, exp.Query):
    """The rows of a table that does not change, given by a program rather than by SQL.

    Args:
        this: its name, as plans show it.
        fields: names and types of its columns.
        rows: what holds the rows; only operators look into it.
    """

    arg_types = {"this": True, "fields": True, "rows": True}  # noqa: RUF012


class CallClause(exp.Expression):
    """A clause inside a call: `RETURNING INT`, `NULL ON EMPTY`; `this` names it."""

    arg_types = {"this": True, "expression": True}  # noqa: RUF012


class TemporalLiteral(exp.Expression, exp.Condition):
    """`DATE '..'`, `TIME '..'` or `TIMESTAMP '..'`: `this` is the checked text, `to` the type."""

    arg_types = {"this": True, "to": True}  # noqa: RUF012


class IntervalLiteral(exp.Expression, exp.Condition):
    """An interval.

    Args:
        this: text between the quotes, with the sign before them.
        unit: `SECOND`, `MINUTE TO SECOND`, ...
        value: months of a year-month interval, microseconds of a day-time interval.
        to: `FlinkType` of one of the two interval types.
    """

    arg_types = {"this": True, "unit": True, "value": True, "to": True}  # noqa: RUF012


class HintOption(exp.Expression):
    """`'key' = 'value'` in a hint: `this` is the key, `expression` a literal."""

    arg_types = {"this": True, "expression": True}  # noqa: RUF012


class HintNode(exp.Expression):
    """A hint: `this` is its name, `expressions` are `HintOption`s and identifiers."""

    arg_types = {"this": True, "expressions": False}  # noqa: RUF012

    @property
    def options(self) -> dict[str, Given]:
        """Its options; each stands where its key does."""
        return {
            option.name: Given(option.expression.name, place_of(option))
            for option in self.expressions
            if isinstance(option, HintOption)
        }


class TableFunction(exp.Expression):
    """A function in FROM: `TABLE(f(...))`, `LATERAL TABLE(f(...))` or `f(...)`."""

    arg_types = {"this": True, "alias": False, "lateral": False}  # noqa: RUF012


class TableArgument(exp.Expression):
    """A table handed to a function: `TABLE t [PARTITION BY ...] [ORDER BY ...]`."""

    arg_types = {"this": True, "partition_by": False, "order": False}  # noqa: RUF012
