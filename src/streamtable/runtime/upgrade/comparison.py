"""Both records of each key: that of a shadow run, and that of the target.

A comparison may begin before the running job is stopped, so that little is left after it. Files
then hold both records of every key, those that differ in a folder of their own, and `covered.json`
says which batches and records they cover. Later, only the keys of newer batches and records are
compared anew, and the files of the other keys that do not differ are not read. If the target has
been created anew meanwhile, all keys are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.runtime.checkpoint.storage.whole_files import write_whole
from streamtable.runtime.upgrade.shadow import BATCH, PLACE, Shadow

#: Folder of an early comparison, in that of the shadow run.
EARLY = "early"
_FILES, _COVERED = "records", "covered.json"
_SCHEMA = f"key BINARY, value BINARY, {BATCH} INT, {PLACE} BIGINT"
#: No batch is before this one.
_NONE = -2
#: Whether the two records of a key differ.
DIFFERS = "NOT (value <=> before)"
_ALIKE = "NOT differs AND before IS NOT NULL"


@dataclass(frozen=True)
class Both:
    """Both records of the keys that may differ.

    Attributes:
        records: columns `key`; `value` and `made`, the record of the shadow run and its place;
            `before` and `there`, the record of the target and its place. Values of deleted keys
            are NULL.
        others: number of the keys in the target that `records` lacks, because they do not differ.
    """

    records: DataFrame
    others: int = 0


def newest(records: DataFrame, order: tuple[str, ...]) -> DataFrame:
    """Return the last record of each key: key; value, NULL for a deleted key; and its `place`."""
    place = f"struct({', '.join(order)})"
    last = F.expr(f"max_by(value, {place})").alias("value")
    kept = records.where("key IS NOT NULL").groupBy("key")
    return kept.agg(last, F.expr(f"max({place})").alias("place"))


def compare_early(shadow: Shadow) -> None:
    """Compare a shadow run with the target into files, while the job still writes the target."""
    covered = shadow.folder / EARLY / _COVERED
    covered.unlink(missing_ok=True)
    folder, identity = str(shadow.folder / EARLY / _FILES), _identity(shadow)
    target = sink_of(shadow.plan.table).records(shadow.context)
    both = _both(_rows(shadow), target).selectExpr("*", f"{DIFFERS} AS differs")
    both.write.partitionBy("differs").mode("overwrite").parquet(folder)
    files = _files(shadow)
    partition, offset = ORDER_COLUMNS
    ends = files.where("there IS NOT NULL").groupBy(f"there.{partition}")
    found = ends.agg(F.expr(f"max(there.{offset}) + 1")).collect()
    ((batch, alike),) = files.selectExpr(
        f"coalesce(max(made.{BATCH}), {_NONE})", f"count_if({_ALIKE})"
    ).collect()
    data = {
        "target": identity,
        "batch": batch,
        "ends": {str(number): end for number, end in found},
        "alike": alike,
    }
    write_whole(covered, json.dumps(data))


def both_records(shadows: Sequence[Shadow], target: DataFrame | None = None) -> Both:
    """Return both records of each key that may differ.

    Args:
        shadows: the shadow runs of all queries that write the target.
        target: the records of the target; None to read those that `compare_early` has not read.
    """
    shadow = shadows[0]
    if len(shadows) > 1:
        there = _settled(shadow) if target is None else target
        return Both(_of_several(shadows, there))
    if target is not None:
        return Both(_both(_rows(shadow), target))
    early = _covered(shadow)
    if early is None:
        return Both(_both(_rows(shadow), _settled(shadow)))
    ends = {int(number): end for number, end in early["ends"].items()}
    rows = _rows(shadow).where(f"{BATCH} > {early['batch']}")
    later = _both(rows, _settled(shadow, ends)).localCheckpoint()
    files = _files(shadow)
    keys = F.broadcast(later.select("key"))
    known = files.join(keys, "key", "left_semi").localCheckpoint()
    old = known.withColumnsRenamed({n: f"old_{n}" for n in files.columns if n != "key"})
    again = later.join(old, "key", "left").selectExpr(
        "key",
        "if(made IS NULL, old_value, value) AS value",
        "coalesce(made, old_made) AS made",
        "if(there IS NULL, old_before, before) AS before",
        "coalesce(there, old_there) AS there",
    )
    unchanged = files.where("differs").join(keys, "key", "left_anti").select(again.columns)
    return Both(unchanged.union(again), early["alike"] - known.where(_ALIKE).count())


def _settled(shadow: Shadow, since: Mapping[int, int] | None = None) -> DataFrame:
    """Return the records of the target after the job has ended."""
    return sink_of(shadow.plan.table).records(shadow.context, since, settled=True)


def _covered(shadow: Shadow) -> dict[str, Any] | None:
    """Return what an early comparison covers; None if there is none with the target of now."""
    covered = shadow.folder / EARLY / _COVERED
    if not covered.exists():
        return None
    early: dict[str, Any] = json.loads(covered.read_text("utf-8"))
    return early if early["target"] == _identity(shadow) else None


def _identity(shadow: Shadow) -> Mapping[str, str]:
    """Return the id of the target, which a new one with its name does not have."""
    return source_of(shadow.plan.table).identities(shadow.context.bridge)


def _files(shadow: Shadow) -> DataFrame:
    """Return the files of an early comparison: the columns of `Both.records`, and `differs`."""
    read = shadow.context.spark.read.parquet(str(shadow.folder / EARLY / _FILES))
    return read.withColumn("differs", F.col("differs").cast("boolean"))


def _both(rows: DataFrame, target: DataFrame) -> DataFrame:
    own = newest(rows, (BATCH, PLACE)).withColumnRenamed("place", "made")
    both = own.join(_there(target), "key", "full_outer")
    return both.select("key", "value", "made", "before", "there")


def _of_several(shadows: Sequence[Shadow], target: DataFrame) -> DataFrame:
    """Return the columns of `Both.records` where several queries write the target.

    If more than one of them has a row of a key, it is the row that the target has, or else that of
    the last query.
    """
    count = len(shadows)
    given = []
    for i, shadow in enumerate(shadows):
        # A place identifies a record among those of all shadow runs.
        made = f"named_struct('{BATCH}', place.{BATCH} * {count} + {i}, '{PLACE}', place.{PLACE})"
        rows = newest(_rows(shadow), (BATCH, PLACE)).where("value IS NOT NULL")
        given.append(rows.selectExpr("key", f"struct({i} AS query, value, {made} AS made) AS one"))
    by_key = reduce(DataFrame.union, given).groupBy("key")
    rows = by_key.agg(F.expr("sort_array(collect_list(one)) AS rows"))
    both = rows.join(_there(target), "key", "full_outer")
    same = "get(filter(rows, one -> one.value = before), 0)"
    chosen = both.withColumn("one", F.expr(f"coalesce({same}, element_at(rows, -1))"))
    return chosen.selectExpr("key", "one.value", "one.made", "before", "there")


def _there(target: DataFrame) -> DataFrame:
    return newest(target, ORDER_COLUMNS).withColumnsRenamed({"value": "before", "place": "there"})


def _rows(shadow: Shadow) -> DataFrame:
    found = shadow.records()
    return shadow.context.spark.createDataFrame([], _SCHEMA) if found is None else found
