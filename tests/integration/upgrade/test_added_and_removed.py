"""Adding an INSERT to a script, removing it or adding it again affects no other query."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.integration.jobs.committed import once
from tests.integration.upgrade.support import COPY, COUNTS, GUARANTEES, Jobs, events

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _counts(rows: list[dict[str, int]]) -> dict[int, int]:
    return dict(Counter(row["g"] for row in rows))


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_queries_are_added_removed_and_added_again(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("upgrade", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", guarantee)
    jobs.send(events(0, 40))
    jobs.run(COPY)
    # The added query reads from its startup position, and the first query continues.
    jobs.send(events(40, 60))
    told = jobs.run(COUNTS, COPY)
    assert "counts: new in the script, starts at the startup positions of its tables" in told
    assert jobs.copied() == once(60)
    counts = {g: row["n"] for g, row in jobs.folded("counts").items()}
    assert counts == _counts(events(0, 60))
    # A removed query writes nothing more.
    jobs.send(events(60, 80))
    told = jobs.run(COUNTS)
    assert any(line.startswith("copies: no longer in the script") for line in told)
    assert jobs.copied() == once(60)
    # The removed query continues where it stopped, and does not repeat a record.
    jobs.send(events(80, 100))
    told = jobs.run(COPY, COUNTS)
    assert "copies: in the script again, continues at its last commit" in told
    assert jobs.copied() == once(100)
    counts = {g: row["n"] for g, row in jobs.folded("counts").items()}
    assert counts == _counts(events(0, 100))


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_the_first_of_two_inserts_into_a_table_is_removed(
    guarantee: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The second INSERT keeps its offsets, and its transactional ids with exactly-once."""
    source = topic("upgrade", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", guarantee)
    even = COPY.replace(";", " WHERE MOD(id, 2) = 0;")
    odd = COPY.replace(";", " WHERE MOD(id, 2) = 1;")
    jobs.send(events(0, 40))
    jobs.run(even, odd)
    jobs.send(events(40, 60))
    jobs.run(odd)
    expected = once(40) + Counter(range(41, 60, 2))
    assert jobs.copied() == expected
    jobs.send(events(60, 80))
    jobs.run(odd, even)
    assert jobs.copied() == once(80)
    manifest = json.loads((tmp_path / "c" / "streamtable.json").read_text())
    assert set(manifest["queries"]) == {"copies", "copies-2"}


def test_a_topic_of_a_removed_query_may_be_recreated(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A new query reads the recreated topic. The removed query fails: its records are lost."""
    from confluent_kafka.admin import AdminClient, NewTopic

    source, other = topic("upgrade"), topic("other")
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "at-least-once")
    jobs.tables += (
        jobs.tables[: jobs.tables.index(";") + 1]
        .replace(" t (", " u (")
        .replace("${source}", other)
    )
    from_other = COPY.replace("FROM t", "FROM u")
    jobs.send(events(0, 10))
    jobs.run(COUNTS, from_other)
    jobs.run(COUNTS)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.delete_topics([other])[other].result(30)
    admin.create_topics([NewTopic(other, 1)])[other].result(30)
    with pytest.raises(StreamtableError) as refused:
        jobs.run(COUNTS, from_other)
    assert refused.value.condition is Condition.DATA_LOST
    jobs.run(COUNTS, "INSERT INTO sums SELECT g, COUNT(*), SUM(v) FROM u GROUP BY g;")
