"""A Python aggregate function over an upsert topic: updates, deletes, a restart and a proof."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.testing.histories import random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

MODULE = """
from streamtable.common import Row
from streamtable.udf import AggregateFunction, udaf


class WeightedAvg(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)

    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight

    def retract(self, accumulator, value, weight):
        accumulator[0] -= value * weight
        accumulator[1] -= weight

    def get_value(self, accumulator):
        return accumulator[0] // accumulator[1] if accumulator[1] else None

    def get_result_type(self):
        return "BIGINT"

    def get_accumulator_type(self):
        return "ROW<f0 BIGINT, f1 BIGINT>"


weighted_avg = udaf(WeightedAvg())
"""
_WITH = (
    "'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${servers}',"
    " 'key.format' = 'json', 'value.format' = 'json', 'topic' = '${source}"
)
SCRIPT = f"""
SET 'python.files' = '${{folder}}';
CREATE FUNCTION weighted_avg AS 'averages_of_a_test.weighted_avg' LANGUAGE PYTHON;
CREATE TABLE orders (id INT, shop INT, price INT, amount INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ({_WITH}');
CREATE TABLE averages (shop INT, average BIGINT, n BIGINT, PRIMARY KEY (shop) NOT ENFORCED)
WITH ({_WITH}-averages');
INSERT INTO averages SELECT shop, weighted_avg(price, amount), COUNT(*) FROM orders GROUP BY shop;
"""


def _order(dice: random.Random) -> dict[str, Any]:
    numbers = {name: dice.randrange(1, 10) for name in ("price", "amount")}
    return {"shop": dice.randrange(5), **numbers}


def _expected(rows: Mapping[Any, Mapping[str, Any]]) -> dict[int, dict[str, int]]:
    found = {}
    for shop in {row["shop"] for row in rows.values()}:
        own = [row for row in rows.values() if row["shop"] == shop]
        weights = sum(row["amount"] for row in own)
        average = sum(row["price"] * row["amount"] for row in own) // weights
        found[shop] = {"shop": shop, "average": average, "n": len(own)}
    return found


def test_updates_deletes_a_restart_and_a_proof(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    functions = tmp_path / "functions"
    functions.mkdir()
    (functions / "averages_of_a_test.py").write_text(MODULE)
    names = {"source": topic("orders", partitions=2), "servers": broker.bootstrap_servers}
    names["folder"] = str(functions)
    run = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    rows: dict[Any, Any] = {}
    for seed in range(2):
        history = random_history(seed, 60, 15, _order)
        produce_changes(names["servers"], names["source"], "id", history)
        rows.update((change.key, change.values) for change in history)
        run({"execution.micro-batch.max-records": "20"})
        left = {key: row for key, row in rows.items() if row is not None}
        assert {row["shop"]: dict(row) for row in run.rows("averages").values()} == _expected(left)

    (tmp_path / "job.sql").write_text(SCRIPT)
    arguments = ["prove", str(tmp_path / "job.sql"), "--checkpoint", str(tmp_path / "c"), "--json"]
    arguments += [f"--var={name}={value}" for name, value in names.items()]
    proof = CliRunner().invoke(cli, arguments)
    assert proof.exit_code == 0, proof.output
    assert json.loads(proof.stdout)["result"] == "equal"
