"""`streamtable prove` of jobs on a real broker: no false alarm, and each planted fault is found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.proof.support import ProvedJob

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_QUERIES = ("totals", "named", "best", "seen")


def _run(job: ProvedJob, spark: SparkSession) -> BoundedRun:
    script = (job.folder / "job.sql").read_text()
    return BoundedRun(spark, script, job.checkpoint, job.variables)


def _rows(run: BoundedRun, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    return {key: dict(row) for key, row in run.rows(table).items()}


def _write(job: ProvedJob, table: str, key: Any, row: Any) -> None:
    """Write a record into a sink topic, as another writer; None is a tombstone or no key."""
    texts = [None if one is None else json.dumps(one, separators=(",", ":")) for one in (key, row)]
    encoded = [None if text is None else text.encode() for text in texts]
    produce(job.servers, job.topic(table), [(encoded[0], encoded[1])])


@pytest.mark.parametrize("exactly_once", [pytest.param(False, marks=pytest.mark.soak), True])
def test_planted_faults_are_found(
    exactly_once: bool, broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", exactly_once=exactly_once)
    run = _run(job, spark)
    job.feed(1, 200)
    run()
    job.feed(2, 100)
    run()

    found = job.results()
    assert tuple(found) == _QUERIES
    assert {one["result"] for one in found.values()} == {"equal"}
    assert found["totals"]["keys"] == len(run.rows("totals")) == 4
    assert found["totals"]["tolerant"] == ["price"]
    assert found["seen"]["offsets"] == 2 * 300

    totals, best = _rows(run, "totals"), _rows(run, "best")
    first, second, *_ = totals.values()
    _write(job, "totals", {"shop": first["shop"]}, {**first, "amount": first["amount"] + 1})
    _write(job, "totals", {"shop": second["shop"]}, None)
    _write(job, "totals", {"shop": 99}, {**first, "shop": 99})
    top = best[1, 1]
    stale = {"shop": 1, "id": -1, "amount": 0, "place": 1}
    _write(job, "best", {"shop": top["shop"], "place": 1}, stale)
    _write(job, "seen", None, {"shop": 0, "n": 777})

    found = job.results()
    assert {name: one["result"] for name, one in found.items()} == {
        "totals": "differs",
        "named": "equal",
        "best": "differs",
        "seen": "differs",
    }
    planted = found["totals"]
    kinds = ("changed", "missing", "extra", "rounded", "repeated")
    assert [planted[kind] for kind in kinds] == [1, 1, 1, 0, 0]
    shown = {json.loads(one["key"])["shop"]: one for one in planted["examples"]}
    assert set(shown) == {first["shop"], second["shop"], 99}
    assert shown[99]["expected"] is None
    assert shown[second["shop"]]["found"] is None
    assert json.loads(shown[first["shop"]]["expected"])["amount"] == first["amount"]
    assert (found["best"]["changed"], found["seen"]["extra"]) == (1, 1)
    explained = json.loads(planted["examples"][0]["key"])
    assert explained["shop"] != 99
    assert {one["table"] for one in planted["origins"]} == {"orders"}
    assert {one["table"] for one in found["best"]["origins"]} == {"orders"}
    assert len(found["best"]["origins"]) == 1
    assert found["seen"]["origins"] == []

    some = ("--table", "totals", "--table", "seen") if exactly_once else ()
    other = job.results("--against", "duckdb", *some)
    kinds = ("result", "keys", "changed", "missing", "extra", "examples")
    for name, one in other.items():
        assert "DuckDB has planned and computed the queries" in one["shared"]
        assert [one[kind] for kind in kinds] == [found[name][kind] for kind in kinds]

    text = job.prove("--table", "totals")
    assert text.exit_code == 1
    assert "totals: 5 keys, " in text.output
    assert ", 3 differ, at batch " in text.output
    assert "Both sides share the parser" in text.output


def test_a_repeated_row_is_no_difference_with_at_least_once(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch")
    job.feed(3, 50)
    _run(job, spark)()
    produce(job.servers, job.variables["clicks"], [(None, b'{"shop": 4, "n": 5}')])
    _run(job, spark)()
    _write(job, "seen", None, {"shop": 4, "n": 5})
    seen = job.results("--table", "seen")["seen"]
    assert (seen["result"], seen["repeated"], seen["differ"]) == ("equal", 1, 0)
    assert job.results("--sample", "20%", "--table", "named")["named"]["keys"] < 40


def test_deleted_input_is_reported(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=("totals", "seen"))
    job.feed(4, 60)
    _run(job, spark)()
    admin = AdminClient({"bootstrap.servers": job.servers})
    orders = job.variables["orders"]
    asked = [TopicPartition(orders, 1, 5)]
    for future in admin.delete_records(asked).values():
        future.result()
    result = job.prove("--table", "totals", "--table", "seen", "--json")
    assert result.exit_code == 1
    equal = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["query"], one["result"]) for one in equal] == [("seen", "equal")]
    assert "MOMENT_LOST: table orders cannot be read" in result.stderr
    assert "have deleted records from offset 0 on" in result.stderr
    assert f"partition 1 of topic '{orders}' begins at offset 5" in result.stderr

    # A batch that is planned and not committed may have written a part of its rows.
    planned = job.checkpoint / "seen" / "offsets"
    newest = max(int(file.name) for file in planned.iterdir() if file.name.isdigit())
    (planned / str(newest + 1)).write_bytes((planned / str(newest)).read_bytes())
    result = job.prove("--table", "seen")
    assert result.exit_code == 1
    assert "NOT_PROVABLE: table seen cannot be compared" in result.stderr
    assert "a batch that is planned and not committed" in result.stderr
