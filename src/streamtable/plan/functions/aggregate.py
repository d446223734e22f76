"""Aggregate functions: what they take and give; the operators know how to keep them.

Result types were read off Flink 2.2: SUM, AVG and the variances keep the type of what they add
up (so an INT sum wraps and an INT average is cut), decimals grow to 38 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import (
    BIGINT,
    CHARACTER,
    DOUBLE,
    MAX_DECIMAL_PRECISION,
    NUMERIC,
    STRING,
    DataType,
    Root,
    array,
    decimal,
    multiset,
)
from streamtable.plan.binding.coercion import scale_of

_AVERAGE_SCALE = 6
_ORDERED = frozenset(Root) - {
    Root.ARRAY,
    Root.MULTISET,
    Root.MAP,
    Root.ROW,
    Root.NULL,
    Root.BINARY,
    Root.VARBINARY,
}


class Form(Enum):
    """How a call is written and what it does with NULLs."""

    #: One value; NULLs are left out.
    VALUE = "value"
    #: One value; NULLs are kept unless IGNORE NULLS is written.
    ITEMS = "items"
    #: A text and a literal that stands between two of them.
    TEXTS = "texts"
    #: A value that becomes json; NULLs are left out unless NULL ON NULL is written.
    JSON_ARRAY = "json array"
    #: A number, percentages as literals, and how often the number counts; NULLs are left out.
    PERCENTILE = "percentile"
    #: A key and a value that becomes json; NULLs are kept unless ABSENT ON NULL is written.
    JSON_OBJECT = "json object"


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate of Flink's page.

    Attributes:
        name: in upper case.
        doc: one sentence.
        accepts: the kinds of its argument.
        expected: how messages say that.
        gives: result type by argument type; None where Flink has it and we do not yet.
        none_for_empty: whether a group without values gives NULL (COUNT gives 0).
        form: how a call is written.
        ordered: whether the answer goes by the order of the rows.
        over_only: whether it only stands before OVER.
    """

    name: str
    doc: str
    accepts: frozenset[Root] = frozenset(Root)
    expected: str = "one value"
    gives: Callable[[DataType], DataType] | None = None
    none_for_empty: bool = True
    form: Form = Form.VALUE
    ordered: bool = False
    over_only: bool = False

    def result(
        self, types: tuple[DataType, ...], at: Span | None, *, grouped: bool = True
    ) -> DataType:
        """The type of a call.

        Args:
            types: of its values; empty for `COUNT(*)`.
            at: where the call stands.
            grouped: whether there is a GROUP BY; without one there may be no rows at all.

        Raises:
            StreamtableError: NOT_YET, ARGUMENT_MISMATCH, or INVALID_WINDOW for what stands before
                OVER only.
        """
        if self.over_only:
            raise StreamtableError(
                Condition.INVALID_WINDOW,
                at=at,
                function=self.name,
                reason="it only stands before OVER (PARTITION BY ... ORDER BY ...)",
            )
        if self.gives is None:
            raise StreamtableError(Condition.NOT_YET, at=at, what=f"aggregate {self.name}")
        if not types and self.name == "COUNT":
            return self.gives(BIGINT)
        if len(types) != 1 or types[0].root not in self.accepts:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=at,
                function=self.name,
                expected=self.expected,
                found=", ".join(t.sql() for t in types),
            )
        kind = self.gives(types[0])
        if not self.none_for_empty:
            return kind
        return kind.with_nullable(types[0].nullable or not grouped)


def _count(_: DataType) -> DataType:
    return BIGINT.with_nullable(False)


def _sum(argument: DataType) -> DataType:
    if argument.root is Root.DECIMAL:
        return decimal(MAX_DECIMAL_PRECISION, scale_of(argument))
    return argument


def _average(argument: DataType) -> DataType:
    if argument.root is Root.DECIMAL:
        return decimal(MAX_DECIMAL_PRECISION, max(_AVERAGE_SCALE, scale_of(argument)))
    return argument


def _same(argument: DataType) -> DataType:
    return argument


def _spread(argument: DataType) -> DataType:
    """One value has no sample variance."""
    return _average(argument).with_nullable(True)


