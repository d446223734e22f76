"""`streamtable prove --since`: only the records after an earlier proof are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from tests.integration.proof.support import ProvedJob

from streamtable.runtime.proof.compare import digest_of
from streamtable.runtime.proof.sides import compared_fields
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_INDUCED = ("seen", "counts", "newest")


#: The message does not tell whether a number is absent: NULL becomes 0.
_PLAIN_MESSAGES = """
CREATE TABLE clicks (shop INT, n INT) WITH ('connector' = 'kafka', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset',
  'topic' = '${clicks}', 'properties.bootstrap.servers' = '${servers}');
CREATE TABLE counts (shop INT, clicks BIGINT, least INT, PRIMARY KEY (shop) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'protobuf',
  'value.protobuf.message-class-name' = 'shop.Shop',
  'value.protobuf.schema' = '
    syntax = "proto3"; package shop;
    message Shop { int32 shop = 1; int64 clicks = 2; int32 least = 3; }',
  'topic' = '${prefix}-counts', 'properties.bootstrap.servers' = '${servers}');
INSERT INTO counts SELECT shop, COUNT(*), MIN(n) FROM clicks GROUP BY shop;
"""


def _run(job: ProvedJob, spark: SparkSession) -> BoundedRun:
    script = (job.folder / "job.sql").read_text()
    return BoundedRun(spark, script, job.checkpoint, job.variables)


def _click(job: ProvedJob, *clicks: tuple[int, int | None]) -> None:
    produce_json(
        job.servers, job.variables["clicks"], [{"shop": shop, "n": n} for shop, n in clicks]
    )


def _write(job: ProvedJob, table: str, key: Any, row: Any) -> None:
    texts = [None if one is None else json.dumps(one).encode() for one in (key, row)]
    produce(job.servers, job.topic(table), [(texts[0], texts[1])])


def _ends(job: ProvedJob, topic: str) -> dict[int, int]:
    admin = AdminClient({"bootstrap.servers": job.servers})
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
    asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in partitions}
    found = admin.list_offsets(asked, request_timeout=30)
    return {one.partition: future.result().offset for one, future in found.items()}


def _delete_clicks(job: ProvedJob) -> None:
    """Delete all records of clicks, as retention does."""
    clicks = job.variables["clicks"]
    admin = AdminClient({"bootstrap.servers": job.servers})
    begun = [TopicPartition(clicks, p, end) for p, end in _ends(job, clicks).items()]
    for future in admin.delete_records(begun).values():
        future.result()


def _since(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: one["since"] for name, one in found.items()}


def test_an_increment_is_proved_after_retention(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=_INDUCED)
    run = _run(job, spark)
    job.feed(1, 100)
    _click(job, (7, 2_000_000_000), (8, 4))
    run()
    whole = job.results("--since", "last")
    assert {one["result"] for one in whole.values()} == {"equal"}
    assert set(_since(whole).values()) == {None}, "nothing was recorded before"
    first = whole["counts"]["batch"]
    unknown = job.prove("--since", "99", "--table", "counts")
    assert "no proof of this query at batch 99 is recorded" in unknown.stderr
    assert f"batches with such a proof: {first}" in unknown.stderr

    # The brokers delete all input of the proof. The sum of shop 7 exceeds the range of INT.
    _delete_clicks(job)
    _click(job, (7, 2_000_000_000), (9, 5), (1, 3))
    run()
    found = job.results("--since", str(first))
    assert {one["result"] for one in found.values()} == {"equal"}
    assert _since(found) == {key: {"batch": first, "whole": first, "links": 0} for key in _INDUCED}
    assert (found["counts"]["offsets"], found["counts"]["keys"]) == (3, 8)
    assert found["seen"]["offsets"] == 2 * 3
    assert run.rows("counts")[7,]["n"] == 4_000_000_000 - 2**32

    # Rows of keys that no later record has touched are changed, and a row is added.
    _write(job, "counts", {"shop": 8}, {**dict(run.rows("counts")[8,]), "n": 5})
    _write(job, "newest", {"shop": 7}, None)
    _write(job, "seen", None, {"shop": 0, "n": 777})
    _click(job, (1, 5))
    run()
    result = job.prove("--since", "last", "--json")
    wrong = {one["query"]: one for one in map(json.loads, result.stdout.splitlines())}
    kinds = ("result", "changed", "missing", "extra")
    assert {name: tuple(one[kind] for kind in kinds) for name, one in wrong.items()} == {
        "seen": ("differs", 0, 0, 1),
        "counts": ("differs", 1, 0, 0),
        "newest": ("differs", 0, 1, 0),
    }
    assert json.loads(wrong["counts"]["examples"][0]["expected"])["n"] == 4
    assert wrong["counts"]["since"] == {"batch": first + 1, "whole": first, "links": 1}
    assert "not explained from the whole input: MOMENT_LOST" in result.stderr


@pytest.mark.soak
def test_a_wrong_baseline_is_found_by_the_whole_proof(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=("counts",))
    run = _run(job, spark)
    _click(job, (1, 1), (2, 2))
    run()
    assert job.results()["counts"]["result"] == "equal"
    right = dict(run.rows("counts")[1,])
    _write(job, "counts", {"shop": 1}, {**right, "n": 100})

    # Change the recorded proof, as if a proof by induction had overlooked the wrong row.
    session = Session()
    session.load((tmp_path / "job.sql").read_text(), "job.sql", variables=job.variables)
    fields = compared_fields(session.plans[0])
    rows = [tuple(dict(row)[f.name] for f in fields) for row in run.rows("counts").values()]
    schema = ", ".join(f"`{f.name}` {f.type.spark_sql()}" for f in fields)
    keys, digest = digest_of(spark.createDataFrame(rows, schema), fields)
    file = job.checkpoint / "proofs.json"
    recorded = json.loads(file.read_text())
    (proof,) = recorded["queries"]["counts"]
    assert (proof["keys"], proof["links"]) == (2, 0)
    assert proof["digest"] != digest
    name = job.topic("counts")
    proof["commit"]["ends"] = {f"{name}/{p}": end for p, end in _ends(job, name).items()}
    file.write_text(json.dumps(recorded))
    stale = job.prove("--since", "last")
    assert "the sink no longer has the rows of batch" in stale.stderr
    assert "1 differ" in stale.stdout, "the whole input is compared"
    recorded["queries"]["counts"] = [{**proof, "keys": keys, "digest": digest, "links": 1}]
    file.write_text(json.dumps(recorded))

    _click(job, (2, 3))
    run()
    blind = job.results("--since", "last")["counts"]
    assert (blind["result"], blind["since"]["links"]) == ("equal", 1)
    whole = job.results()["counts"]
    assert (whole["result"], whole["changed"], whole["since"]) == ("differs", 1, None)
    later = job.results("--since", "last")["counts"]
    assert (later["result"], later["since"]) == ("differs", None), "the chain is taken back"


@pytest.mark.soak
def test_a_format_that_loses_null_leaves_a_minimum_undecided(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=("counts",))
    (tmp_path / "job.sql").write_text(_PLAIN_MESSAGES)
    _click(job, (1, None), (2, 7))
    _run(job, spark)()
    assert job.results()["counts"]["result"] == "equal"
    _delete_clicks(job)
    _click(job, (1, 5))
    _run(job, spark)()
    found = job.results("--since", "last")["counts"]
    assert (found["result"], found["changed"]) == ("undecided", 1)
    assert "the format of the sink writes NULL as a value" in found["undecided"][0]
