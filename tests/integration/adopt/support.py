"""Adopt topics that a job with another checkpoint wrote in the role of another engine."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, TopicPartition
from tests.integration.upgrade.support import Jobs

from streamtable.runtime.adopt.adopt import adopt_job
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.session import Session, fixed_settings
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession


class Adopter(Jobs):
    """Run scripts in the role of another engine, and adopt its topics into a new checkpoint.

    `other` runs the jobs of the other engine; `checkpoint` is the checkpoint of the adoption.
    """

    def __init__(
        self,
        spark: SparkSession,
        servers: str,
        source: str,
        folder: Path,
        guarantee: str = "at-least-once",
    ) -> None:
        super().__init__(spark, servers, source, folder / "c", guarantee)
        self.other = Jobs(spark, servers, source, folder / "other", "at-least-once")

    def adopt(
        self,
        *inserts: str,
        plan: bool = False,
        at: Mapping[str, Mapping[int, int]] | None = None,
        group: str | None = None,
    ) -> list[str]:
        """Adopt the topics of a script and return the lines of the result."""
        session = Session(settings=fixed_settings({}))
        session.load(self.script(*inserts), "job.sql", self.names)
        said: list[str] = []
        options = AdoptOptions(str(self.checkpoint), plan=plan, at=at or {}, group=group)
        settings = session.settings.current()
        adopt_job(session.plans, settings, options, said.append, said.append, spark=self.spark)
        return said

    def plant(self, table: str, group: int, value: str | None) -> None:
        """Write a record of a group to a sink's topic: this exact value, or a tombstone if None."""
        key = json.dumps({"g": group}, separators=(",", ":")).encode()
        record = (key, None if value is None else value.encode())
        produce(self.servers, f"{self.source}-{table}", [record])

    def commit(self, group: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets of the source topic."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": group})
        partitions = [TopicPartition(self.source, p, offset) for p, offset in offsets.items()]
        consumer.commit(offsets=partitions, asynchronous=False)
        consumer.close()


def sums(rows: Iterable[Mapping[str, int]]) -> dict[int, dict[str, Any]]:
    """Return the rows of the table `sums` for rows of the source, by group."""
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        of_group = found.setdefault(row["g"], {"g": row["g"], "n": 0, "s": 0})
        of_group["n"] += 1
        of_group["s"] += row["v"]
    return found
