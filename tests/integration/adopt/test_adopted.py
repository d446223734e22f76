"""An adoption of the topics of another engine writes only rows that differ."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from tests.integration.adopt.support import Adopter, sums
from tests.integration.jobs.committed import once
from tests.integration.upgrade.support import COPY, SUMS, events

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def test_only_rows_that_differ_are_written(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("adopt", partitions=2)
    jobs = Adopter(spark, broker.bootstrap_servers, source, tmp_path, "exactly-once")
    jobs.send(events(0, 100))
    jobs.other.run(SUMS)
    right = sums(events(0, 100))
    jobs.plant("sums", 0, json.dumps({**right[0], "n": 7}))  # a stale key
    jobs.plant("sums", 1, None)  # a missing key
    jobs.plant("sums", 9, '{"g":9,"n":1,"s":1}')  # an extra key
    jobs.plant("sums", 2, json.dumps(right[2], indent=1))  # the same row in other bytes
    before = jobs.written("sums")

    planned = jobs.adopt(SUMS, plan=True)
    line = (
        "  sums: of 5 keys in"
        f" {source}-sums, 2 get another or a first row and 1 are deleted;"
        " 1 have the same row in other bytes, and stay"
    )
    assert line in planned, planned
    assert '    {"g":9}: {"g":9,"n":1,"s":1} -> no row' in planned
    assert f'    {{"g":1}}: no row -> {json.dumps(right[1], separators=(",", ":"))}' in planned
    assert any(row.startswith('    {"g":0}: {"g":0,"n":7,') for row in planned)
    assert not jobs.checkpoint.exists()
    assert jobs.written("sums") == before

    said = jobs.adopt(SUMS)
    # The order of records of two partitions is not defined.
    new = Counter(map(repr, jobs.written("sums"))) - Counter(map(repr, before))
    expected = [({"g": 0}, right[0]), ({"g": 1}, right[1]), ({"g": 9}, None)]
    assert new == Counter(map(repr, expected)), said
    assert jobs.folded("sums") == right

    jobs.send(events(100, 130))
    jobs.run(SUMS)
    assert jobs.folded("sums") == sums(events(0, 130))


def test_inserts_into_a_shared_topic_are_compared_together(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The rows of INSERTs into one topic are compared together."""
    inserts = [SUMS.replace(" GROUP", f" WHERE MOD(g, 2) = {i} GROUP") for i in (0, 1)]
    jobs = Adopter(spark, broker.bootstrap_servers, topic("adopt", partitions=2), tmp_path)
    jobs.send(events(0, 60))
    jobs.other.run(*inserts)
    right = sums(events(0, 60))
    jobs.plant("sums", 1, json.dumps({**right[1], "n": 7}))
    jobs.plant("sums", 9, '{"g":9,"n":1,"s":1}')
    jobs.plant("sums", 2, json.dumps(right[2], indent=1))
    before = jobs.written("sums")
    line = "sums and sums-2: of 6 keys in"
    assert any(line in said for said in jobs.adopt(*inserts, plan=True))
    jobs.adopt(*inserts)
    new = Counter(map(repr, jobs.written("sums"))) - Counter(map(repr, before))
    assert new == Counter(map(repr, [({"g": 1}, right[1]), ({"g": 9}, None)]))
    jobs.send(events(60, 90))
    jobs.run(*inserts)
    assert jobs.folded("sums") == sums(events(0, 90))


def test_adoption_ends_at_given_or_committed_offsets(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """An adoption writes nothing to append-only sinks, which continue from the end offsets."""
    source = topic("adopt")
    jobs = Adopter(spark, broker.bootstrap_servers, source, tmp_path)
    jobs.send(events(0, 40))
    jobs.other.run(SUMS, COPY)
    jobs.send(events(40, 50))
    written = len(jobs.written("sums"))
    said = jobs.adopt(SUMS, COPY, at={source: {0: 40}})
    reads = f"reads 40 records, up to partition:0,offset:40 of topic '{source}'"
    assert f"sums: adopted: {reads}" in said
    assert any(line.startswith(f"copies: state only: {reads}; copies keeps") for line in said)
    assert len(jobs.written("sums")) == written
    assert jobs.copied() == once(40)
    jobs.run(SUMS, COPY)
    assert jobs.folded("sums") == sums(events(0, 50))
    assert jobs.copied() == once(50)

    jobs.checkpoint = tmp_path / "second"
    jobs.send(events(50, 60))
    jobs.commit("flink", {0: 50})
    written = len(jobs.written("sums"))
    said = jobs.adopt(SUMS, COPY, group="flink")
    assert len(jobs.written("sums")) == written, said
    jobs.run(SUMS, COPY)
    assert jobs.folded("sums") == sums(events(0, 60))
    assert jobs.copied() == once(60)
