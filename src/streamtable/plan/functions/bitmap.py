"""Functions of BITMAP values, sets of INTs in RoaringBitmap's portable format; new in Flink 2.3."""

from __future__ import annotations

from streamtable.core.types import BIGINT, BITMAP, BYTES, INT, STRING, DataType, Root, array
from streamtable.plan.binding.bound import SYMBOL, Bound
from streamtable.plan.binding.casts import can_cast_implicitly, explicit_cast
from streamtable.plan.functions.kinds import BINARY
from streamtable.plan.functions.model import Category, Function, Kind, Overload, of_roots

_INTS = array(INT)
_SET = of_roots("a BITMAP", {Root.BITMAP}, BITMAP)


def _integers(argument: Bound) -> Bound | None:
    if argument.type is SYMBOL or not can_cast_implicitly(argument.type, _INTS):
        return None
    return explicit_cast(argument, _INTS)


def _function(
    name: str, takes: tuple[Kind, ...], gives: DataType, doc: str, sql: str | None = None
) -> Function:
    arguments = ", ".join(f"{{{i}}}" for i in range(len(takes)))
    overload = Overload(takes, gives, sql or f"flink_{name.lower()}({arguments})")
    return Function(name, Category.BITMAP, (overload,), doc, since="2.3")


BITMAPS = (
    _function(
        "BITMAP_BUILD",
        (Kind("an ARRAY of INT", _integers),),
        BITMAP,
        "The set of the elements that are not NULL.",
    ),
    _function("BITMAP_CARDINALITY", (_SET,), BIGINT, "How many elements there are."),
    _function("BITMAP_AND", (_SET, _SET), BITMAP, "The elements that both sets have."),
    _function(
        "BITMAP_ANDNOT",
        (_SET, _SET),
        BITMAP,
        "The elements of the first set that the second does not have.",
    ),
    _function("BITMAP_OR", (_SET, _SET), BITMAP, "The elements that any of the sets has."),
    _function("BITMAP_XOR", (_SET, _SET), BITMAP, "The elements that exactly one set has."),
    _function(
        "BITMAP_FROM_BYTES",
        (BINARY,),
        BITMAP,
        "The set that bytes in RoaringBitmap's 32-bit format describe; fails for other bytes.",
    ),
    _function(
        "BITMAP_TO_BYTES", (_SET,), BYTES, "The set in RoaringBitmap's 32-bit format.", sql="{0}"
    ),
    _function(
        "BITMAP_TO_ARRAY",
        (_SET,),
        _INTS,
        "The elements, negative ones last; fails where there are too many for an array.",
    ),
    _function(
        "BITMAP_TO_STRING",
        (_SET,),
        STRING,
        "The elements as unsigned numbers, such as {1,2,4294967295}.",
    ),
)
