"""The state of a stopped query at its last commit, read by Spark's state data source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.types import StructType

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.types import Field, spark_ddl
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.restored import RestoredGroups, RestoredQuery, RestoredState
from streamtable.runtime.checkpoint.storage.moved import operator_metadata
from streamtable.runtime.upgrade.extension import Extension

#: The variable of a group aggregation with the state row of a group. Those of an aggregate have its
#: position in the name.
_GROUP, _OF_CALL = "group", re.compile(r"agg(\d+)(_.+)")
#: The variable of a normalizer with the last row of a key.
_LAST = "last"


def stored_state(
    spark: SparkSession, bridge: Bridge, query: CheckpointPath, extension: Extension
) -> RestoredQuery:
    """Return the state of a query for a query with other aggregates.

    Args:
        spark: the session.
        bridge: the JVM side.
        query: directory of the old query.
        extension: how the state becomes that of the new query.
    """
    # `io.streamtable.operators.state.PrefixedState` gives the variables their names.
    prefix = "" if extension.number is None else f"q{extension.number}_"
    variables = {
        operator: [name.removeprefix(prefix) for name in names if name.startswith(prefix)]
        for operator, names in _variables(query)
    }
    stored = _Stored(spark, bridge, query, prefix, extension)
    of_groups = next(number for number, names in variables.items() if _GROUP in names)
    pairs = [(_GROUP, _GROUP), *_kept(variables[of_groups], extension)]
    frames = [
        stored.entries(of_groups, extension.keys, *pair) for pair in enumerate(n for n, _ in pairs)
    ]
    groups = RestoredState(
        rows=reduce(lambda left, right: left.unionByName(right, True), frames),
        variables=[new for _, new in pairs],
    )
    upserts = None
    if extension.upserts is not None:
        number = next(number for number, names in variables.items() if _LAST in names)
        rows = stored.entries(number, extension.upsert_keys, 0, _LAST)
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


@dataclass(frozen=True)
class _Stored:
    """The state of a query.

    Attributes:
        prefix: what precedes the names of its variables.
    """

    spark: SparkSession
    bridge: Bridge
    query: CheckpointPath
    prefix: str
    extension: Extension

    def entries(
        self, operator: int, keys: tuple[Field, ...], number: int, variable: str
    ) -> DataFrame:
        """Return the values or map entries of a variable.

        Returns:
            The grouping columns, then number, key and value.
        """
        source = self.spark.read.format("statestore").option("operatorId", operator)
        source = source.option("stateVarName", self.prefix + variable)
        found = source.load(str(self.query))
        mapped = "user_map_key" in found.columns
        key = _plain(found, "user_map_key") if mapped else F.lit(None).cast("int")
        value = _plain(found, "user_map_value") if mapped else F.col("value")
        named = key.alias(f"key{number}"), value.alias(f"value{number}")
        of_query = self.extension.number
        if of_query is not None:
            found = found.where(F.col("key.c0") == of_query)
            ddl = spark_ddl(keys) or "everything INT"
            found = found.withColumn("key", self.bridge.shared_key(F.col("key.c1"), ddl))
        return found.select("key.*", F.lit(number).alias("variable"), *named)


def _plain(entries: DataFrame, name: str) -> Column:
    """Return a column; if Spark has put a plain value into a struct, the value."""
    schema = entries.schema[name].dataType
    is_wrapped = isinstance(schema, StructType) and schema.names == ["value"]
    return F.col(f"{name}.value" if is_wrapped else name)
