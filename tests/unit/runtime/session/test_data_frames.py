"""Flink's types for Spark's column types, and Spark's types without a Flink type."""

from __future__ import annotations

import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    CalendarIntervalType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.session.data_frames import fields

_STRUCT = StructType(
    [StructField("a", IntegerType(), False), StructField("b", ArrayType(StringType()))]
)
_TYPES: list[tuple[DataType, str]] = [
    (BooleanType(), "BOOLEAN"),
    (ByteType(), "TINYINT"),
    (ShortType(), "SMALLINT"),
    (IntegerType(), "INT"),
    (LongType(), "BIGINT"),
    (FloatType(), "FLOAT"),
    (DoubleType(), "DOUBLE"),
    (DecimalType(7, 3), "DECIMAL(7, 3)"),
    (StringType(), "STRING"),
    (BinaryType(), "BYTES"),
    (DateType(), "DATE"),
    (TimestampType(), "TIMESTAMP_LTZ(6)"),
    (TimestampNTZType(), "TIMESTAMP(6)"),
    (ArrayType(IntegerType(), containsNull=False), "ARRAY<INT NOT NULL>"),
    (MapType(StringType(), DoubleType()), "MAP<STRING NOT NULL, DOUBLE>"),
    (_STRUCT, "ROW<`a` INT NOT NULL, `b` ARRAY<STRING>>"),
]


@pytest.mark.parametrize(("given", "flinks"), _TYPES, ids=[flinks for _, flinks in _TYPES])
def test_types(given: DataType, flinks: str) -> None:
    schema = StructType([StructField("x", given), StructField("y", given, False)])
    assert [(f.name, f.type.sql()) for f in fields(schema)] == [
        ("x", flinks),
        ("y", f"{flinks} NOT NULL"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        CalendarIntervalType(),
        VariantType(),
        ArrayType(VariantType()),
        MapType(StringType(), VariantType()),
    ],
    ids=str,
)
def test_spark_types_without_a_flink_type_are_refused(given: DataType) -> None:
    with pytest.raises(StreamtableError) as refused:
        fields(StructType([StructField("x", given)]))
    assert refused.value.condition is Condition.NOT_YET
    assert f"column x of Spark's type {given.simpleString()}" in str(refused.value)
