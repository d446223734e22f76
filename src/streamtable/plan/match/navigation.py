"""Expressions over the rows of a match: each reference to rows becomes a column.

`B.price > 2 * LAST(A.price, 1)` becomes `x > 2 * y` over two values, the price of the last row of B
and that of the row before the last row of A. The meaning is that of Flink's *Pattern Recognition*
page; the messages are those of Flink 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field
from streamtable.plan.aggregate.plan_aggregate import Inputs, call_of, is_aggregate
from streamtable.plan.binding.expressions import Input, InputField
from streamtable.plan.binding.names import column as bound_column
from streamtable.plan.binding.python_calls import called_aggregate
from streamtable.plan.match.value import MatchValue
from streamtable.plan.query.relation import unique_names
from streamtable.sql.nodes import FinalCall, FlinkCall
from streamtable.sql.place import place_of

_LOGICAL = ("FIRST", "LAST")
_PHYSICAL = ("PREV", "NEXT")
_LACKING = ("CLASSIFIER", "MATCH_NUMBER")


@dataclass(frozen=True)
class _Place:
    """The row that a column is read from: counted from the first or the last row of a variable."""

    first: bool = False
    offset: int = 0


@dataclass
class Navigator:
    """Rewrites the expressions of MATCH_RECOGNIZE.

    Attributes:
        columns: the columns of the relation.
        inputs: the columns that aggregates need.
        least: the least number of rows of each pattern variable.
        current: the variable that DEFINE is about; None in MEASURES.
        values: the values that the rewritten expressions read, by what they are.
    """

    columns: Sequence[InputField]
    inputs: Inputs
    least: Mapping[str, int]
    current: str | None = None
    values: dict[object, MatchValue] = field(default_factory=dict)

    def rewritten(self, node: exp.Expr, place: _Place | None = None) -> exp.Expr:
        """Return the expression with columns instead of references to rows.

        Raises:
            StreamtableError: INVALID_MATCH for what Flink refuses; UNKNOWN_COLUMN.
        """
        if isinstance(node, exp.Column):
            return self._column(node, place or _Place())
        if isinstance(node, FinalCall):
            if self.current is not None:
                raise invalid(node, "FINAL is not allowed in DEFINE")
            return self.rewritten(node.this, place)
        if isinstance(node, FlinkCall) and node.name in _LACKING:
            raise invalid(node, f"{node.name} is not supported, as in Flink")
        if isinstance(node, FlinkCall) and node.name in (*_LOGICAL, *_PHYSICAL):
            return self._moved(node, place)
        if isinstance(node, FlinkCall) and is_aggregate(node):
            if place is not None:
                raise invalid(node, "an aggregate inside FIRST or LAST is not supported")
            return self._aggregate(node)
        if isinstance(node, exp.Query | exp.Subquery | exp.Window):
            what = "OVER" if isinstance(node, exp.Window) else "a subquery"
            raise invalid(node, f"{what} is not supported in DEFINE and MEASURES")
        return self._copied(node, place)

    def _copied(self, node: exp.Expr, place: _Place | None) -> exp.Expr:
        copy = node.copy()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                copy.set(key, self.rewritten(value, place))
            elif isinstance(value, list):
                copy.set(
                    key,
                    [self.rewritten(v, place) if isinstance(v, exp.Expr) else v for v in value],
                )
        return copy

    def _moved(self, node: FlinkCall, outer: _Place | None) -> exp.Expr:
        """Rewrite FIRST, LAST, and PREV or NEXT by no rows."""
        offset = _offset(node)
        if node.name in _PHYSICAL:
            if self.current is None:
                raise invalid(node, f"{node.name} is not allowed in MEASURES")
            if offset:
                raise invalid(node, "Flink does not support physical offsets within partition")
            return self.rewritten(node.expressions[0], _Place())
        if outer is not None:
            raise invalid(node, f"{node.name} inside FIRST or LAST is not supported")
        self._variable_of(node)
        if node.find(exp.Column) is None:
            raise invalid(node, f"{node.name} takes an expression with a column")
        return self.rewritten(node.expressions[0], _Place(node.name == "FIRST", offset))

    def _variable_of(self, node: FlinkCall) -> str | None:
        """Return the variable of all columns in a call; None for all rows.

        Raises:
            StreamtableError: INVALID_MATCH if there are several.
        """
        parts = (p for a in node.expressions for p in a.find_all(exp.Column))
        found = list(dict.fromkeys(self._split(part)[0] for part in parts))
        if len(found) > 1:
            named = " and ".join(name or "all rows" for name in found)
            raise invalid(node, f"{node.name} must read rows of one pattern variable, not {named}")
        return found[0] if found else None

    def plain(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over one row, without pattern variables."""
        return node.copy().transform(self._unqualified)

    def _split(self, node: exp.Column) -> tuple[str | None, list[str]]:
        """Return the pattern variable of a column, and the names behind it."""
        names = [part.name for part in node.parts]
        if len(names) > 1 and names[0] in self.least:
            return names[0], names[1:]
        return None, names

    def _column(self, node: exp.Column, place: _Place) -> exp.Expr:
        variable, names = self._split(node)
        found = self._input(node, names)
        key = (variable, found.field.name, place)
        if key not in self.values:
            edge, extra = ("FIRST" if place.first else "LAST"), place.offset
            text = f"{variable}.{found.name}" if variable else found.name
            self._add(
                key,
                f"{edge}({text}{f', {extra}' if extra else ''})",
                found.field,
                MatchValue(found.field, variable, found.field.name, place.first, extra),
                sure=extra == 0 and self._has_rows(variable, first=place.first),
            )
        rest: exp.Expr = self._value(key, node)
        for name in names[1:]:
            rest = exp.Dot(this=rest, expression=exp.to_identifier(name, quoted=True))
        return rest

    def _input(self, node: exp.Column, names: Sequence[str]) -> InputField:
        """Return the column of the relation that the first name means."""
        bound_column(Input(tuple(self.columns)), names[:1], place_of(node))
        return next(c for c in self.columns if c.name == names[0] and not c.merged)

    def _has_rows(self, variable: str | None, *, first: bool = False) -> bool:
        """Return whether the variable has a row in any case."""
        if self.current is not None:
            return variable is None or (variable == self.current and not first)
        return variable is None or self.least[variable] > 0

    def _aggregate(self, node: FlinkCall) -> exp.Expr:
        if node.args.get("distinct"):
            raise invalid(node, "DISTINCT aggregates are not supported, as in Flink")
        if node.args.get("filter"):
            raise invalid(node, "an aggregate with FILTER is not supported")
        if called_aggregate(node) is not None:
            raise invalid(node, f"the Python aggregate function {node.name} is not supported")
        variable = self._variable_of(node)
        if node.find(exp.Column) is None and node.find(exp.Star) is None:
            raise invalid(node, f"{node.name} must read a column or, as COUNT(*), all rows")
        plain = self.plain(node)
        key = (variable, plain)
        if key not in self.values:
            call = call_of(plain, self.inputs, [], grouped=self._has_rows(variable))
            text = f"{variable}.{call.output.name}" if variable else call.output.name
            self._add(key, text, call.output, MatchValue(call.output, variable, call=call))
        return self._value(key, node)

    def _unqualified(self, part: exp.Expr) -> exp.Expr:
        """Return a column without its pattern variable."""
        if isinstance(part, FlinkCall) and part.name in (*_LOGICAL, *_PHYSICAL):
            raise invalid(part, f"{part.name} inside an aggregate is not supported")
        if not isinstance(part, exp.Column):
            return part
        _, (name, *fields) = self._split(part)
        rest: exp.Expr = exp.column(name, quoted=True)
        rest.meta.update(part.meta)
        for inner in fields:
            rest = exp.Dot(this=rest, expression=exp.to_identifier(inner, quoted=True))
        return rest

    def _add(
        self, key: object, name: str, kind: Field, value: MatchValue, *, sure: bool = True
    ) -> None:
        taken = [known.output.name for known in self.values.values()]
        nullable = kind.type.nullable or not sure
        output = Field(unique_names([*taken, name])[-1], kind.type.with_nullable(nullable))
        self.values[key] = replace(value, output=output)

    def _value(self, key: object, node: exp.Expr) -> exp.Column:
        column = exp.column(self.values[key].output.name, quoted=True)
        column.meta.update(node.meta)
        return column


def is_newest(value: MatchValue, variable: str) -> bool:
    """Return whether a value in the condition of a variable is a column of the newest row."""
    return (
        value.call is None
        and value.variable in (variable, None)
        and not value.first
        and value.offset == 0
    )


def invalid(node: exp.Expr, reason: str, hint: str | None = None) -> StreamtableError:
    """Return the error for a clause that Flink refuses."""
    return StreamtableError(Condition.INVALID_MATCH, at=place_of(node), reason=reason, hint=hint)


def _offset(node: FlinkCall) -> int:
    if not 1 <= len(node.expressions) <= 2:
        raise invalid(node, f"{node.name} takes a column and a number of rows")
    if len(node.expressions) == 1:
        return 1 if node.name in _PHYSICAL else 0
    number = node.expressions[1]
    if not isinstance(number, exp.Literal) or number.is_string or not number.name.isdigit():
        raise invalid(number, f"the number of rows of {node.name} must be a whole number")
    return int(number.name)
