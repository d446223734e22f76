"""The state of a stopped query at its last commit, read by Spark's state data source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.types import StructType

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.jvm.specs.restored import RestoredGroups, RestoredQuery, RestoredState
from streamtable.runtime.checkpoint.moved import operator_metadata
from streamtable.runtime.upgrade.extension import Extension

#: The variable of a group aggregation with the state row of a group. Those of an aggregate have its
#: position in the name.
_GROUP, _OF_CALL = "group", re.compile(r"agg(\d+)(_.+)")
#: The variable of a normalizer with the last row of a key.
_LAST = "last"


def stored_state(spark: SparkSession, query: CheckpointPath, extension: Extension) -> RestoredQuery:
    """Return the state of a query for a query with other aggregates.

    Args:
        spark: the session.
        query: directory of the old query.
        extension: how the state becomes that of the new query.
    """
    variables = dict(_variables(query))
    of_groups = next(number for number, names in variables.items() if _GROUP in names)
    pairs = [(_GROUP, _GROUP), *_kept(variables[of_groups], extension)]
    frames = [_entries(spark, query, of_groups, *pair) for pair in enumerate(n for n, _ in pairs)]
    groups = RestoredState(
        rows=reduce(lambda left, right: left.unionByName(right, True), frames),
        variables=[new for _, new in pairs],
    )
    upserts = None
    if extension.upserts is not None:
        number = next(number for number, names in variables.items() if _LAST in names)
        rows = _entries(spark, query, number, 0, _LAST)
        fields = (F.col(f"value0.c{old}").alias(f"c{i}") for i, old in enumerate(extension.upserts))
        upserts = RestoredState(rows.withColumn("value0", F.struct(*fields)), [_LAST])
    return RestoredQuery(RestoredGroups(groups, extension.calls, extension.sources), upserts)


def _variables(query: CheckpointPath) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the number of each operator with state, and the names of its variables."""
    files = [file for file in operator_metadata(query) if file.name.isdigit()]
    for file in sorted(files, key=lambda file: int(file.name)):  # the newest file decides
        metadata = json.loads(file.read_text(encoding="utf-8").partition("\n")[2])
        properties = json.loads(metadata["operatorPropertiesJson"])
        names = sorted(variable["stateName"] for variable in properties["stateVariables"])
        yield metadata["operatorInfo"]["operatorId"], names


def _kept(variables: Sequence[str], extension: Extension) -> Iterator[tuple[str, str]]:
    """Yield the variables of the calls that stay: the old name and the new name."""
    for name in variables:
        found = _OF_CALL.fullmatch(name)
        for place, source in enumerate(extension.sources):
            if found is not None and int(found[1]) == source:
                yield name, f"agg{place}{found[2]}"


def _entries(
    spark: SparkSession, query: CheckpointPath, operator: int, number: int, variable: str
) -> DataFrame:
    """Return the values or map entries of a variable: the grouping columns, number, key, value."""
    source = spark.read.format("statestore").option("operatorId", operator)
    found = source.option("stateVarName", variable).load(str(query))
    mapped = "user_map_key" in found.columns
    key = _plain(found, "user_map_key") if mapped else F.lit(None).cast("int")
    value = _plain(found, "user_map_value") if mapped else F.col("value")
    named = key.alias(f"key{number}"), value.alias(f"value{number}")
    return found.select("key.*", F.lit(number).alias("variable"), *named)


def _plain(entries: DataFrame, name: str) -> Column:
    """Return a column; if Spark has put a plain value into a struct, the value."""
    schema = entries.schema[name].dataType
    is_wrapped = isinstance(schema, StructType) and schema.names == ["value"]
    return F.col(f"{name}.value" if is_wrapped else name)
