"""`streamtable prove` finds a row that comes out wrong because the state of a job was changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.proof.support import ProvedJob, replay

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _order(job: ProvedJob, id_: int, shop: int, amount: int) -> None:
    row = {"id": id_, "shop": shop, "amount": amount, "price": 1.0}
    sides = (json.dumps({"id": id_}).encode(), json.dumps(row).encode())
    produce(job.servers, job.variables["orders"], [sides])


def _run(job: ProvedJob, spark: SparkSession) -> Mapping[Any, Mapping[str, Any]]:
    script = (job.folder / "job.sql").read_text()
    run = BoundedRun(spark, script, job.checkpoint, job.variables)
    run()
    return run.rows("totals")


def test_a_changed_value_in_state_is_found(
    broker: Broker, topic: Topics, tmp_path: Path, spark: SparkSession
) -> None:
    jobs = []
    for name, amount in (("job", 10), ("other", 11)):
        (tmp_path / name).mkdir()
        job = ProvedJob.make(tmp_path / name, broker, topic, mode="micro-batch", tables=("totals",))
        for id_, shop in ((1, 1), (2, 1), (3, 2)):
            _order(job, id_, shop, amount if id_ == 1 else 5)
        _run(job, spark)
        jobs.append(job)
    job, other = jobs

    # Take the state of a job whose first order has another amount: one value of one key differs.
    # Also take the commits, which have the ids of the state files.
    for part in ("state", "commits"):
        shutil.rmtree(job.checkpoint / "totals" / part)
        shutil.copytree(other.checkpoint / "totals" / part, job.checkpoint / "totals" / part)
    assert job.results()["totals"]["result"] == "equal", "the topic is not changed yet"

    _order(job, 4, 1, 100)
    _order(job, 5, 2, 100)
    rows = _run(job, spark)
    assert (rows[1,]["amount"], rows[2,]["amount"]) == (116, 105)
    capsules = tmp_path / "capsules"
    found = job.results("--capsule", str(capsules))["totals"]
    assert (found["result"], found["keys"], found["changed"]) == ("differs", 2, 1)
    assert json.loads(found["smallest"]) == {"shop": 1}
    assert json.loads(found["examples"][0]["expected"])["amount"] == 115
    assert found["written"]["batch"] == found["batch"]
    (file,) = capsules.iterdir()
    assert json.loads(replay(file, "--json").stdout)["reproduced"]
