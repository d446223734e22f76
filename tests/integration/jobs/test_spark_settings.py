"""The list of Spark's settings, and Hadoop's settings in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.compat.spark_settings import LIST, keys, listed

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.install.installed_spark import minor_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

#: A setting of Hadoop's `core-default.xml`, and one of a user.
_DEFAULT = "fs.trash.interval"
_OWN = "fs.example.endpoint"


def test_the_list_equals_the_settings_of_the_running_spark(spark: SparkSession) -> None:
    text = LIST.read_text(encoding="utf-8")
    assert listed(text, minor_of(spark.version)) == set(keys(spark))


@pytest.fixture
def hadoop(spark: SparkSession) -> Iterator[Any]:
    """Return Hadoop's settings in Spark, which all tests of a process share."""
    found: Any = spark._jsc.sc().hadoopConfiguration()  # type: ignore[union-attr]
    yield found
    found.unset(_OWN)


def test_only_the_names_of_files_of_hadoops_defaults_are_removed(
    spark: SparkSession, hadoop: Any
) -> None:
    hadoop.reloadConfiguration()  # as a class does that adds a file of defaults, such as HDFS's
    assert list(hadoop.getPropertySources(_DEFAULT)) == ["core-default.xml"]

    hadoop.set(_OWN, "here", "job.sql")
    Bridge(spark).remove_default_sources()
    assert hadoop.get(_DEFAULT) == "0"
    assert hadoop.getPropertySources(_DEFAULT) is None
    assert hadoop.get(_OWN) == "here"
    assert list(hadoop.getPropertySources(_OWN)) == ["job.sql"]
