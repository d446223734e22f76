"""INSERTs into one topic are proved together: rows of the other INSERTs are no differences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result
from tests.integration.upgrade.support import COPY, COUNTS, Jobs, events

from streamtable.cli.main import cli
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

INSERTS = (
    COUNTS.replace(" GROUP", " WHERE MOD(g, 2) = 1 GROUP"),
    COUNTS.replace(" GROUP", " WHERE MOD(g, 2) = 0 GROUP"),
    COPY.replace(";", " WHERE id < 12;"),
    COPY.replace(";", " WHERE id > 7;"),
)


def _prove(jobs: Jobs, script: Path, *options: str) -> Result:
    given = [f"--var={name}={value}" for name, value in jobs.names.items()]
    place = ["--checkpoint", str(jobs.checkpoint), *options]
    return CliRunner().invoke(cli, ["prove", str(script), *given, *place])


def _results(jobs: Jobs, script: Path, *options: str) -> dict[str, dict[str, Any]]:
    lines = _prove(jobs, script, "--json", *options).stdout.splitlines()
    return {one["query"]: one for one in map(json.loads, lines)}


def test_rows_of_all_inserts_are_compared(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("together", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "at-least-once")
    script = tmp_path / "job.sql"
    script.write_text(jobs.script(*INSERTS))
    jobs.send(events(0, 20))
    jobs.run(*INSERTS)
    jobs.send(events(20, 23))  # no query has read these events
    found = _results(jobs, script)
    assert {name: one["result"] for name, one in found.items()} == dict.fromkeys(
        ("counts", "counts-2", "copies", "copies-2"), "equal"
    )
    assert found["counts"]["together"] == ["counts-2"]
    assert (found["counts"]["keys"], found["counts"]["offsets"]) == (5, 40)
    assert found["copies-2"]["offsets"] == 40
    assert found["copies-2"]["keys"] == 20

    jobs.run(*INSERTS)
    produce(jobs.servers, f"{source}-counts", [(b'{"g":2}', b'{"g":2,"n":9}')])
    told = _prove(jobs, script, "--table", "counts-2", "--since", "last")
    assert told.exit_code == 1
    assert "not by induction: several INSERTs write to topic" in told.stderr
    for name, other in (("counts", "counts-2"), ("counts-2", "counts")):
        assert f"{name}: 5 keys, 46 offsets, 1 differ" in told.stdout
        assert f"  with the rows of {other}, in the same target" in told.stdout
    assert '{"g":2}: expected {"g":2,"n":5}, found {"g":2,"n":9}' in told.stdout
    assert "copies" not in told.stdout
