"""sqlglot nodes for constructs of Flink SQL that sqlglot lacks.

sqlglot's own function nodes are not used, because they have the semantics of other databases.
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
    """A function call, as written.

    Args:
        this: name in upper case.
        expressions: arguments in order.
        distinct: True for `f(DISTINCT x)`.
        filter: condition of `FILTER (WHERE ...)`.
        order: `exp.Order` of `WITHIN GROUP (ORDER BY ...)`.
        nulls: `IGNORE` or `RESPECT`.
        clauses: `CallClause`s of the JSON functions.
        function: the user-defined function, set by the catalog; None: a built-in function.
        database: the current database, set by the catalog; for CURRENT_DATABASE.
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
    """Rows of a static table that a program passes instead of SQL.

    Args:
        this: name of the table in plans.
        fields: names and types of its columns.
        rows: container of the rows; only operators read it.
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
        this: text between the quotes, with the sign before the quotes.
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
        """Options of the hint, each with the place of its key."""
        return {
            option.name: Given(option.expression.name, place_of(option))
            for option in self.expressions
            if isinstance(option, HintOption)
        }


class TableFunction(exp.Expression):
    """A function in FROM: `TABLE(f(...))`, `LATERAL TABLE(f(...))` or `f(...)`."""

    arg_types = {"this": True, "alias": False, "lateral": False}  # noqa: RUF012


class TableArgument(exp.Expression):
    """A table argument of a function: `TABLE t [PARTITION BY ...] [ORDER BY ...]`."""

    arg_types = {"this": True, "partition_by": False, "order": False}  # noqa: RUF012


class JoinGroup(exp.Expression):
    """A join in parentheses in FROM; Flink gives it no alias.

    Args:
        this: the first relation.
        joins: `exp.Join`s, in order.
    """

    arg_types = {"this": True, "joins": True}  # noqa: RUF012


class MatchRecognize(exp.Expression):
    """`relation MATCH_RECOGNIZE (...)` in FROM.

    Args:
        this: the relation before it, without alias.
        partition_by: expressions of PARTITION BY.
        order: `exp.Order`.
        measures: `exp.Alias`es.
        skip: `MatchSkip` of AFTER MATCH.
        pattern: `PatternVariable`s in order.
        within: the interval.
        define: `exp.Alias`es: a condition with the name of its variable.
        alias: `exp.TableAlias`.
    """

    arg_types = {  # noqa: RUF012
        "this": True,
        "partition_by": False,
        "order": False,
        "measures": False,
        "skip": False,
        "pattern": True,
        "within": False,
        "define": True,
        "alias": False,
    }


class PatternVariable(exp.Expression):
    """A variable of PATTERN with its quantifier.

    Args:
        this: the identifier.
        minimum: the least number of rows.
        maximum: the largest number of rows; None: no limit.
        reluctant: whether a `?` follows the quantifier.
    """

    arg_types = {  # noqa: RUF012
        "this": True,
        "minimum": True,
        "maximum": False,
        "reluctant": False,
    }


class MatchSkip(exp.Expression):
    """`AFTER MATCH SKIP ...`: `this` is the keyword text, `variable` the variable, if any."""

    arg_types = {"this": True, "variable": False}  # noqa: RUF012


class FinalCall(exp.Expression, exp.Condition):
    """`FINAL f(...)` in MATCH_RECOGNIZE; `this` is the call."""

    arg_types = {"this": True}  # noqa: RUF012
