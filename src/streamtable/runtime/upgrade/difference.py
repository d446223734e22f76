"""The records by which a topic differs from the rows of a shadow run, and their writing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import SinkFacts
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.runtime.upgrade.shadow import BATCH, PLACE, Shadow

_SCHEMA = "key BINARY, value BINARY"
_FILES = "difference"


@dataclass(frozen=True)
class Counts:
    """Sizes of a difference.

    Attributes:
        before: keys in the target before the upgrade.
        written: keys that get a new or another row.
        deleted: keys that get a delete.
    """

    before: int
    written: int
    deleted: int


def folded(records: DataFrame, order: tuple[str, ...]) -> DataFrame:
    """Return the last value of each key, without deleted keys: key, value."""
    last = f"max_by(value, struct({', '.join(order)}))"
    kept = records.where("key IS NOT NULL").groupBy("key").agg(F.expr(last).alias("value"))
    return kept.where("value IS NOT NULL")


def compare(shadow: Shadow) -> Counts:
    """Write the difference between the target and the shadow run to files.

    The files have one row for each key that differs: `key`; `value`, the new record or NULL; and
    `before`, the present record or NULL.
    """
    spark = shadow.context.spark
    there = folded(sink_of(shadow.plan.table).records(shadow.context), ORDER_COLUMNS)
    there = there.withColumnRenamed("value", "before")
    captured = shadow.records()
    rows = (
        spark.createDataFrame([], _SCHEMA) if captured is None else folded(captured, (BATCH, PLACE))
    )
    both = rows.join(there, "key", "full_outer")
    files = shadow.folder / _FILES
    counted = both.selectExpr("*", "NOT (value <=> before) AS differs")
    counted.write.mode("overwrite").parquet(str(shadow.folder / "compared"))
    found = spark.read.parquet(str(shadow.folder / "compared"))
    differing = found.where("differs").select("key", "value", "before")
    differing.write.mode("overwrite").parquet(str(files))
    row = found.selectExpr(
        "count(before) AS before",
        "count_if(differs AND value IS NOT NULL) AS written",
        "count_if(differs AND value IS NULL) AS deleted",
    ).first()
    assert row is not None, "an aggregate without keys has one row"  # noqa: S101
    shutil.rmtree(shadow.folder / "compared")
    return Counts(row["before"], row["written"], row["deleted"])


def write(shadow: Shadow, facts: SinkFacts, *, back: bool = False) -> None:
    """Write the difference to the target, with the delivery guarantee of the sink.

    An interrupted call is continued by the next one.

    Args:
        shadow: the shadow run.
        facts: facts for the sink about the query.
        back: whether to write the records that the target had before, instead of the new ones.
    """
    name = "back" if back else "forth"
    place = shadow.folder / name
    context, spark = shadow.context, shadow.context.spark
    schema = "key BINARY, before BINARY" if back else _SCHEMA
    records = spark.readStream.schema(schema).parquet(str(shadow.folder / _FILES))
    records = records.selectExpr("key", "before AS value" if back else "value")
    # The same keys in the same task, also when a batch runs again: tasks name transactions.
    records = records.repartition("key")
    writer = records.writeStream.queryName(shadow.name).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(place))
    own = replace(facts, job=f"{facts.job}-{name}", directory=place)
    sink_of(shadow.plan.table).write(writer, own, context)
    shadow.write(writer)


def clean(folder: Path) -> None:
    """Delete the files of a shadow run that no later step needs."""
    for name in ("captured", "compared", "forth"):
        shutil.rmtree(folder / name, ignore_errors=True)
