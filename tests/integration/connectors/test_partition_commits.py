"""Partition commit of files by partition time and by processing time, also after restarts."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ANSWERS = Path(__file__).parents[2] / "compat" / "files" / "partition-times-flink-2.2.1.json"

_SCRIPT = """
CREATE TABLE incoming (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
  'connector' = 'filesystem', 'path' = '${in}', 'format' = 'csv',
  'source.monitor-interval' = '100 ms'
);
CREATE TABLE bids (id INT, dt STRING, hm STRING) PARTITIONED BY (dt, hm) WITH (
  'connector' = 'filesystem', 'path' = '${out}', 'format' = 'csv',
  'sink.partition-commit.policy.kind' = 'success-file', ${options}
);
INSERT INTO bids
SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH:mm') FROM incoming;
"""
_BY_TIME = """
  'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '1 min',
  'partition.time-extractor.timestamp-pattern' = '$dt $hm:00'
"""


class _Job:
    """A job that can run several times, with an input and an output directory."""

    def __init__(self, spark: SparkSession, folder: Path, options: str) -> None:
        self.source, self.out = folder / "in", folder / "out"
        self.checkpoint = folder / "checkpoint"
        self._spark, self._files = spark, 0
        self.source.mkdir()
        self.set(options)

    def set(self, options: str) -> None:
        """Set the sink options of the next run."""
        names = {"in": str(self.source), "out": str(self.out), "options": options}
        self.run = BoundedRun(self._spark, _SCRIPT, self.checkpoint, names)

    def put(self, *times: str) -> None:
        """Add a file with a row for each time of a day."""
        self._files += 1
        draft = self.source / f".{self._files}"
        draft.write_text("".join(f'{self._files},"2026-01-31 {at}"\n' for at in times))
        draft.rename(self.source / f"{self._files}.csv")

    def partition(self, minute: str) -> Path:
        """Return the directory of a minute."""
        return self.out / "dt=2026-01-31" / f"hm={minute.replace(':', '%3A')}"

    def committed(self) -> list[str]:
        """Return the minutes of partitions with the marker."""
        # Spark deletes its own directories meanwhile.
        markers = self.out.glob("dt=*/hm=*/_SUCCESS")
        found = (marker.parent.name.removeprefix("hm=") for marker in markers)
        return sorted(name.replace("%3A", ":") for name in found)

    def rows(self) -> int:
        """Return the number of written rows."""
        return sum(len(f.read_text().splitlines()) for f in self.out.rglob("part-*"))

    def wait(self, minutes: list[str]) -> None:
        """Run without an end until these partitions, and no others, have the marker."""
        self.run.until(lambda: self.committed() == minutes, seconds=60)

    def waiting(self) -> list[list[str]]:
        """Return the waiting partitions of the checkpoint: time and directory."""
        (log,) = self.checkpoint.rglob("files/partitions")
        return [line.split(" ", 1) for line in log.read_text().splitlines()[1:]]


def test_commits_by_the_watermark(spark: SparkSession, tmp_path: Path) -> None:
    job = _Job(spark, tmp_path, _BY_TIME)
    job.put("12:00:10", "12:00:59", "12:01:01")
    job.wait(["12:00"])
    assert job.rows() == 3
    # After a restart, a partition gets no second marker while it gets no rows.
    (job.partition("12:00") / "_SUCCESS").unlink()
    job.put("12:02:00.001")
    job.wait(["12:01"])
    # Late rows commit their partition again, at once.
    job.put("12:00:30")
    job.wait(["12:00", "12:01"])
    assert [name for _, name in job.waiting()] == ["dt=2026-01-31/hm=12%3A02"]
    # A watermark equal to the time of the partition plus the delay does not commit the partition.
    job.put("12:03:00")
    job.run()
    assert job.committed() == ["12:00", "12:01"]
    job.run(drain=True)
    assert job.committed() == ["12:00", "12:01", "12:02", "12:03"]
    assert job.rows() == 6


def test_commits_by_processing_time(spark: SparkSession, tmp_path: Path) -> None:
    job = _Job(spark, tmp_path, "'sink.partition-commit.delay' = '1 h'")
    job.put("12:00:00")
    job.run()
    assert (job.rows(), job.committed()) == (1, [])
    ((since, name),) = job.waiting()
    assert name == "dt=2026-01-31/hm=12%3A00"
    # After a crash before the end of the batch, the batch runs again. The partition keeps the time
    # since which it waits.
    for done in ("commits/0", "files/done"):
        (found,) = job.checkpoint.rglob(done)
        found.unlink()
    job.run()
    assert (job.rows(), job.waiting()) == (1, [[since, name]])
    # The delay counts from the creation of the partition, also after restarts and without new rows.
    begun = time.time()
    job.set("'sink.partition-commit.delay' = '3 s'")
    job.wait(["12:00"])
    assert time.time() > int(since) / 1000 + 3
    assert time.time() < begun + 60
    job.set("'sink.partition-commit.delay' = '1 h'")
    job.put("12:01:00")
    job.run()
    assert job.committed() == ["12:00"]
    job.run(drain=True)
    assert job.committed() == ["12:00", "12:01"]


def test_an_invalid_partition_time_ends_the_job(spark: SparkSession, tmp_path: Path) -> None:
    job = _Job(spark, tmp_path, _BY_TIME.replace("$dt $hm:00", "$dt at $hm"))
    job.put("12:00:00")
    with pytest.raises(StreamtableError) as failed:
        job.run()
    assert failed.value.condition is Condition.PARTITION_TIME_UNKNOWN
    assert "partition 'dt=2026-01-31/hm=12%3A00' of table bids" in str(failed.value)
    assert not [f for f in job.out.rglob("part-*") if ".staging" not in str(f)]
    job.set(_BY_TIME)
    job.run(drain=True)
    assert (job.rows(), job.committed()) == (1, ["12:00"])


@pytest.mark.parametrize(
    "option",
    [
        "'sink.partition-commit.watermark-time-zone' = 'Mars/Olympus'",
        "'partition.time-extractor.timestamp-formatter' = 'yyyy-bb'",
    ],
)
def test_invalid_time_zones_and_formatters_are_refused(
    spark: SparkSession, tmp_path: Path, option: str
) -> None:
    job = _Job(spark, tmp_path, f"{_BY_TIME}, {option}")
    with pytest.raises(StreamtableError) as refused:
        job.run()
    assert refused.value.condition is Condition.OPTION_CONFLICT
    assert "the partition commit of bids" in str(refused.value)


def test_times_of_partitions_as_in_flink(spark: SparkSession) -> None:
    java, times = Bridge(spark).java.files, spark._jvm.java.time  # type: ignore[union-attr]
    differing = {}
    for case in json.loads(_ANSWERS.read_text())["cases"]:
        pairs = zip(case["keys"].split(","), case["values"].split(","), strict=True)
        partition = "/".join(f"{key}={value.replace(':', '%3A')}" for key, value in pairs)
        try:
            extractor = java.PartitionTime(case["pattern"], case["formatter"], "UTC")
            instant = times.Instant.ofEpochMilli(extractor.of(partition))
            found = instant.atOffset(times.ZoneOffset.UTC).toLocalDateTime().toString()
        except Exception:
            found = None
        if found != case["time"]:
            differing[case["id"]] = (case, found)
    assert not differing
