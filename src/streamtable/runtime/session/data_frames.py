"""Conversion of the column types of Spark's DataFrames to Flink's types."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    DataType,
    Field,
    array,
    decimal,
    map_of,
    row,
    timestamp,
    timestamp_ltz,
)

_SIMPLE: Mapping[type[spark.DataType], DataType] = {
    spark.BooleanType: BOOLEAN,
    spark.ByteType: TINYINT,
    spark.ShortType: SMALLINT,
    spark.IntegerType: INT,
    spark.LongType: BIGINT,
    spark.FloatType: FLOAT,
    spark.DoubleType: DOUBLE,
    spark.StringType: STRING,
    spark.BinaryType: BYTES,
    spark.DateType: DATE,
    spark.TimestampType: timestamp_ltz(6),
    spark.TimestampNTZType: timestamp(6),
}


def fields_of(frame: DataFrame) -> tuple[Field, ...]:
    """Return the names and types of a DataFrame's columns.

    Raises:
        StreamtableError: NOT_YET for a streaming DataFrame, or for a column that `fields` rejects.
    """
    if frame.isStreaming:
        raise StreamtableError(
            Condition.NOT_YET,
            what="a view of a DataFrame that is a stream",
            hint="declare a table for the topic",
        )
    return fields(frame.schema)


def fields(schema: spark.StructType) -> tuple[Field, ...]:
    """Return the names and types of the columns of a schema.

    Raises:
        StreamtableError: NOT_YET for a column of an unsupported type. Supported are the types
            above, DECIMAL, and arrays, maps and structs of these.
    """
    return tuple(_field(column) for column in schema.fields)


def _field(column: spark.StructField) -> Field:
    found = _type(column.dataType)
    if found is None:
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"column {column.name} of Spark's type {column.dataType.simpleString()}",
            hint="cast it in the DataFrame, or remove it",
        )
    return Field(column.name, found.with_nullable(column.nullable))


def _type(kind: spark.DataType) -> DataType | None:
    match kind:
        case spark.DecimalType():
            return decimal(kind.precision, kind.scale)
        case spark.ArrayType():
            element = _type(kind.elementType)
            return element and array(element.with_nullable(kind.containsNull))
        case spark.MapType():
            key, value = _type(kind.keyType), _type(kind.valueType)
            if key is None or value is None:
                return None
            nullable = kind.valueContainsNull
            return map_of(key.with_nullable(False), value.with_nullable(nullable))
        case spark.StructType():
            return row(*fields(kind))
        case _:
            return _SIMPLE.get(type(kind))
