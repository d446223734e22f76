"""Arguments of an aggregate call: the values as one column, and further parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from streamtable.catalog.functions import PythonFunction
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import CHARACTER, NUMERIC, DataType, Field, Root, row
from streamtable.plan.aggregate.percentile import percentages_of, weighted
from streamtable.plan.binding.bound import Bound, derived, text_literal
from streamtable.plan.binding.python_calls import python_arguments
from streamtable.plan.functions import AggregateFunction
from streamtable.plan.functions.aggregate import Form
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

_JSON_VALUES = frozenset({*CHARACTER, *NUMERIC, Root.BOOLEAN, Root.NULL})
_JSON_CALLS = frozenset({"JSON_OBJECT", "JSON_ARRAY", "JSON_OBJECTAGG", "JSON_ARRAYAGG"})


@dataclass(frozen=True)
class Taken:
    """Arguments of an aggregate call.

    Attributes:
        values: the values as one column; None for COUNT(*).
        types: types of the values as written.
        parameters: further parameters of the operator.
        many: whether the result is an array of the function's results.
    """

    values: Bound | None
    types: tuple[DataType, ...]
    parameters: tuple[str, ...] = ()
    many: bool = False


def taken_by(
    function: AggregateFunction, node: FlinkCall, bind: Callable[[exp.Expr], Bound]
) -> Taken:
    """Bind the arguments of a call by the rules of its form.

    A NULL that counts as a value is wrapped in a row of one column, because aggregates ignore a
    plain NULL.

    Raises:
        StreamtableError: NOT_YET for a clause that the function does not accept, or for values that
            it cannot convert to JSON; ARGUMENT_MISMATCH.
    """
    arguments = [a for a in node.expressions if not isinstance(a, exp.Star)]
    if function.form is Form.TEXTS:
        return _texts(function, node, arguments, bind)
    if function.form is Form.PERCENTILE:
        return _percentile(function, node, arguments, bind)
    values = [bind(argument) for argument in arguments]
    types = tuple(value.type for value in values)
    _check_clauses(function, node)
    match function.form:
        case Form.ITEMS:
            one = _one(function, node, values)
            return Taken(one if node.args.get("nulls") == "IGNORE" else as_row(values), types)
        case Form.JSON_ARRAY:
            treatment = _on_null(node, "ABSENT")
            one = _json(function, node, _one(function, node, values))
            parameters = (treatment, *_raw(arguments[0]))
            return Taken(as_row(values) if treatment == "NULL" else one, types, parameters)
        case Form.JSON_OBJECT:
            return _json_object(function, node, arguments, values)
        case _:
            return Taken(values[0] if len(values) == 1 else None, types)


def taken_by_python(
    function: PythonFunction, node: FlinkCall, bind: Callable[[exp.Expr], Bound]
) -> Taken:
    """Bind the arguments of a call of a Python aggregate function.

    The function also gets NULLs, so the arguments are wrapped in a row. The type of the accumulator
    is a parameter, because it is part of the state.

    Raises:
        StreamtableError: NOT_YET for another clause than DISTINCT and FILTER; ARGUMENT_MISMATCH.
    """
    for clause in ("order", "nulls", "clauses"):
        if node.args.get(clause):
            raise _clause_not_yet(node)
    given = [bind(argument) for argument in node.expressions]
    values = python_arguments(function, given, place_of(node))
    accumulator = function.signature.accumulator
    assert accumulator is not None, "an aggregate function"  # noqa: S101
    types = tuple(value.type for value in values)
    return Taken(as_row(values) if values else None, types, (accumulator.sql(),))


def _texts(
    function: AggregateFunction,
    node: FlinkCall,
    arguments: Sequence[exp.Expr],
    bind: Callable[[exp.Expr], Bound],
) -> Taken:
    _check_clauses(function, node)
    separator = ","
    if len(arguments) == 2:
        literal = arguments[1]
        if not isinstance(literal, exp.Literal) or not literal.is_string:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=place_of(literal),
                function=function.name,
                expected="a separator in quotes",
                found=flink_sql(literal),
                hint=r"U&'\000A' is a line break" if isinstance(literal, FlinkCall) else None,
            )
        separator = literal.name
        arguments = arguments[:1]
    values = [bind(argument) for argument in arguments]
    types = tuple(value.type for value in values)
    return Taken(values[0] if len(values) == 1 else None, types, (separator,))


def _percentile(
    function: AggregateFunction,
    node: FlinkCall,
    arguments: Sequence[exp.Expr],
    bind: Callable[[exp.Expr], Bound],
) -> Taken:
    _check_clauses(function, node)
    values = [bind(argument) for argument in (*arguments[:1], *arguments[2:])]
    found = weighted(values) if len(arguments) in (2, 3) else None
    if found is None:
        raise _mismatch(function, node, function.expected, values)
    parameters = percentages_of(node, arguments[1])
    types = (values[0].type.with_nullable(True),)
    return Taken(found, types, parameters, many=parameters[0] == "ARRAY")


def _json_object(
    function: AggregateFunction,
    node: FlinkCall,
    arguments: Sequence[exp.Expr],
    values: Sequence[Bound],
) -> Taken:
    key, value = values if len(values) == 2 else (None, None)
    if key is None or value is None or key.type.root not in CHARACTER:
        raise _mismatch(function, node, "a string as KEY and one VALUE", values)
    _json(function, node, value)
    parameters = (_on_null(node, "NULL"), *_raw(arguments[1]))
    return Taken(as_row(values), (value.type,), parameters)


def _check_clauses(function: AggregateFunction, node: FlinkCall) -> None:
    takes = {
        "order": False,
        "nulls": function.form is Form.ITEMS,
        "clauses": function.form in (Form.JSON_ARRAY, Form.JSON_OBJECT),
    }
    for clause, fits in takes.items():
        if node.args.get(clause) and not fits:
            raise _clause_not_yet(node)


def _clause_not_yet(node: FlinkCall) -> StreamtableError:
    what = f"{node.name} with such a clause"
    return StreamtableError(Condition.NOT_YET, at=place_of(node), what=what)


def _on_null(node: FlinkCall, default: str) -> str:
    clauses = [c.args["expression"].name for c in node.args.get("clauses") or ()]
    return str(clauses[0]) if clauses else default


def _raw(argument: exp.Expr) -> tuple[str, ...]:
    """Return whether the values are JSON texts already, as results of JSON functions are."""
    is_json = isinstance(argument, FlinkCall) and argument.name in _JSON_CALLS
    return ("RAW",) if is_json else ()


def _json(function: AggregateFunction, node: FlinkCall, value: Bound) -> Bound:
    if value.type.root not in _JSON_VALUES:
        raise StreamtableError(
            Condition.NOT_YET,
            at=place_of(node),
            what=f"{function.name} of {value.type.with_nullable(True)}",
            hint="cast the value to STRING",
        )
    return value


def _one(function: AggregateFunction, node: FlinkCall, values: Sequence[Bound]) -> Bound:
    if len(values) != 1:
        raise _mismatch(function, node, function.expected, values)
    return values[0]


def _mismatch(
    function: AggregateFunction, node: FlinkCall, expected: str, values: Sequence[Bound]
) -> StreamtableError:
    return StreamtableError(
        Condition.ARGUMENT_MISMATCH,
        at=place_of(node),
        function=function.name,
        expected=expected,
        found=", ".join(value.type.sql() for value in values),
    )


def as_row(values: Sequence[Bound]) -> Bound:
    """Combine values to one row, which is not NULL even if all values are NULL."""
    names = [f"v{i}" for i in range(len(values))]
    pairs = ", ".join(
        f"{text_literal(name)}, {value.sql}" for name, value in zip(names, values, strict=True)
    )
    fields = [Field(name, value.type) for name, value in zip(names, values, strict=True)]
    return derived(f"named_struct({pairs})", row(*fields).with_nullable(False), values)
