"""Queries that cannot be rebuilt are refused by name, and continue only with `--from-now`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.jobs.committed import once
from tests.integration.upgrade.support import COPY, COUNTS, GUARANTEES, SUMS, Jobs, events

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

LARGE = COPY.replace(";", " WHERE id >= 50;")


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_records_of_an_append_only_sink_are_kept(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", guarantee)
    jobs.send(events(0, 30))
    jobs.run(COPY)
    refused = _refusal(jobs, LARGE)
    assert refused.condition is Condition.CHECKPOINT_NOT_UPGRADED
    assert "copies keeps every record" in str(refused)
    assert "--from-now lets the query continue" in str(refused)
    said = jobs.upgrade(LARGE, from_now=True)
    assert said[0].startswith("copies: from now, with its state:")
    jobs.send(events(30, 70))
    jobs.run(LARGE)
    assert jobs.copied() == once(30) + Counter(range(50, 70))
    proved = jobs.prove(tmp_path / "large.sql", "copies", LARGE)
    assert "NOT_PROVABLE: table copies cannot be compared with its input: since `upgrade" in proved


def test_deleted_records_are_reported(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A changed projection needs no records; a changed filter starts with an empty state."""
    source = topic("upgrade")
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "exactly-once")
    jobs.send(events(0, 20))
    jobs.run(COUNTS, SUMS)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    partition = TopicPartition(source, 0, 7)
    admin.delete_records([partition])[partition].result(30)
    jobs.send(events(20, 30))
    more = COUNTS.replace("COUNT(*)", "COUNT(*) + 100")
    later = SUMS.replace(" GROUP", " WHERE id >= 20 AND g < 4 GROUP")
    refused = _refusal(jobs, more, later)
    assert (
        f"t: partition 0 of topic '{source}' has no records before offset 7 any more, and the"
        " first run read from offset 0"
    ) in str(refused)
    said = jobs.upgrade(more, later, from_now=True)
    assert any(line.startswith("counts: extended:") for line in said)
    assert any(line.startswith("sums: from now, without state:") for line in said)
    jobs.run(more, later)
    # Every group has four rows up to the upgrade and two since.
    assert {row["n"] for row in jobs.folded("counts").values()} == {106}
    rows = jobs.folded("sums")
    assert {g: row["n"] for g, row in rows.items()} == {0: 2, 1: 2, 2: 2, 3: 2, 4: 4}
    proved = jobs.prove(tmp_path / "later.sql", "sums", more, later)
    assert "sums: 4 keys, 10 offsets, 0 differ" in proved
    assert "not compared: the rows that sums had before `upgrade --from-now`" in proved
    # A later upgrade would delete the rows that were kept, so the lost records are still reported.
    for low in (21, 22):
        again = later.replace("20", str(low))
        refused = _refusal(jobs, more, again)
        assert "has no records before offset 7 any more, and the first run read from" in str(
            refused
        )
        jobs.upgrade(more, again, from_now=True)
    assert jobs.folded("sums") == rows
    # The state of the query lacks the group whose row was kept, so extending it is refused, too.
    assert "sums: impossible" in "".join(
        jobs.upgrade(more, again.replace("SUM(v)", "COUNT(*) * 2"), plan=True)
    )


def _refusal(jobs: Jobs, *inserts: str) -> StreamtableError:
    assert any("impossible" in line for line in jobs.upgrade(*inserts, plan=True))
    with pytest.raises(StreamtableError) as refused:
        jobs.upgrade(*inserts)
    assert not (jobs.checkpoint / "upgrade.json").exists()
    return refused.value
