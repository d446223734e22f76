"""The records by which a topic differs from the rows of a shadow run, and their writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.sink import SinkFacts
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.runtime.checkpoint.storage.trees import remove_tree
from streamtable.runtime.upgrade.comparison import DIFFERS, EARLY, both_records
from streamtable.runtime.upgrade.shadow import Shadow

_SCHEMA = "key BINARY, value BINARY"
_FILES, _COMPARED = "difference", "compared"


@dataclass(frozen=True)
class Counts:
    """Sizes of a difference.

    Attributes:
        before: keys in the target before the upgrade.
        written: keys that get a new or another row.
        deleted: keys that get a delete.
        alike: keys whose record stays because it has the same row in other bytes.
    """

    before: int
    written: int
    deleted: int
    alike: int = 0

    def words(self, target: str) -> str:
        """Return the sizes in words."""
        alike = f"; {self.alike:,} have the same row in other bytes, and stay" if self.alike else ""
        return (
            f"of {self.before:,} keys in {target}, {self.written:,} get another or a first row"
            f" and {self.deleted:,} are deleted{alike}"
        )


#: Selects the records of a comparison that have to be written: those whose rows differ.
Select = Callable[[DataFrame], DataFrame]


def compare(
    shadows: Sequence[Shadow], target: DataFrame | None = None, select: Select | None = None
) -> Counts:
    """Write the difference between the target and shadow runs to files of the first one.

    The files have one row for each key that differs: `key`; `value`, the new record or NULL; and
    `before`, the present record or NULL.

    Args:
        shadows: the shadow runs of all queries that write the target.
        target: the records of the target; None to read them.
        select: selects among the records whose bytes differ, which also have the places of both
            records, `made` and `there`; None for all of them.
    """
    shadow = shadows[0]
    files, compared = shadow.folder / _FILES, shadow.folder / _COMPARED
    both, seen = both_records(shadows, target), Observation()
    counted = both.records.observe(seen, F.count("before").alias("before"))
    counted.where(DIFFERS).write.mode("overwrite").parquet(str(compared))
    differing = shadow.context.spark.read.parquet(str(compared))
    chosen = differing if select is None else select(differing)
    chosen.select("key", "value", "before").write.mode("overwrite").parquet(str(files))
    ((written, deleted),) = (
        differences(shadow).selectExpr("count(value)", "count_if(value IS NULL)").collect()
    )
    alike = differing.count() - written - deleted
    remove_tree(compared)
    return Counts(both.others + seen.get["before"], written, deleted, alike)


def differences(shadow: Shadow) -> DataFrame:
    """Return what `compare` has written: key, value, before."""
    return shadow.context.spark.read.parquet(str(shadow.folder / _FILES))


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


def is_compared(query: CheckpointPath) -> bool:
    """Whether a directory of a query has the difference of an upgrade."""
    return (query / Shadow.FOLDER / _FILES).is_dir()


def clean(folder: CheckpointPath) -> None:
    """Delete the files of a shadow run that no later step needs."""
    for name in ("captured", _COMPARED, EARLY, "forth"):
        remove_tree(folder / name)
