"""The aggregate functions as data; `aggregate` defines the entries, and the operators compute them.

The result types were recorded from Flink 2.2. SUM, AVG and the variances keep the argument type: an
INT sum wraps, and an INT average is truncated. Decimals grow to 38 digits.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.core.types import (
    BIGINT,
    BITMAP,
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
from streamtable.plan.functions.aggregate import AggregateFunction, Form
from streamtable.plan.functions.model import Nulls

_AVERAGE_SCALE = 6
_ORDERED = frozenset(Root) - {
    Root.ARRAY,
    Root.MULTISET,
    Root.MAP,
    Root.ROW,
    Root.BITMAP,
    Root.NULL,
    Root.BINARY,
    Root.VARBINARY,
}


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


def _of_sample(argument: DataType) -> DataType:
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


def _set(_: DataType) -> DataType:
    return BITMAP


def _cardinality(_: DataType) -> DataType:
    return BIGINT


_OF_POPULATION = {
    "VAR_POP": "The population's variance.",
    "STDDEV_POP": "The population's standard deviation.",
}
_OF_SAMPLE = {
    "VAR_SAMP": "The sample variance.",
    "VARIANCE": "The sample variance.",
    "STDDEV_SAMP": "The sample standard deviation.",
    "STDDEV": "The sample standard deviation.",
}


#: Operations of the BITMAP aggregates: types of the argument and their name, and the result.
_BITMAPS = {
    "BUILD": (
        frozenset({Root.TINYINT, Root.SMALLINT, Root.INT, Root.NULL}),
        "an INT",
        "the values",
    ),
    "AND": (frozenset({Root.BITMAP}), "a BITMAP", "the elements that all sets have"),
    "OR": (frozenset({Root.BITMAP}), "a BITMAP", "the elements that any of the sets has"),
    "XOR": (frozenset({Root.BITMAP}), "a BITMAP", "the elements of an odd number of sets"),
}

_AVAILABLE = (
    AggregateFunction(
        "COUNT",
        "The number of rows, or of values that are not NULL.",
        gives=_count,
        nulls=Nulls.AS_RESULT,
    ),
    AggregateFunction(
        "APPROX_COUNT_DISTINCT",
        "The number of different values that are not NULL: exact, as COUNT(DISTINCT value). Flink"
        " has it in batch mode and in OVER.",
        gives=_count,
        nulls=Nulls.AS_RESULT,
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
    *(
        AggregateFunction(name, doc, NUMERIC, "a number", _average)
        for name, doc in _OF_POPULATION.items()
    ),
    *(
        AggregateFunction(name, doc, NUMERIC, "a number", _of_sample, nulls=Nulls.AS_RESULT)
        for name, doc in _OF_SAMPLE.items()
    ),
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
    AggregateFunction("COLLECT", "The values as a multiset.", gives=_copies, nulls=Nulls.AS_RESULT),
    *(
        AggregateFunction(
            f"BITMAP_{operation}{form}_AGG",
            f"{doc} {elements}.",
            accepts,
            expected,
            gives,
            nulls=Nulls.AS_RESULT,
            since="2.3",
        )
        for operation, (accepts, expected, elements) in _BITMAPS.items()
        for form, gives, doc in (
            ("", _set, "The set of"),
            ("_CARDINALITY", _cardinality, "How many there are of"),
        )
    ),
    AggregateFunction(
        "JSON_ARRAYAGG",
        "The values as a JSON array.",
        gives=_json,
        nulls=Nulls.AS_RESULT,
        form=Form.JSON_ARRAY,
        ordered=True,
    ),
    AggregateFunction(
        "JSON_OBJECTAGG",
        "Keys and values as a JSON object.",
        gives=_json,
        nulls=Nulls.AS_RESULT,
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
