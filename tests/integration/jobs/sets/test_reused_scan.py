"""A query that reads a topic in several places reads it once: rows, checkpoints, modes, proofs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tests.integration.jobs.support import Cli, write

from streamtable.cli.main import cli
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

TABLES = """
CREATE TABLE t (kind INT, id INT, v STRING, n ROW<a INT, b STRING>, at TIMESTAMP(3),
  double_id AS id * 2, WATERMARK FOR at AS at - INTERVAL '2' SECOND) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE o (a INT, b STRING, c STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
CREATE TABLE counts (a INT, b STRING, c STRING, PRIMARY KEY (a) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE VIEW one AS SELECT id, v, n, at FROM t WHERE kind = 1;
CREATE VIEW two AS SELECT id, v, n, at FROM t WHERE kind = 2;
"""
APART = {"table.optimizer.reuse-source-enabled": "false"}

_WINDOW = "TABLE(TUMBLE(TABLE {view}, DESCRIPTOR(at), INTERVAL '10' SECOND))"
_COUNTED = (
    "SELECT id, COUNT(*) AS c, window_start, window_end FROM TABLE(HOP(TABLE one, DESCRIPTOR(at),"
    " INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY id, window_start, window_end"
)
#: Name -> the INSERT.
QUERIES: Mapping[str, str] = {
    "join": "INSERT INTO o SELECT x.id, x.v, y.n.b FROM one AS x JOIN two AS y ON x.id = y.n.a",
    "join with itself": (
        "INSERT INTO o SELECT x.id, x.v, y.v FROM t AS x JOIN t AS y ON x.double_id = y.id"
    ),
    "outer join": (
        "INSERT INTO counts SELECT x.id, MAX(x.v), MAX(y.n.b) FROM one AS x LEFT JOIN two AS y"
        " ON x.id = y.n.a AND x.v <> y.v GROUP BY x.id"
    ),
    "interval join": (
        "INSERT INTO o SELECT x.id, x.v, y.v FROM one AS x JOIN two AS y ON x.id = y.n.a"
        " AND y.at BETWEEN x.at - INTERVAL '9' SECOND AND x.at + INTERVAL '9' SECOND"
    ),
    "union": (
        "INSERT INTO o SELECT id, v, 'one' FROM one UNION ALL SELECT n.a, n.b, 'two' FROM two"
        " UNION ALL SELECT id, CAST(kind AS STRING), 'all' FROM t WHERE double_id > 20"
    ),
    "windows": (
        f"INSERT INTO o SELECT x.id, x.v, CAST(y.c AS STRING) FROM (SELECT id, v, window_start,"
        f" window_end FROM {_WINDOW.format(view='one')} GROUP BY id, v, window_start, window_end)"
        " AS x JOIN (SELECT n.a AS id, COUNT(*) AS c, window_start, window_end FROM"
        f" {_WINDOW.format(view='two')} GROUP BY n.a, window_start, window_end) AS y"
        " ON x.id = y.id AND x.window_start = y.window_start AND x.window_end = y.window_end"
    ),
    "equal parts": (
        f"INSERT INTO o SELECT x.id, CAST(x.c AS STRING), CAST(x.window_end AS STRING)"
        f" FROM ({_COUNTED}) AS x JOIN (SELECT MAX(c) AS most, window_start, window_end"
        f" FROM ({_COUNTED}) GROUP BY window_start, window_end) AS y"
        " ON x.window_start = y.window_start AND x.window_end = y.window_end AND x.c >= y.most"
    ),
    "rows and their aggregate": (
        "INSERT INTO counts SELECT x.id, MAX(x.v), MAX(CAST(y.c AS STRING)) FROM one AS x JOIN"
        " (SELECT n.a AS id, COUNT(*) AS c FROM two GROUP BY n.a) AS y ON x.id = y.id"
        " GROUP BY x.id"
    ),
    "a filter that differs from call to call": (
        "INSERT INTO counts SELECT x.id, MAX(x.v), MAX(CAST(y.c AS STRING)) FROM"
        " (SELECT * FROM t WHERE RAND() >= 0 AND kind = 1) AS x JOIN"
        " (SELECT id, COUNT(*) AS c FROM t WHERE RAND() < 0 OR kind = 2 GROUP BY id) AS y"
        " ON x.id = y.id GROUP BY x.id"
    ),
}


def _rows(start: int, end: int) -> list[dict[str, Any]]:
    return [
        {
            "kind": i % 3,
            "id": i % 17,
            "v": f"v{i % 5}",
            "n": {"a": i % 13, "b": f"b{i % 7}"},
            "at": f"2024-01-01 00:{i // 60:02d}:{i % 60:02d}",
        }
        for i in range(start, end)
    ]


def _sources(checkpoint: Path) -> int:
    (query,) = (path for path in checkpoint.iterdir() if (path / "offsets").is_dir())
    return len([*(query / "sources").iterdir()])


@pytest.fixture
def names(broker: Broker, topic: Topics) -> Mapping[str, str]:
    return {"source": topic("places", partitions=3), "servers": broker.bootstrap_servers}


def _found(names: Mapping[str, str], *, keyed: bool) -> Counter[bytes] | dict[bytes, bytes | None]:
    """Return the value of each key in the sink that is not deleted, or the count of each value."""
    found = [*records(names["servers"], f"{names['source']}-out")]
    if not keyed:
        return Counter(record.value() for record in found)
    last = {record.key(): record.value() for record in found}
    return {key: value for key, value in last.items() if value is not None}


@pytest.mark.parametrize("query", QUERIES)
def test_a_reused_scan_gives_the_rows_of_separate_scans(
    query: str, names: Mapping[str, str], spark: SparkSession, topic: Topics, tmp_path: Path
) -> None:
    insert = QUERIES[query]
    other = {**names, "source": topic("apart", partitions=3)}
    jobs = {
        "once": BoundedRun(spark, f"{TABLES}{insert};", tmp_path / "once", names),
        "apart": BoundedRun(spark, f"{TABLES}{insert};", tmp_path / "apart", other),
    }
    steps = ((0, 120), (120, 150), (150, 300))
    for place, (start, end) in enumerate(steps):
        drain = place == len(steps) - 1
        for topics in (names, other):
            produce_json(topics["servers"], topics["source"], _rows(start, end))
        jobs["once"](drain=drain)
        jobs["apart"](APART, drain=drain)
        # If Spark ran the scan once for each place, each record would be counted once for each
        # place.
        assert jobs["once"].metrics.values()["tables"]["t"]["numRecordsIn"] == end - start
    keyed = "INTO counts" in insert
    found = _found(names, keyed=keyed)
    assert found == _found(other, keyed=keyed)
    assert len(found) > 2
    assert _sources(tmp_path / "once") == 1
    assert _sources(tmp_path / "apart") > 1


def test_a_checkpoint_keeps_separate_scans(
    names: Mapping[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    insert = QUERIES["windows"]
    job = BoundedRun(spark, f"{TABLES}{insert};", tmp_path / "c", names)
    for start, end, settings in ((0, 100, APART), (100, 200, {}), (200, 300, {})):
        produce_json(names["servers"], names["source"], _rows(start, end))
        job(settings)
    assert _sources(tmp_path / "c") == 2
    (query,) = json.loads((tmp_path / "c" / "streamtable.json").read_text())["queries"].values()
    assert "reuses_scans" not in query


def test_a_checkpoint_keeps_a_reused_scan(
    names: Mapping[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    insert = QUERIES["join"]
    job = BoundedRun(spark, f"{TABLES}{insert};", tmp_path / "c", names)
    for start, end, settings in ((0, 100, {}), (100, 200, APART)):
        produce_json(names["servers"], names["source"], _rows(start, end))
        job(settings)
    assert _sources(tmp_path / "c") == 1
    manifest = json.loads((tmp_path / "c" / "streamtable.json").read_text())
    (query,) = manifest["queries"].values()
    assert query["reuses_scans"]
    assert manifest["layout"] == 9  # the join adds rows, which is newer than the reuse


def _variables(names: Mapping[str, str]) -> list[str]:
    return [part for n, v in names.items() for part in ("--var", f"{n}={v}")]


def test_prove_confirms_a_job_with_a_reused_scan(
    names: Mapping[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    script = TABLES + QUERIES["rows and their aggregate"] + ";"
    produce_json(names["servers"], names["source"], _rows(0, 200))
    BoundedRun(spark, script, tmp_path / "c", names)()
    file = tmp_path / "job.sql"
    file.write_text(script)
    arguments = ["prove", str(file), "--checkpoint", str(tmp_path / "c"), *_variables(names)]
    found = CliRunner().invoke(cli, arguments)
    assert found.exit_code == 0, found.output
    assert ", 0 differ" in found.output


@pytest.mark.real_time_state
@pytest.mark.parametrize(
    "query", ["join", pytest.param("union", marks=pytest.mark.soak), "interval join"]
)
def test_a_reused_scan_in_real_time_mode(
    query: str, names: Mapping[str, str], spark: SparkSession, topic: Topics, tmp_path: Path
) -> None:
    """Micro-batches begin, real-time mode continues and is killed, and micro-batches finish."""
    script = f"{TABLES}{QUERIES[query]};"
    other = {**names, "source": topic("apart", partitions=3)}
    produce_json(other["servers"], other["source"], _rows(0, 300))
    BoundedRun(spark, script, tmp_path / "apart", other)(APART, drain=True)
    job = BoundedRun(spark, script, tmp_path / "once", names)
    produce_json(names["servers"], names["source"], _rows(0, 100))
    job()
    before = _found(names, keyed=False)
    arguments = ["run", write(tmp_path / "job.sql", script), "--checkpoint", str(tmp_path / "once")]
    arguments += [*_variables(names), "--set", "execution.mode=real-time"]
    process = Cli.start(*arguments)
    produce_json(names["servers"], names["source"], _rows(100, 200))
    process.until(lambda: _found(names, keyed=False) != before)
    process.kill()
    produce_json(names["servers"], names["source"], _rows(200, 300))
    job(drain=True)
    # A kill after a record is written and before its commit repeats the record.
    assert _found(names, keyed=False).keys() == _found(other, keyed=False).keys()
    assert _sources(tmp_path / "once") == 1


@pytest.mark.real_time_state
def test_a_reused_scan_of_stateful_inputs_stays_in_micro_batches(
    names: Mapping[str, str], spark: SparkSession, tmp_path: Path
) -> None:
    """A bounded run reads the topic once, and later runs on its checkpoint do so too."""
    script = f"{TABLES}{QUERIES['rows and their aggregate']};"
    job = BoundedRun(spark, script, tmp_path / "c", names)
    produce_json(names["servers"], names["source"], _rows(0, 100))
    job()
    before = _found(names, keyed=True)
    reason = "because one scan of t has served several places so far"
    arguments = ["run", write(tmp_path / "job.sql", script), "--checkpoint", str(tmp_path / "c")]
    arguments += _variables(names)
    code, _, told = Cli.start(*arguments, "--set", "execution.mode=real-time").end()
    assert code == 1
    assert f"NOT_YET: the query into counts in real-time mode, {reason}" in told
    process = Cli.start(*arguments)
    process.wait_for(f"counts: stays in micro-batches, {reason}")
    produce_json(names["servers"], names["source"], _rows(100, 300))
    process.until(lambda: _found(names, keyed=True) != before)
    process.kill()
    assert _sources(tmp_path / "c") == 1
