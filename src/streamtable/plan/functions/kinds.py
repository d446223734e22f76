"""Kinds of arguments in Flink's function signatures."""

from __future__ import annotations

from streamtable.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    BYTES_ROOTS,
    CHARACTER,
    DATE,
    DOUBLE,
    INT,
    INTEGERS,
    NUMERIC,
    STRING,
    Root,
    timestamp,
)
from streamtable.plan.binding.bound import SYMBOL
from streamtable.plan.functions.model import Kind, of_roots

_SHORT_INTEGERS = (Root.TINYINT, Root.SMALLINT, Root.INT)
_EXACT = (*INTEGERS, Root.DECIMAL)

ANY = Kind("any value", lambda argument: None if argument.type is SYMBOL else argument)
TEXT = of_roots("a string", CHARACTER, STRING)
BINARY = of_roots("bytes", BYTES_ROOTS, BYTES)
TRUTH = of_roots("a BOOLEAN", {Root.BOOLEAN}, BOOLEAN)
#: Any integer up to INT, cast to INT.
WHOLE = of_roots("an INT", _SHORT_INTEGERS, INT, convert=True)
#: Any integer, cast to BIGINT.
LONG = of_roots("an integer", INTEGERS, BIGINT, convert=True)
#: Any integer or decimal, without a cast.
EXACT = of_roots("an integer or DECIMAL", _EXACT, INT)
#: Any number, without a cast.
NUMBER = of_roots("a number", NUMERIC, INT)
#: Any number, cast to DOUBLE.
REAL = of_roots("a number", NUMERIC, DOUBLE, convert=True)
DAY = of_roots("a DATE", {Root.DATE}, DATE)
LOCAL = of_roots("a TIMESTAMP", {Root.TIMESTAMP}, timestamp(3))
ARRAY = Kind("an ARRAY", lambda a: a if a.type.root is Root.ARRAY else None)
#: Values that Flink sorts: all but those with a BITMAP.
ORDERED = Kind(
    "a value that has an order", lambda a: None if a.type.holds(Root.BITMAP) else ANY.take(a)
)
ORDERED_ARRAY = Kind(
    "an ARRAY of values that have an order",
    lambda a: None if a.type.holds(Root.BITMAP) else ARRAY.take(a),
)
MAP = Kind("a MAP", lambda a: a if a.type.root is Root.MAP else None)
