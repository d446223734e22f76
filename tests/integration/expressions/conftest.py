"""A row in Spark with a column of every type, under the settings that bound SQL assumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.compat.functions.functions_table import spark_columns

from streamtable.core.settings.spark import SPARK_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="session")
def row(spark: SparkSession) -> Iterator[DataFrame]:
    """Yield the row after a local checkpoint, so that expressions over it run as generated code."""
    before = {key: spark.conf.get(key, None) for key in SPARK_RULES}
    for key, rule in SPARK_RULES.items():
        spark.conf.set(key, rule.value)
    yield spark.range(1).selectExpr(*spark_columns()).localCheckpoint()
    for key, value in before.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)
