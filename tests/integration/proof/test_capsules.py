"""`streamtable prove --capsule` and `streamtable replay`: a differing key, without its topics."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.proof.support import ProvedJob, replay

from streamtable.runtime.capsule.file import Capsule
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _elsewhere(job: ProvedJob, file: Path) -> Capsule:
    """Replace the server in the script of a capsule with an unreachable server."""
    capsule = Capsule.read(file)
    assert job.servers in capsule.script
    moved = replace(capsule, script=capsule.script.replace(job.servers, "127.0.0.1:1"))
    moved.write(file)
    return moved


@pytest.mark.parametrize(
    "tables", [("named", "seen"), pytest.param(("totals", "best"), marks=pytest.mark.soak)]
)
def test_a_differing_key_is_compared_again_without_its_topics(
    tables: tuple[str, ...], broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=tables)
    run = BoundedRun(spark, (tmp_path / "job.sql").read_text(), job.checkpoint, job.variables)
    job.feed(1, 150)
    run()
    planted: dict[str, tuple[Any, Any]] = {"seen": (None, {"shop": 0, "n": 777})}
    if "named" in tables:
        row = next(row for row in run.rows("named").values() if row["name"])
        planted["named"] = ({"id": row["id"]}, None)
    else:
        total, best = run.rows("totals")[2,], run.rows("best")[1, 2]
        planted["totals"] = ({"shop": 2}, {**total, "amount": total["amount"] + 1})
        planted["best"] = ({"shop": 1, "place": 2}, {**best, "amount": 1000})
    for table in tables:
        sides = [None if one is None else json.dumps(one).encode() for one in planted[table]]
        produce(job.servers, job.topic(table), [(sides[0], sides[1])])

    files = job.capsules(tmp_path / "capsules")
    assert set(files) == set(tables)
    found = {table: _elsewhere(job, file) for table, file in files.items()}

    # Only records that affect the key: every version of the orders that were in the shop.
    if "named" in tables:
        inputs = found["named"].inputs
        assert {r.key for r in inputs["orders"]} == {found["named"].key.encode()}
        assert len({r.key for r in inputs["shops"]}) == 1
        assert found["seen"].inputs == {"clicks": []}
        assert [json.loads(r.value or b"")["n"] for r in found["seen"].target] == [777]
    else:
        assert json.loads(found["totals"].key) == {"shop": 2}
        orders = {json.loads(r.key or b"")["id"] for r in found["totals"].inputs["orders"]}
        versions = [json.loads(r.value) for r in found["totals"].inputs["orders"] if r.value]
        assert {row["id"] for row in versions if row["shop"] == 2} == orders
        assert 0 < len(orders) < 40

    for table, file in files.items():
        result = replay(file, "--json")
        assert result.exit_code == 1, result.output
        answer = json.loads(result.stdout)
        assert answer["reproduced"], table
        assert (answer["expected"], answer["found"]) == (
            found[table].expected,
            found[table].found,
        )
    # Without the planted record, the same capsule has no difference.
    capsule, file = found[tables[0]], files[tables[0]]
    replace(capsule, target=capsule.target[:-1]).write(file)
    result = replay(file)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("the difference is not reproduced\n")
    assert f"  {capsule.key}: expected {capsule.expected}, found " in result.stdout


def test_a_capsule_has_no_secret(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    job = ProvedJob.make(tmp_path, broker, topic, mode="micro-batch", tables=("seen",))
    file = tmp_path / "job.sql"
    told = "-- the password is in-a-comment\n"
    option = "'format' = 'json', 'properties.ssl.keystore.password' = 'plain-${word}'"
    file.write_text(told + file.read_text().replace("'format' = 'json'", option))
    job.variables["word"] = "of-the-keystore"
    run = BoundedRun(spark, file.read_text(), job.checkpoint, job.variables)
    job.feed(1, 20)
    run()
    produce(job.servers, job.topic("seen"), [(None, b'{"shop": 9, "n": 9}')])

    capsule = job.capsules(tmp_path / "capsules")["seen"]
    with zipfile.ZipFile(capsule) as found:
        texts = [found.read(name).decode() for name in found.namelist()]
    for secret in ("in-a-comment", "of-the-keystore"):
        assert not any(secret in text for text in texts)
    assert replay(capsule).exit_code == 1
