"""Type conversion functions other than casts."""

from __future__ import annotations

from streamtable.core.types import STRING
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.functions.kinds import ANY, TRUTH
from streamtable.plan.functions.model import Arguments, Category, Nulls, constant, one


def _type_of(arguments: Arguments) -> str:
    return text_literal(arguments[0].type.sql())


CONVERSION = (
    one(
        "TYPEOF",
        Category.CONVERSION,
        (ANY, constant(TRUTH)),
        STRING,
        _type_of,
        "The type of the argument.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
)
