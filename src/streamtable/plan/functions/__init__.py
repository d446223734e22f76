"""Flink's built-in functions as data: signatures, result types and Spark SQL.

There is one module per chapter of Flink's *System (Built-in) Functions* page. `model` and
`aggregate` define the entries, and `kinds` the types of arguments. `lacking` lists Flink's
functions that are not supported yet, so that they are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.plan.binding.bound import Bound
from streamtable.plan.functions.aggregate import AggregateFunction
from streamtable.plan.functions.aggregates import AGGREGATES
from streamtable.plan.functions.arithmetic import ARITHMETIC
from streamtable.plan.functions.bitmap import BITMAPS
from streamtable.plan.functions.collection import COLLECTIONS
from streamtable.plan.functions.conditional import CONDITIONAL
from streamtable.plan.functions.construct import CONSTRUCTION
from streamtable.plan.functions.conversion import CONVERSION
from streamtable.plan.functions.elsewhere import ELSEWHERE
from streamtable.plan.functions.json import JSON
from streamtable.plan.functions.lacking import LACKING
from streamtable.plan.functions.model import Category, Function
from streamtable.plan.functions.text.encodings import ENCODINGS
from streamtable.plan.functions.text.hashes import HASHES
from streamtable.plan.functions.text.regexps import REGEXPS
from streamtable.plan.functions.text.strings import STRINGS
from streamtable.plan.functions.text.texts import TEXTS
from streamtable.plan.functions.time.current import CURRENT
from streamtable.plan.functions.time.temporal import TEMPORAL

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "NEWER",
    "SINCE",
    "AggregateFunction",
    "Category",
    "Function",
    "bind_call",
]

_SCALARS = (
    *ARITHMETIC,
    *STRINGS,
    *ENCODINGS,
    *REGEXPS,
    *TEXTS,
    *TEMPORAL,
    *CONDITIONAL,
    *CONVERSION,
    *COLLECTIONS,
    *CONSTRUCTION,
    *HASHES,
    *BITMAPS,
    *JSON,
    *CURRENT,
    *LACKING,
)

FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _SCALARS}

#: Flink version that added a name, if it is known to be late; 2.2 has all other names.
SINCE: Mapping[str, str] = {
    **{scalar.name: scalar.since for scalar in _SCALARS if scalar.since},
    **{aggregate.name: aggregate.since for aggregate in AGGREGATES.values() if aggregate.since},
}

#: Names that Flink 2.2 leaves to user-defined functions.
NEWER = frozenset(name for name, version in SINCE.items() if version in ("2.3", "2.4"))


def bind_call(name: str, arguments: Sequence[Bound], at: Span | None) -> Bound:
    """Bind a call of a scalar function.

    Raises:
        StreamtableError: UNKNOWN_FUNCTION, NOT_YET or ARGUMENT_MISMATCH.
    """
    function = FUNCTIONS.get(name)
    if function is None:
        if name in ELSEWHERE:
            raise StreamtableError(
                Condition.UNKNOWN_FUNCTION, at=at, hint=ELSEWHERE[name], function=name
            )
        known = [f.name for f in FUNCTIONS.values() if f.available] + list(AGGREGATES)
        raise StreamtableError(
            Condition.UNKNOWN_FUNCTION, at=at, hint=closest(name, known), function=name
        )
    return function.bind(arguments, at)
