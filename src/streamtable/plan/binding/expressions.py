"""Binder: translates sqlglot expressions of our dialect to Spark SQL with Flink's types.

`Binder.bind` walks a tree. The modules of `binding` implement the operators, and `functions`
implements the functions. The results assume the session settings that `binding` describes.
"""

from __future__ import annotations

from functools import singledispatchmethod

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BOOLEAN, Root, time
from streamtable.plan.binding.access import field_of, item_of
from streamtable.plan.binding.arithmetic import arithmetic, negated
from streamtable.plan.binding.bound import Bound, Input, InputField, derived, symbol
from streamtable.plan.binding.casts import explicit_cast, implicit_cast, try_cast
from streamtable.plan.binding.coercion import common_type
from streamtable.plan.binding.comparisons import (
    all_of,
    any_of,
    between,
    compare,
    is_in,
    like,
    negation,
    null_safe,
)
from streamtable.plan.binding.conditional import case, truth
from streamtable.plan.binding.literals import (
    binary,
    boolean,
    interval,
    literal,
    null,
    temporal,
)
from streamtable.plan.binding.names import column
from streamtable.plan.binding.periods import overlaps
from streamtable.plan.binding.python_calls import calls_aggregate
from streamtable.plan.binding.user_calls import bind_user_call
from streamtable.plan.functions import bind_call
from streamtable.plan.functions.json import with_clauses
from streamtable.sql.nodes import CallClause, FlinkCall, FlinkType, IntervalLiteral, TemporalLiteral
from streamtable.sql.place import place_of

__all__ = [
    "Binder",
    "Bound",
    "Input",
    "InputField",
    "common_type",
    "explicit_cast",
    "implicit_cast",
    "try_cast",
]

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
}
_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_NOT_YET: dict[type[exp.Expr], str] = {
    exp.Subquery: "a scalar subquery",
    exp.Exists: "EXISTS beside OR, or outside of WHERE and HAVING,",
    exp.Window: "an OVER window here",
    exp.Kwarg: "a named argument",
    exp.Any: "ANY or SOME beside OR, or outside of WHERE and HAVING,",
    exp.All: "ALL beside OR, or outside of WHERE and HAVING,",
}


