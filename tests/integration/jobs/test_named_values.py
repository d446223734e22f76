"""Operator specs pass their values to Java by name, and Java checks names and types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.changelog import PairedFilterOperator
from streamtable.jvm.specs.operator import OperatorSpec


def test_an_operator_whose_names_differ_is_refused(spark: SparkSession) -> None:
    @dataclass(frozen=True)
    class Misspelt(OperatorSpec, package=PairedFilterOperator.package):
        befor: bool
        output_ddl: str

    Misspelt.__name__ = PairedFilterOperator.__name__
    rows = spark.range(1)
    with pytest.raises(
        IllegalArgumentException, match=r"has \[before, outputDdl\], not \[befor, outputDdl\]"
    ):
        Bridge(spark).operator(rows, Misspelt(True, "kind TINYINT"))


def test_an_operator_missing_in_java_is_refused(spark: SparkSession) -> None:
    @dataclass(frozen=True)
    class LostOperator(OperatorSpec, package="rank"):
        before: bool

    with pytest.raises(IllegalArgumentException, match=r"no operator rank\.LostOperator"):
        Bridge(spark).operator(spark.range(1), LostOperator(True))


def test_a_value_of_a_wrong_type_is_refused(spark: SparkSession) -> None:
    before: Any = "no"
    spec = PairedFilterOperator(before=before, output_ddl="k INT")
    with pytest.raises(IllegalArgumentException, match="a String where a boolean goes"):
        Bridge(spark).operator(spark.range(1), spec)
