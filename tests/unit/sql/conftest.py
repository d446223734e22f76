"""Write trees as one line, so that the expectations of tests are readable."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import exp

from streamtable.sql import nodes

Shape = Callable[[exp.Expr], str]


def _shape(node: exp.Expr) -> str:
    """Return a tree as one line, such as `(Add a (Mul b 2))`.

    Operators have the names of their classes; calls are `NAME[...]`, names and literals are bare.
    """
    match node:
        case nodes.FlinkCall():
            extras = [
                f"{name}={_value(value)}"
                for name, value in node.args.items()
                if value and name not in ("this", "expressions")
            ]
            return f"{node.name}[{', '.join([*map(_shape, node.expressions), *extras])}]"
        case nodes.CallClause():
            return f"{node.name}:{_shape(node.expression)}"
        case nodes.FlinkType():
            return str(node.this)
        case nodes.IntervalLiteral():
            return f"{node.args['value']} {node.args['to'].this.root.value.split()[1]}"
        case nodes.TemporalLiteral():
            return (
                f"{node.args['to'].this.root.value}({node.args['to'].this.precision}) {node.this}"
            )
        case exp.Literal():
            return repr(node.this) if node.is_string else str(node.this)
        case exp.Identifier() | exp.Var() | exp.HexString():
            return f"`{node.this}`" if node.args.get("quoted") else str(node.this)
        case exp.Boolean():
            return str(node.this).upper()
        case exp.Null() | exp.Star():
            return "NULL" if isinstance(node, exp.Null) else "*"
        case exp.Column():
            return ".".join(map(_shape, node.parts))
        case _:
            parts = [
                _value(value) for value in node.args.values() if value not in (None, [], False)
            ]
            return f"({' '.join([type(node).__name__, *parts])})"


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return _shape(value) if isinstance(value, exp.Expr) else str(value)


@pytest.fixture
def shape() -> Shape:
    """Return the function that writes a tree as one line."""
    return _shape
