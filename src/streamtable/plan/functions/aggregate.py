"""Aggregate functions: argument and result types. The operators implement them.

The result types were recorded from Flink 2.2. SUM, AVG and the variances keep the argument type: an
INT sum wraps, and an INT average is truncated. Decimals grow to 38 digits.
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
    """Syntax of a call and its handling of NULL."""

    #: One value; NULLs are ignored.
    VALUE = "value"
    #: One value; NULLs are kept unless the call has IGNORE NULLS.
    ITEMS = "items"
    #: A string and a literal separator.
    TEXTS = "texts"
    #: A value to convert to JSON; NULLs are omitted unless the call has NULL ON NULL.
    JSON_ARRAY = "json array"
    #: A number, percentages as literals, and the frequency of the number; NULLs are ignored.
    PERCENTILE = "percentile"
    #: A key and a value to convert to JSON; NULLs are kept unless the call has ABSENT ON NULL.
    JSON_OBJECT = "json object"


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate function of Flink.

    Attributes:
        name: in upper case.
        doc: one sentence.
        accepts: types of the argument.
        expected: description of the argument in messages.
        gives: result type by argument type; None if the function is not supported yet.
        none_for_empty: whether the result for a group without values is NULL (COUNT gives 0).
        form: syntax of a call.
        ordered: whether the result depends on the order of the rows.
        over_only: whether the function requires OVER.
        of_grouping: whether the function is about GROUP BY instead of the rows of a group.
        distinct_of: the function whose DISTINCT form gives the result; None for a function of its
            own.
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
    of_grouping: bool = False
    distinct_of: str | None = None

    @property
    def available(self) -> bool:
        """Whether a query may call the function."""
        return self.gives is not None or self.over_only or self.of_grouping

    def result(
        self, types: tuple[DataType, ...], at: Span | None, *, grouped: bool = True
    ) -> DataType:
        """Return the result type of a call.

        Args:
            types: types of its values; empty for `COUNT(*)`.
            at: place of the call.
            grouped: whether there is a GROUP BY; without GROUP BY, there may be no rows.

        Raises:
            StreamtableError: NOT_YET, ARGUMENT_MISMATCH, or INVALID_WINDOW for a function that
                requires OVER.
        """
        if self.over_only:
            raise StreamtableError(
                Condition.INVALID_WINDOW,
                at=at,
                function=self.name,
                reason="it can only be used before OVER (PARTITION BY ... ORDER BY ...)",
            )
        if self.of_grouping:
            raise StreamtableError(
                Condition.AGGREGATE_MISPLACED,
                at=at,
                function=self.name,
                clause="a query without GROUP BY",
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
    """Return a nullable type: a single value has no sample variance."""
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
        "APPROX_COUNT_DISTINCT",
        "The number of different values that are not NULL: exact, as COUNT(DISTINCT value). Flink"
        " has it in batch mode and in OVER.",
        gives=_count,
        none_for_empty=False,
        distinct_of="COUNT",
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
    "CUME_DIST": "The share of rows up to and with this one.",
    "LEAD": "The value some rows after.",
    "NTILE": "The bucket of the row.",
    "PERCENT_RANK": "The relative rank.",
}

#: Functions that depend only on GROUP BY.
_OF_GROUPING = {
    "GROUPING": "Whether a column is rolled up in this row.",
    "GROUPING_ID": "The bits of GROUPING of several columns.",
    "GROUP_ID": "The number of the grouping set among equal ones.",
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
        *(AggregateFunction(name, doc, of_grouping=True) for name, doc in _OF_GROUPING.items()),
        *(AggregateFunction(name, doc, over_only=True) for name, doc in _OVER_ONLY.items()),
    )
}