class Binder:
    """Bind expressions over one input.

    Args:
        inputs: the columns that names can refer to.
    """

    def __init__(self, inputs: Input) -> None:
        self._inputs = inputs

    def bind(self, node: exp.Expr) -> Bound:
        """Bind an expression with its type.

        Raises:
            StreamtableError: UNKNOWN_COLUMN, AMBIGUOUS_COLUMN, UNKNOWN_FUNCTION, ARGUMENT_MISMATCH,
                CAST_UNSUPPORTED, AGGREGATE_MISPLACED, LITERAL_OUT_OF_RANGE or NOT_YET, with the
                place of the wrong part.
        """
        at = place_of(node)
        kind = type(node)
        try:
            if kind in _ARITHMETIC:
                return arithmetic(_ARITHMETIC[kind], *self._both(node), at)
            if kind in _COMPARISONS:
                return self._comparison(_COMPARISONS[kind], node, at)
            return self._rule(node, at)
        except StreamtableError as error:
            raise error.located(at) from None

    @singledispatchmethod
    def _rule(self, node: exp.Expr, at: Span | None) -> Bound:
        """Bind a node by its class; this default is for unsupported classes."""
        what = _NOT_YET.get(type(node), f"an expression of kind {node.key.upper()}")
        raise StreamtableError(Condition.NOT_YET, at=at, what=what)

    def _both(self, node: exp.Expr) -> tuple[Bound, Bound]:
        return self.bind(node.this), self.bind(node.args["expression"])

    @_rule.register
    def _column(self, node: exp.Column, at: Span | None) -> Bound:
        return column(self._inputs, [part.name for part in node.parts], at)

    def _comparison(self, operator: str, node: exp.Expr, at: Span | None) -> Bound:
        left, right = node.this, node.args["expression"]
        if operator in ("=", "<>") and _parts(left) is not None:
            same = self._equal(left, right, at)
            return same if operator == "=" else negation(same).located(at)
        return compare(operator, *self._both(node), at)

    def _equal(self, left: exp.Expr, right: exp.Expr, at: Span | None) -> Bound:
        """Bind `(a, b) = (c, d)` as `a = c AND b = d`; NULL if one of these is NULL."""
        ours, theirs = _parts(left), _parts(right)
        if ours is None or theirs is None or len(ours) != len(theirs):
            return compare("=", self.bind(left), self.bind(right), at)
        pairs = zip(ours, theirs, strict=True)
        return all_of([self._equal(a, b, at) for a, b in pairs]).located(at)

    @_rule.register
    def _literal(self, node: exp.Literal, at: Span | None) -> Bound:
        return literal(node, at)

    @_rule.register
    def _boolean(self, node: exp.Boolean, at: Span | None) -> Bound:
        return boolean(bool(node.this), at)

    @_rule.register
    def _null(self, _node: exp.Null, at: Span | None) -> Bound:
        return null(at)

    @_rule.register
    def _binary(self, node: exp.HexString, at: Span | None) -> Bound:
        return binary(node, at)

    @_rule.register
    def _temporal(self, node: TemporalLiteral, at: Span | None) -> Bound:
        return temporal(node, at)

    @_rule.register
    def _interval(self, node: IntervalLiteral, at: Span | None) -> Bound:
        return interval(node, at)

    @_rule.register
    def _paren(self, node: exp.Paren, _at: Span | None) -> Bound:
        return self.bind(node.this)

    @_rule.register
    def _dot(self, node: exp.Dot, at: Span | None) -> Bound:
        return field_of(self.bind(node.this), node.expression.name, at)

    @_rule.register
    def _bracket(self, node: exp.Bracket, at: Span | None) -> Bound:
        (index,) = node.expressions
        return item_of(self.bind(node.this), self.bind(index), at)

    @_rule.register
    def _negative(self, node: exp.Neg, at: Span | None) -> Bound:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            return literal(node.this, at, negative=True)
        return negated(self.bind(node.this), at)

    @_rule.register
    def _not(self, node: exp.Not, at: Span | None) -> Bound:
        operand = truth(self.bind(node.this), "NOT")
        return negation(operand).located(at)

    @_rule.register
    def _logical(self, node: exp.And | exp.Or, at: Span | None) -> Bound:
        word = "AND" if isinstance(node, exp.And) else "OR"
        # Long conditions nest deeply to the left. A loop avoids deep recursion.
        chain: list[exp.Expr] = []
        rest: exp.Expr = node
        while type(rest) is type(node):
            chain.append(rest.args["expression"])
            rest = rest.this
        operands = [truth(self.bind(part), word) for part in (rest, *reversed(chain))]
        return (all_of if word == "AND" else any_of)(operands).located(at)

    @_rule.register
    def _is(self, node: exp.Is, at: Span | None) -> Bound:
        operand = self.bind(node.this)
        wanted = node.args["expression"]
        kind = BOOLEAN.with_nullable(False)
        if isinstance(wanted, exp.Null):
            return derived(f"({operand.sql} IS NULL)", kind, (operand,)).located(at)
        operand = truth(operand, "IS")
        word = "UNKNOWN" if isinstance(wanted, exp.Var) else str(wanted.this).upper()
        return derived(f"({operand.sql} IS {word})", kind, (operand,)).located(at)

    @_rule.register
    def _concat(self, node: exp.DPipe, at: Span | None) -> Bound:
        return bind_call("||", self._both(node), at)

    @_rule.register
    def _distinct(self, node: exp.NullSafeEQ | exp.NullSafeNEQ, at: Span | None) -> Bound:
        return null_safe(*self._both(node), at, distinct=isinstance(node, exp.NullSafeNEQ))

    @_rule.register
    def _between(self, node: exp.Between, at: Span | None) -> Bound:
        value, low, high = (self.bind(node.args[key]) for key in ("this", "low", "high"))
        return between(value, low, high, at, symmetric=bool(node.args.get("symmetric")))

    @_rule.register
    def _in(self, node: exp.In, at: Span | None) -> Bound:
        if node.args.get("query") is not None:
            raise StreamtableError(
                Condition.NOT_YET,
                at=at,
                what="IN with a subquery beside OR, or outside of WHERE and HAVING,",
            )
        options = node.expressions
        if _parts(node.this) is not None:
            return any_of([self._equal(node.this, option, at) for option in options]).located(at)
        return is_in(self.bind(node.this), [self.bind(option) for option in options], at)

    @_rule.register
    def _like(self, node: exp.Like, at: Span | None) -> Bound:
        return like(*self._both(node), None, at)

    @_rule.register
    def _escape(self, node: exp.Escape, at: Span | None) -> Bound:
        if isinstance(node.this, exp.SimilarTo):
            escape = self.bind(node.expression)
            return bind_call("SIMILAR TO", [*self._both(node.this), escape], at)
        return like(*self._both(node.this), self.bind(node.expression), at)

    @_rule.register
    def _similar(self, node: exp.SimilarTo, at: Span | None) -> Bound:
        return bind_call("SIMILAR TO", self._both(node), at)

    @_rule.register
    def _overlaps(self, node: exp.Overlaps, at: Span | None) -> Bound:
        return overlaps(self._period(node.this), self._period(node.expression), at)

    def _period(self, node: exp.Expr) -> tuple[Bound, Bound]:
        parts = _parts(node)
        if parts is None or len(parts) != 2:
            what = "OVERLAPS without (start, end) on both sides"
            raise StreamtableError(Condition.NOT_YET, at=place_of(node), what=what)
        return self.bind(parts[0]), self.bind(parts[1])

    @_rule.register
    def _case(self, node: exp.Case, at: Span | None) -> Bound:
        operand = self.bind(node.this) if node.this is not None else None
        branches = []
        for branch in node.args["ifs"]:
            condition = self.bind(branch.this)
            if operand is not None:
                condition = compare("=", operand, condition, place_of(branch.this))
            branches.append((condition, self.bind(branch.args["true"])))
        default = node.args.get("default")
        return case(branches, self.bind(default) if default is not None else None, null(at), at)

    @_rule.register
    def _cast(self, node: exp.Cast | exp.TryCast, at: Span | None) -> Bound:
        convert = try_cast if isinstance(node, exp.TryCast) else explicit_cast
        target = node.args["to"].data_type
        if target.root is Root.TIME:
            # Flink's planner supports only TIME with whole seconds.
            target = time(0)
        return convert(self.bind(node.this), target).located(at)

    @_rule.register
    def _call(self, node: FlinkCall, at: Span | None) -> Bound:
        if calls_aggregate(node):
            raise StreamtableError(
                Condition.AGGREGATE_MISPLACED,
                at=at,
                function=node.name,
                clause="an expression over single rows",
                hint="write a condition on groups in HAVING, after GROUP BY",
            )
        for clause in ("distinct", "filter", "order", "nulls"):
            if node.args.get(clause):
                raise StreamtableError(
                    Condition.NOT_YET, at=at, what=f"{node.name} with its clause"
                )
        function = node.args.get("function")
        if function is not None:
            return bind_user_call(function, [self.bind(a) for a in node.expressions], at)
        arguments = [self._argument(a) for a in node.expressions]
        if "database" in node.args and not arguments:
            arguments = [symbol(node.args["database"], at)]
        clauses = {c.name: self._clause(c) for c in node.args.get("clauses") or ()}
        return bind_call(node.name, with_clauses(node.name, arguments, clauses), at)

    def _clause(self, node: CallClause) -> Bound:
        value = node.args["expression"]
        if isinstance(value, FlinkType):
            return Bound("", value.data_type, at=place_of(node))
        return self._argument(value)

    def _argument(self, node: exp.Expr) -> Bound:
        if isinstance(node, exp.Var):
            return symbol(node.name, place_of(node))
        return self.bind(node)

    @_rule.register
    def _tuple(self, node: exp.Tuple, at: Span | None) -> Bound:
        return bind_call("ROW", [self.bind(e) for e in node.expressions], at)


def _parts(node: exp.Expr) -> list[exp.Expr] | None:
    """Return the parts of a row value, `(a, b)` or `ROW(a, b)`; None for other expressions."""
    written = isinstance(node, exp.Tuple) or (isinstance(node, FlinkCall) and node.name == "ROW")
    return node.expressions if written else None
