"""Functions about the session; the catalog has added their results to the call."""

from __future__ import annotations

from streamtable.core.types import STRING
from streamtable.plan.binding.bound import SYMBOL, Bound, text_literal
from streamtable.plan.functions.model import Category, Function, Kind, Nulls, Overload


def _name(argument: Bound) -> Bound | None:
    return argument if argument.type is SYMBOL else None


CURRENT = (
    Function(
        "CURRENT_DATABASE",
        Category.AUXILIARY,
        (
            Overload(
                (Kind("a name", _name),),
                STRING,
                lambda arguments: text_literal(str(arguments[0].constant)),
                nulls=Nulls.NEVER,
                shown="()",
            ),
        ),
        "The database in use where the statement stands.",
    ),
)
