"""`DirectEncoder` writes the bytes of Spark's own encoder, and reads the same values back."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import DataFrame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COUNT = 60
_Draw = Callable[[random.Random], Any]

#: Column type -> random values. Strings and bytes have lengths around multiples of eight bytes,
#: Spark's word size.
_DRAWN: dict[str, _Draw] = {
    "BOOLEAN": lambda dice: dice.random() < 0.5,
    "TINYINT": lambda dice: dice.randint(-128, 127),
    "SMALLINT": lambda dice: dice.randint(-(2**15), 2**15 - 1),
    "INT": lambda dice: dice.randint(-(2**31), 2**31 - 1),
    "BIGINT": lambda dice: dice.randint(-(2**63), 2**63 - 1),
    "FLOAT": lambda dice: dice.choice([0.0, -0.0, 1.5, float("inf"), float("nan")]),
    "DOUBLE": lambda dice: dice.choice([0.0, -0.0, dice.gauss(0, 1e9), float("nan")]),
    "STRING": lambda dice: "".join(dice.choices("aé€😀", k=dice.randint(0, 20))),
    "BINARY": lambda dice: bytearray(dice.randbytes(dice.randint(0, 20))),
    "DECIMAL(10,3)": lambda dice: Decimal(dice.randint(-(10**10), 10**10 - 1)).scaleb(-3),
    "DECIMAL(38,6)": lambda dice: Decimal(dice.randint(-(10**25), 10**25)).scaleb(-6),
    "DATE": lambda dice: dt.date.fromordinal(dice.randint(1, 3_000_000)),
    "TIMESTAMP": lambda dice: dt.datetime.fromtimestamp(dice.randint(0, 4 * 10**9), dt.UTC),
    "TIMESTAMP_NTZ": lambda dice: (
        dt.datetime(1, 1, 1) + dt.timedelta(microseconds=dice.randint(0, 3 * 10**17))
    ),
}


def _array(element: _Draw) -> _Draw:
    return lambda dice: [_or_null(element, dice) for _ in range(dice.randint(0, 5))]


def _struct(*columns: _Draw) -> _Draw:
    return lambda dice: tuple(_or_null(column, dice) for column in columns)


def _or_null(draw: _Draw, dice: random.Random) -> Any:
    return None if dice.random() < 0.2 else draw(dice)


_FLAT = list(_DRAWN)
_ROW = "STRUCT<a: STRING, b: DECIMAL(38,6), c: ARRAY<STRUCT<d: TINYINT, e: BINARY>>>"
_DRAWN[_ROW] = _struct(
    _DRAWN["STRING"],
    _DRAWN["DECIMAL(38,6)"],
    _array(_struct(_DRAWN["TINYINT"], _DRAWN["BINARY"])),
)
_ROWS = {
    "every type": _FLAT,
    "arrays of every type": [f"ARRAY<{type_}>" for type_ in _FLAT],
    "rows in rows": [_ROW, "INT", f"ARRAY<{_ROW}>", f"ARRAY<ARRAY<{_ROW}>>"],
    "one column": ["STRING"],
    "no column": [],
}


def _draw_of(type_: str) -> _Draw:
    inner = type_.removeprefix("ARRAY<")
    return _DRAWN[type_] if inner == type_ else _array(_draw_of(inner.removesuffix(">")))


def _random_rows(spark: SparkSession, types: list[str], dice: random.Random) -> DataFrame:
    draws = list(map(_draw_of, types))
    drawn = [tuple(_or_null(draw, dice) for draw in draws) for _ in range(_COUNT)]
    ddl = ", ".join(f"c{i} {type_}" for i, type_ in enumerate(types))
    return spark.createDataFrame(drawn, ddl or spark.range(0).select().schema)


@pytest.mark.parametrize("types", _ROWS.values(), ids=_ROWS)
def test_bytes_and_values_equal_those_of_sparks_encoder(
    spark: SparkSession, types: list[str]
) -> None:
    rows = _random_rows(spark, types, random.Random(7))
    java: Any = spark._jvm
    schema = rows._jdf.schema()
    ours = java.io.streamtable.operators.encoding.DirectEncoder.row(schema)
    assert ours.getClass().getSimpleName() == "DirectEncoder"
    apart = java.org.apache.spark.sql.catalyst.encoders.ExpressionEncoder.apply(schema)
    defaults = [getattr(apart, f"resolveAndBind$default${i}")() for i in (1, 2)]
    bound = apart.resolveAndBind(*defaults)
    write, expected = ours.createSerializer(), apart.createSerializer()
    read, read_by_spark = ours.createDeserializer(), bound.createDeserializer()
    for row in rows._jdf.collectAsList():
        content = expected.apply(row).getBytes()
        written = write.apply(row)
        assert written.getBytes() == content
        again, by_spark = read.apply(written), read_by_spark.apply(written)
        assert expected.apply(again).getBytes() == content
        assert _classes(again) == _classes(by_spark)
        assert again.schema().equals(by_spark.schema())


@pytest.mark.parametrize("types", _ROWS.values(), ids=_ROWS)
def test_rows_through_an_operator_are_unchanged(spark: SparkSession, types: list[str]) -> None:
    rows = _random_rows(spark, types, random.Random(8))
    # Spark replaces a constant column by its value where the column is read.
    rows = rows.selectExpr("'x' AS text", "*", "CAST(NULL AS INT) AS nothing", "7L AS number")
    java: Any = spark._jvm
    sort = java.io.streamtable.operators.changelog.BatchSortOperator(java.java.util.ArrayList())
    spark_type = java.org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
    write = spark_type.apply(rows._jdf.schema()).createSerializer()

    def contents(frame: Any) -> list[bytes]:
        return sorted(write.apply(row).getBytes() for row in frame.collectAsList())

    assert len(contents(rows._jdf)) == _COUNT
    taken = sort.over(rows._jdf)
    assert "decodedrow" in taken.queryExecution().toString()
    assert contents(taken) == contents(rows._jdf)


@pytest.mark.parametrize("size", [1, 4, 7])
def test_equal_maps_have_equal_bytes(spark: SparkSession, size: int) -> None:
    """Maps with equal entries have equal bytes, in either order of the entries.

    The values are nested. Scala changes the order of more than four entries.
    """
    entries = [f"X'0{i}', named_struct('n', {i}, 'm', map('x', {i}D, 'a', NULL))" for i in range(7)]
    orders = (entries[:size], entries[:size][::-1])
    maps = (f"SELECT 'x' AS text, map({', '.join(order)}) AS m, 5 AS n" for order in orders)
    rows = spark.sql(" UNION ALL ".join(maps))
    java: Any = spark._jvm
    encoder = java.io.streamtable.operators.encoding.DirectEncoder.row(rows._jdf.schema())
    write, read = encoder.createSerializer(), encoder.createDeserializer()
    written = [bytes(write.apply(row).getBytes()) for row in rows._jdf.collectAsList()]
    again = [read.apply(write.apply(row)) for row in rows._jdf.collectAsList()]
    assert len({*written, *(bytes(write.apply(row).getBytes()) for row in again)}) == 1
    sort = java.io.streamtable.operators.changelog.BatchSortOperator(java.java.util.ArrayList())
    taken = DataFrame(sort.over(rows._jdf), spark)
    assert "decodedrow" in taken._jdf.queryExecution().toString()
    assert taken.collect() == rows.collect()


def _classes(row: Any) -> list[str]:
    """Return the Java classes of a row and of its values."""
    values = [row.get(i) for i in range(row.length()) if not row.isNullAt(i)]
    return [value.getClass().getName() for value in [row, *values] if hasattr(value, "getClass")]


def test_unsupported_types_use_sparks_encoder(spark: SparkSession) -> None:
    java: Any = spark._jvm
    rare = ("INTERVAL DAY TO SECOND", "ARRAY<INTERVAL MONTH>", "MAP<STRING, INTERVAL MONTH>")
    for type_ in rare:
        schema = spark.createDataFrame([], f"a INT, b {type_}")._jdf.schema()
        found = java.io.streamtable.operators.encoding.DirectEncoder.row(schema)
        assert found.getClass().getSimpleName() == "RowEncoder"


def test_null_in_a_not_null_column_is_refused(spark: SparkSession) -> None:
    java: Any = spark._jvm
    schema = spark.createDataFrame([], "a INT, b INT NOT NULL")._jdf.schema()
    write = java.io.streamtable.operators.encoding.DirectEncoder.row(schema).createSerializer()
    row = spark.sql("SELECT 1, CAST(NULL AS INT)")._jdf.head()
    with pytest.raises(Exception, match="NULL in column b, NOT NULL"):
        write.apply(row)
