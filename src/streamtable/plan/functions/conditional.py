"""Conditional functions: COALESCE, IF, IFNULL, NULLIF, GREATEST, LEAST."""

from __future__ import annotations

from streamtable.core.types import DataType
from streamtable.plan.binding.comparisons import compare
from streamtable.plan.functions.kinds import ANY, ORDERED, TRUTH
from streamtable.plan.functions.model import Arguments, Category, Function, Nulls, Overload


def _first_of(arguments: Arguments) -> DataType:
    """Return a type that is nullable only if every argument is."""
    return arguments[0].type.with_nullable(all(a.type.nullable for a in arguments))


def _null_if(arguments: Arguments) -> str:
    left, right = arguments
    same = compare("=", left, right, left.at)
    return f"if({same.sql}, NULL, {left.sql})"


def _extreme(function: str) -> Overload:
    def sql(arguments: Arguments) -> str:
        """Return NULL as soon as an argument is NULL, as Flink does; Spark skips NULLs."""
        chosen = f"{function}({', '.join(a.sql for a in arguments)})"
        missing = [f"{a.sql} IS NULL" for a in arguments if a.type.nullable]
        if len(arguments) == 1:
            return arguments[0].sql
        return f"if({' OR '.join(missing)}, NULL, {chosen})" if missing else chosen

    return Overload((ORDERED,), lambda a: a[0].type, sql, repeats=True, common_from=0, merging=True)


CONDITIONAL = (
    Function(
        "COALESCE",
        Category.CONDITIONAL,
        (
            Overload(
                (ANY,),
                _first_of,
                lambda a: f"coalesce({', '.join(x.sql for x in a)})",
                repeats=True,
                common_from=0,
                merging=True,
                nulls=Nulls.AS_RESULT,
            ),
        ),
        "The first argument that is not NULL.",
    ),
    Function(
        "IF",
        Category.CONDITIONAL,
        (
            Overload(
                (TRUTH, ANY, ANY),
                lambda a: a[1].type,
                "if({0}, {1}, {2})",
                common_from=1,
            ),
        ),
        "The second argument where the first is TRUE, else the third.",
    ),
    Function(
        "IFNULL",
        Category.CONDITIONAL,
        (
            Overload(
                (ANY, ANY),
                _first_of,
                "coalesce({0}, {1})",
                common_from=0,
                merging=True,
                nulls=Nulls.AS_RESULT,
            ),
        ),
        "The first argument, or the second where that is NULL.",
    ),
    Function(
        "NULLIF",
        Category.CONDITIONAL,
        (Overload((ANY, ANY), lambda a: a[0].type, _null_if, nulls=Nulls.ALWAYS),),
        "NULL where the arguments are equal, else the first.",
    ),
    Function(
        "GREATEST",
        Category.CONDITIONAL,
        (_extreme("greatest"),),
        "The greatest argument; NULL where any is NULL.",
    ),
    Function(
        "LEAST",
        Category.CONDITIONAL,
        (_extreme("least"),),
        "The least argument; NULL where any is NULL.",
    ),
)
