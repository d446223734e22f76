"""Value constructors: ROW, ARRAY, MAP."""

from __future__ import annotations

from streamtable.core.types import DataType, Field, array, map_of, row
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.conditional import unified
from streamtable.plan.functions.kinds import ANY
from streamtable.plan.functions.model import Arguments, Category, Function, Nulls, Overload


def _row_type(arguments: Arguments) -> DataType:
    """Return the ROW type; like Calcite, it numbers the fields from 0: `EXPR$0`, `EXPR$1`."""
    fields = [Field(f"EXPR${i}", a.type) for i, a in enumerate(arguments)]
    return row(*fields).with_nullable(False)


def _row(arguments: Arguments) -> str:
    parts = [f"'EXPR${i}', {a.sql}" for i, a in enumerate(arguments)]
    return f"named_struct({', '.join(parts)})"


def _halves(arguments: Arguments) -> tuple[list[Bound], DataType, list[Bound], DataType]:
    """Return keys and values of `MAP[k, v, k, v]`, each cast to their common type."""
    keys, key = unified("MAP", arguments[0::2], arguments[0].at)
    values, value = unified("MAP", arguments[1::2], arguments[0].at)
    return keys, key, values, value


def _map_type(arguments: Arguments) -> DataType:
    _, key, _, value = _halves(arguments)
    return map_of(key, value).with_nullable(False)


def _map(arguments: Arguments) -> str:
    keys, _, values, _ = _halves(arguments)
    pairs = zip(keys, values, strict=True)
    return f"map({', '.join(f'{key.sql}, {value.sql}' for key, value in pairs)})"


CONSTRUCTION = (
    Function(
        "ROW",
        Category.CONSTRUCTION,
        (Overload((ANY,), _row_type, _row, repeats=True, nulls=Nulls.AS_RESULT),),
        "A row of the arguments.",
    ),
    Function(
        "ARRAY",
        Category.CONSTRUCTION,
        (
            Overload(
                (ANY,),
                lambda a: array(a[0].type.with_nullable(any(x.type.nullable for x in a))),
                lambda a: f"array({', '.join(x.sql for x in a)})",
                repeats=True,
                common_from=0,
                nulls=Nulls.NEVER,
            ),
        ),
        "An array of the arguments.",
    ),
    Function(
        "MAP",
        Category.CONSTRUCTION,
        (Overload((ANY, ANY), _map_type, _map, repeats=True, nulls=Nulls.NEVER, pairs=True),),
        "A map of keys and values in turn.",
    ),
)