def _text(_: DataType) -> DataType:
    return STRING


def _items(argument: DataType) -> DataType:
    return array(argument)


def _copies(argument: DataType) -> DataType:
    return multiset(argument).with_nullable(False)


def _percentile(_: DataType) -> DataType:
    return DOUBLE


def _json(_: DataType) -> DataType:
    return STRING.with_nullable(False)


_SPREADS = {
    "VAR_POP": "The population's variance.",
    "VAR_SAMP": "The sample variance.",
    "VARIANCE": "The sample variance.",
    "STDDEV_POP": "The population's standard deviation.",
    "STDDEV_SAMP": "The sample standard deviation.",
    "STDDEV": "The sample standard deviation.",
}


_AVAILABLE = (
    AggregateFunction(
        "COUNT",
        "The number of rows, or of values that are not NULL.",
        gives=_count,
        none_for_empty=False,
    ),
    AggregateFunction(
        "SUM",
        "The sum of the values.",
        NUMERIC,
        "a number",
        _sum,
    ),
    AggregateFunction(
        "AVG",
        "The mean of the values.",
        NUMERIC,
        "a number",
        _average,
    ),
    AggregateFunction(
        "MIN",
        "The smallest value.",
        _ORDERED,
        "a value that has an order",
        _same,
    ),
    AggregateFunction(
        "MAX",
        "The largest value.",
        _ORDERED,
        "a value that has an order",
        _same,
    ),
    *(AggregateFunction(name, doc, NUMERIC, "a number", _spread) for name, doc in _SPREADS.items()),
    AggregateFunction(
        "FIRST_VALUE",
        "The first value in order.",
        gives=_same,
        ordered=True,
    ),
    AggregateFunction(
        "LAST_VALUE",
        "The last value in order.",
        gives=_same,
        ordered=True,
    ),
    AggregateFunction(
        "LISTAGG",
        "The texts joined by a separator.",
        CHARACTER,
        "a string",
        _text,
        form=Form.TEXTS,
        ordered=True,
    ),
    AggregateFunction(
        "ARRAY_AGG", "The values as an array.", gives=_items, form=Form.ITEMS, ordered=True
    ),
    AggregateFunction(
        "PERCENTILE",
        "The value below which a share of the values lies, between two of them if need be.",
        NUMERIC,
        "a number, a share from 0 to 1 or an ARRAY of them, and how often the number counts",
        _percentile,
        form=Form.PERCENTILE,
    ),
    AggregateFunction("COLLECT", "The values as a multiset.", gives=_copies, none_for_empty=False),
    AggregateFunction(
        "JSON_ARRAYAGG",
        "The values as a JSON array.",
        gives=_json,
        none_for_empty=False,
        form=Form.JSON_ARRAY,
        ordered=True,
    ),
    AggregateFunction(
        "JSON_OBJECTAGG",
        "Keys and values as a JSON object.",
        gives=_json,
        none_for_empty=False,
        form=Form.JSON_OBJECT,
        ordered=True,
    ),
)

_NOT_YET = {
    "APPROX_COUNT_DISTINCT": "About how many different values there are.",
    "CUME_DIST": "The share of rows up to and with this one.",
    "GROUPING": "Whether a column is rolled up in this row.",
    "GROUPING_ID": "The bits of GROUPING of several columns.",
    "GROUP_ID": "The number of the grouping set among equal ones.",
    "LEAD": "The value some rows after.",
    "NTILE": "The bucket of the row.",
    "PERCENT_RANK": "The relative rank.",
}

_OVER_ONLY = {
    "DENSE_RANK": "The rank without gaps.",
    "LAG": "The value some rows before.",
    "RANK": "The rank with gaps.",
    "ROW_NUMBER": "The number of the row in its partition.",
}

AGGREGATES: Mapping[str, AggregateFunction] = {
    function.name: function
    for function in (
        *_AVAILABLE,
        *(AggregateFunction(name, doc) for name, doc in _NOT_YET.items()),
        *(AggregateFunction(name, doc, over_only=True) for name, doc in _OVER_ONLY.items()),
    )
}
