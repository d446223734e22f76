"""INSERTs with state that share a query: checkpoints, modes, proofs, upgrades, crashes."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.jobs.support import Cli, run, write

from streamtable.cli.main import cli
from streamtable.core.errors import StreamtableError
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.upgrade import upgrade_job
from streamtable.session import Session
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_SOURCE = """
CREATE TABLE t (id INT, g INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
"""
_SINK = """
CREATE TABLE NAME (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-NAME',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
  OPTIONS
);
"""
_EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once',"
    " 'sink.transactional-id-prefix' = '${source}-NAME'"
)
COUNTS = "INSERT INTO counts SELECT g, COUNT(*) FROM t GROUP BY g;\n"
EVEN = "INSERT INTO even SELECT g, COUNT(*) FROM t WHERE id % 2 = 0 GROUP BY g;\n"
TENS = "INSERT INTO tens SELECT id / 10, MAX(v) FROM t GROUP BY id / 10;\n"
SINKS = ("counts", "even", "tens")


def _script(*inserts: str, exactly_once: bool = False) -> str:
    options = _EXACTLY_ONCE if exactly_once else ""
    sinks = (_SINK.replace("OPTIONS", options).replace("NAME", name) for name in SINKS)
    of_set = "".join(inserts or (COUNTS, EVEN, TENS))
    return f"{_SOURCE}{''.join(sinks)}EXECUTE STATEMENT SET BEGIN\n{of_set}END;"


def _rows(start: int, end: int) -> list[dict[str, int]]:
    return [{"id": i, "g": i % 4, "v": i * i % 17} for i in range(start, end)]


def _expected(rows: Iterable[Mapping[str, int]]) -> dict[str, dict[int, int]]:
    counts: Counter[int] = Counter()
    even: Counter[int] = Counter()
    tens: dict[int, int] = {}
    for row in rows:
        counts[row["g"]] += 1
        if row["id"] % 2 == 0:
            even[row["g"]] += 1
        ten = row["id"] // 10
        tens[ten] = max(row["v"], tens.get(ten, 0))
    return {"counts": dict(counts), "even": dict(even), "tens": tens}


def _tables(servers: str, source: str, *sinks: str) -> dict[str, dict[int, int]]:
    """Return the tables in the topics of the sinks, for a reader of committed records."""
    found: dict[str, dict[int, int]] = {}
    for sink in sinks or SINKS:
        table: dict[int, Any] = {}
        for record in records(servers, f"{source}-{sink}"):
            key = json.loads(record.key())["k"]
            table.pop(key, None)
            if record.value() is not None:
                table[key] = json.loads(record.value())["n"]
        found[sink] = table
    return found


def _queries(checkpoint: Path) -> set[str]:
    return {path.name for path in checkpoint.iterdir() if (path / "offsets").is_dir()}


def _upgrade(
    spark: SparkSession,
    script: str,
    names: Mapping[str, str],
    folder: Path,
    *,
    from_now: bool = False,
) -> list[str]:
    """Upgrade the checkpoint of a folder to a script, and return the lines of the result."""
    session = Session()
    session.load(script, "new.sql", names)
    said: list[str] = []
    options = UpgradeOptions(str(folder / "c"), from_now=from_now)
    settings = session.settings.current()
    upgrade_job(session.plans, settings, options, said.append, said.append, spark=spark)
    return said


def test_inserts_are_removed_and_added(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """An INSERT finds its state by its number, whatever its place in the script."""
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names = {"source": source, "servers": servers}
    steps = [
        (40, (COUNTS, EVEN, TENS), {"statement-set"}),
        (60, (TENS, EVEN), {"statement-set"}),
        (80, (TENS,), {"statement-set"}),
        (100, (COUNTS, TENS), {"statement-set", "counts"}),
    ]
    start = 0
    for end, inserts, queries in steps:
        produce_json(servers, source, _rows(start, end))
        start = end
        BoundedRun(spark, _script(*inserts), tmp_path / "c", names)()
        assert _queries(tmp_path / "c") == queries
    expected = _expected(_rows(0, 100))
    assert _tables(servers, source) == {**expected, "even": _expected(_rows(0, 60))["even"]}


def test_state_is_rescaled_and_the_job_is_proved(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names = {"source": source, "servers": servers}
    job = BoundedRun(spark, _script(exactly_once=True), tmp_path / "c", names)
    produce_json(servers, source, _rows(0, 40))
    job()
    arguments = ["rescale", "--checkpoint", str(tmp_path / "c"), "--to", "3"]
    code, out, err = run(*arguments, "--master", "local[1]")
    assert code == 0, out + err
    produce_json(servers, source, _rows(40, 70))
    job({"parallelism.default": "3"})
    assert _tables(servers, source) == _expected(_rows(0, 70))
    file = write(tmp_path / "job.sql", _script(exactly_once=True))
    variables = [part for n, v in names.items() for part in ("--var", f"{n}={v}")]
    found = CliRunner().invoke(
        cli, ["prove", file, "--checkpoint", str(tmp_path / "c"), *variables]
    )
    assert found.exit_code == 0, found.output
    assert found.output.count(", 0 differ") == len(SINKS), found.output


def test_a_changed_insert_moves_to_a_new_query(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names = {"source": source, "servers": servers}
    produce_json(servers, source, _rows(0, 40))
    BoundedRun(spark, _script(), tmp_path / "c", names)()
    changed = _script(COUNTS, EVEN.replace(" % 2 = 0", " >= 0"), TENS)
    said = _upgrade(spark, changed, names, tmp_path)
    assert any(line.startswith("even: rebuilt: ") for line in said), said
    produce_json(servers, source, _rows(40, 60))
    BoundedRun(spark, changed, tmp_path / "c", names)()
    assert _queries(tmp_path / "c") == {"statement-set", "even@2"}
    found = _tables(servers, source)
    assert found.pop("even") == _expected(_rows(0, 60))["counts"]
    assert found == {sink: _expected(_rows(0, 60))[sink] for sink in ("counts", "tens")}


def test_a_changed_insert_keeps_its_state(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The changed INSERT reads no input again: all records are deleted."""
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names = {"source": source, "servers": servers}
    produce_json(servers, source, _rows(0, 40))
    BoundedRun(spark, _script(), tmp_path / "c", names)()
    admin = AdminClient({"bootstrap.servers": servers})
    gone = [TopicPartition(source, partition, -1) for partition in range(2)]
    for deleted in admin.delete_records(gone).values():
        deleted.result(30)
    changed = _script(COUNTS.replace("COUNT(*)", "COUNT(*) * 100"), EVEN, TENS)
    said = _upgrade(spark, changed, names, tmp_path)
    assert any(line.startswith("counts: extended: ") for line in said), said
    produce_json(servers, source, _rows(40, 60))
    BoundedRun(spark, changed, tmp_path / "c", names)()
    expected = _expected(_rows(0, 60))
    counts = {group: count * 100 for group, count in expected["counts"].items()}
    assert _tables(servers, source) == {**expected, "counts": counts}


_WINDOWS = """
CREATE TABLE t (id INT, g INT, v INT, ts AS TO_TIMESTAMP_LTZ(id * 1000, 3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE rows_of (n BIGINT) WITH ('connector' = 'kafka', 'topic' = '${source}-rows_of',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE ids_of (n INT) WITH ('connector' = 'kafka', 'topic' = '${source}-ids_of',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
EXECUTE STATEMENT SET BEGIN
INSERT INTO rows_of SELECT COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end;
INSERT INTO ids_of SELECT MAX(id) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)
GROUP BY window_start, window_end;
END;
"""


def test_a_changed_insert_continues_in_its_query(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The rows of an append-only sink stay, and an open window keeps its contents."""
    servers, source = broker.bootstrap_servers, topic("set")
    names = {"source": source, "servers": servers}
    produce_json(servers, source, _rows(0, 25))
    BoundedRun(spark, _WINDOWS, tmp_path / "c", names)()
    new = _WINDOWS.replace("COUNT(*)", "COUNT(*) + 1000")
    with pytest.raises(StreamtableError, match="--from-now lets the query continue"):
        _upgrade(spark, new, names, tmp_path)
    said = _upgrade(spark, new, names, tmp_path, from_now=True)
    assert any(line.startswith("rows_of: from now, with its state: ") for line in said), said
    produce_json(servers, source, _rows(25, 45))
    BoundedRun(spark, new, tmp_path / "c", names)()
    assert _queries(tmp_path / "c") == {"statement-set"}
    found = {
        sink: sorted(json.loads(one.value())["n"] for one in records(servers, f"{source}-{sink}"))
        for sink in ("rows_of", "ids_of")
    }
    assert found == {"rows_of": [10, 10, 1010, 1010], "ids_of": [9, 19, 29, 39]}


#: A sum may return to an earlier value; a replay in other batches does not write that value again.
#: HAVING inserts and deletes rows; after a replay in other batches, such a row would stay.
_RETURNING = (
    COUNTS.replace("COUNT(*)", "SUM(v - 8)").replace(";", " HAVING MOD(COUNT(*), 3) > 0;"),
    EVEN.replace("COUNT(*)", "SUM(v - 8)"),
    TENS.replace("MAX(v)", "SUM(v - 8)").replace(";", " HAVING COUNT(*) < 8;"),
)


def _expected_sums(rows: Sequence[Mapping[str, int]]) -> dict[str, dict[int, int]]:
    found: dict[str, Counter[int]] = {sink: Counter() for sink in SINKS}
    in_ten = Counter(row["id"] // 10 for row in rows)
    in_group = Counter(row["g"] for row in rows)
    for row in rows:
        found["counts"][row["g"]] += row["v"] - 8
        found["tens"][row["id"] // 10] += row["v"] - 8
        if row["id"] % 2 == 0:
            found["even"][row["g"]] += row["v"] - 8
    return {
        "counts": {g: n for g, n in found["counts"].items() if in_group[g] % 3},
        "even": dict(found["even"]),
        "tens": {ten: n for ten, n in found["tens"].items() if in_ten[ten] < 8},
    }


@pytest.mark.real_time_state
@pytest.mark.parametrize(
    ("inserts", "expected"),
    [((COUNTS, EVEN, TENS), _expected), (_RETURNING, _expected_sums)],
    ids=["written again", "rolled back"],
)
def test_real_time_mode_and_a_kill(
    inserts: tuple[str, ...],
    expected: Callable[[Sequence[Mapping[str, int]]], dict[str, dict[int, int]]],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    names, script = {"source": source, "servers": servers}, _script(*inserts)
    arguments = ["run", write(tmp_path / "job.sql", script), "--checkpoint", str(tmp_path / "c")]
    arguments += [part for n, v in names.items() for part in ("--var", f"{n}={v}")]
    # No checkpoint covers the rows that are written before the kill.
    arguments += ["--set", "execution.real-time.first-checkpoints=0"]
    produce_json(servers, source, _rows(0, 30))
    process = Cli.start(*arguments)
    process.wait_for("switches to real-time mode", 60)
    produce_json(servers, source, _rows(30, 53))
    deadline = time.monotonic() + 60
    while _tables(servers, source) != expected(_rows(0, 53)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert _tables(servers, source) == expected(_rows(0, 53))
    process.kill()
    produce_json(servers, source, _rows(53, 80))
    job = BoundedRun(spark, script, tmp_path / "c", names)
    job()
    assert _tables(servers, source) == expected(_rows(0, 80))
    assert _queries(tmp_path / "c") == {"statement-set"}
    rolled_back = {line.split("'")[1] for line in job.notices if "rolled" in line}
    wanted = {f"{source}-{sink}" for sink in SINKS} if expected is _expected_sums else set()
    assert rolled_back == wanted


@pytest.mark.soak
@pytest.mark.parametrize("guarantee", ["exactly-once", "at-least-once"])
def test_tables_are_exact_after_six_kills(
    guarantee: str, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("set", partitions=2)
    file = write(tmp_path / "job.sql", _script(exactly_once=guarantee == "exactly-once"))
    names = [part for n in (f"source={source}", f"servers={servers}") for part in ("--var", n)]
    arguments = ["run", file, *names, "--checkpoint", str(tmp_path / "c")]
    dice, start = random.Random(7), 0
    for _ in range(6):
        running = Cli.start(*arguments, log=tmp_path / "log")
        deadline = time.monotonic() + dice.uniform(8, 25)
        while time.monotonic() < deadline:
            produce_json(servers, source, _rows(start, start + 20))
            start += 20
            time.sleep(0.3)
        running.kill()
    code, out, err = run(*arguments, "--bounded")
    assert code == 0, out + err
    assert _tables(servers, source) == _expected(_rows(0, start))
