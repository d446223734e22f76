"""The list of Spark's settings equals the settings of the running Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.compat.spark_settings import LIST, keys, listed

from streamtable.jvm.install.installed_spark import minor_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_list_equals_the_settings_of_the_running_spark(spark: SparkSession) -> None:
    text = LIST.read_text(encoding="utf-8")
    assert listed(text, minor_of(spark.version)) == set(keys(spark))
