"""Values for a sink column of a given length are treated as by Flink's ConstraintEnforcer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.core.settings.table import TypeLengthEnforcer
from streamtable.core.types import BYTES, STRING, DataType, Field, Root, char, varchar
from streamtable.operators.sink.length import with_length

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BINARY = DataType(Root.BINARY, precision=3)
_VARBINARY = DataType(Root.VARBINARY, precision=3)


@pytest.mark.parametrize(
    ("kind", "given", "written"),
    [
        (char(3), "'ab'", "ab "),
        (char(3), "'abcd'", "abc"),
        (char(3), "'äöüß'", "äöü"),
        (varchar(3), "'ab'", "ab"),
        (varchar(3), "'abcd'", "abc"),
        (varchar(3), "CAST(NULL AS STRING)", None),
        (STRING, "'abcd'", "abcd"),
        (_BINARY, "X'0102'", b"\1\2\0"),
        (_BINARY, "X'01020304'", b"\1\2\3"),
        (_VARBINARY, "X'01020304'", b"\1\2\3"),
        (BYTES, "X'01020304'", b"\1\2\3\4"),
    ],
    ids=str,
)
def test_trimmed_and_padded(
    spark: SparkSession, kind: DataType, given: str, written: object
) -> None:
    column = with_length(Field("c", kind), TypeLengthEnforcer.TRIM_PAD, "t")
    found = spark.sql(f"SELECT {given} AS c").selectExpr(column).collect()[0][0]
    assert (bytes(found) if isinstance(found, bytearray) else found) == written


@pytest.mark.parametrize(
    ("kind", "given", "length"),
    [
        (char(3), "'ab'", 2),
        (char(3), "'abcd'", 4),
        (varchar(3), "'abcd'", 4),
        (_BINARY, "X'0102'", 2),
        (_VARBINARY, "X'01020304'", 4),
    ],
    ids=str,
)
def test_values_of_invalid_length_end_the_job(
    spark: SparkSession, kind: DataType, given: str, length: int
) -> None:
    column = with_length(Field("c", kind), TypeLengthEnforcer.ERROR, "t")
    with pytest.raises(Exception, match=f"column 'c' of t is .* a value of length {length}"):
        spark.sql(f"SELECT {given} AS c").selectExpr(column).collect()


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (char(3), "'abc'"),
        (varchar(3), "'ab'"),
        (varchar(3), "CAST(NULL AS STRING)"),
        (_BINARY, "X'010203'"),
    ],
    ids=str,
)
def test_values_of_valid_length_are_kept(spark: SparkSession, kind: DataType, given: str) -> None:
    column = with_length(Field("c", kind), TypeLengthEnforcer.ERROR, "t")
    row = spark.sql(f"SELECT {given} AS c")
    assert row.selectExpr(column).collect() == row.collect()
