"""`streamtable read` of topics of a real broker, at moments of their history."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

import streamtable
from streamtable.cli.main import cli
from streamtable.testing.histories import Change, fold, random_history
from streamtable.testing.topics import produce, produce_changes

if TYPE_CHECKING:
    from click.testing import Result
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

pytestmark = pytest.mark.usefixtures("spark")

TABLE = """
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE t (k INT, v INT, twice AS v * 2, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${topic}', 'key.format' = 'json',
  'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json'
);
CREATE VIEW big AS SELECT k AS id, v FROM t WHERE v > 5;
CREATE TABLE copied (k INT, v INT) WITH ('connector' = 'print');
INSERT INTO copied SELECT k, v FROM t;
"""
BASE_MS = 1_700_000_000_000


class Reads:
    """Run `streamtable read` on a script."""

    def __init__(self, folder: Path, script: str, variables: dict[str, str]) -> None:
        self._file = folder / "job.sql"
        self._file.write_text(script)
        self._variables = [f"--var={name}={value}" for name, value in variables.items()]

    def run(self, *arguments: str) -> Result:
        parts = ["read", str(self._file), *self._variables, *arguments]
        return CliRunner().invoke(cli, parts)

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        result = self.run(*arguments, "--format", "json")
        assert result.exit_code == 0, result.output
        return [json.loads(line) for line in result.stdout.splitlines()]


def _produce_at(servers: str, topic: str, records: list[tuple[bytes, bytes | None, int]]) -> None:
    """Send records with given timestamps, to the partitions that Java producers choose."""
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for key, value, time_ms in records:
        producer.produce(topic, value, key, timestamp=time_ms)
    producer.flush()


def _ends(servers: str, topic: str, partitions: int) -> dict[int, int]:
    admin = AdminClient({"bootstrap.servers": servers})
    asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in range(partitions)}
    return {p.partition: f.result().offset for p, f in admin.list_offsets(asked).items()}


def _as_rows(table: dict[int, Any]) -> list[tuple[int, int]]:
    return sorted((key, values["v"]) for key, values in table.items())


def test_reads_at_times_and_offsets_equal_the_folded_history(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The table that is read equals the fold of the history up to the moment."""
    servers, name = broker.bootstrap_servers, topic("t", partitions=3)
    history = random_history(7, 400, 25, lambda source: {"v": source.randrange(10)})
    records = [
        (
            json.dumps({"k": c.key}).encode(),
            None if c.values is None else json.dumps({"k": c.key, **c.values}).encode(),
            BASE_MS + 10 * place,
        )
        for place, c in enumerate(history)
    ]
    _produce_at(servers, name, records[:200])
    offsets = _ends(servers, name, 3)
    _produce_at(servers, name, records[200:])
    reads = Reads(tmp_path, TABLE, {"topic": name, "servers": servers})

    def pairs(*arguments: str) -> list[tuple[int, int]]:
        return [(row["k"], row["v"]) for row in reads.rows("t", *arguments)]

    assert pairs() == _as_rows(fold(history))
    given = ";".join(f"partition:{p},offset:{offset}" for p, offset in offsets.items())
    assert pairs("--as-of", given) == _as_rows(fold(history[:200]))
    # A record with exactly this timestamp belongs to the table.
    moment = BASE_MS + 10 * 99
    assert pairs("--as-of", str(moment)) == _as_rows(fold(history[:100]))
    text = datetime.fromtimestamp(moment / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    assert pairs("--as-of", text) == _as_rows(fold(history[:100]))
    assert pairs("--as-of", str(BASE_MS - 1)) == []

    # A condition chooses rows of the folded table, not records.
    now = fold(history)
    assert pairs("--where", "v > 5 AND twice = v * 2") == [
        pair for pair in _as_rows(now) if pair[1] > 5
    ]
    assert [row["id"] for row in reads.rows("big")] == [k for k, v in _as_rows(now) if v > 5]
    assert len(reads.rows("t", "--limit", "2")) == 2

    # The differences between two moments, within the filter of the view.
    before, after = (dict(_as_rows(fold(history[:n]))) for n in (100, 400))
    expected = []
    for key in sorted(before.keys() | after.keys()):
        old, new = (
            {"id": key, "v": side[key]} if side.get(key, 0) > 5 else None
            for side in (before, after)
        )
        if old != new:
            kinds = ("-U", "+U") if old and new else ("-D", "+I")
            expected += [
                {"op": kind, **row} for kind, row in zip(kinds, (old, new), strict=True) if row
            ]
    assert reads.rows("big", "--diff", str(moment), "now") == expected

    # The history of one key.
    expected_changes: list[tuple[str, int | None]] = []
    last: int | None = None
    for change in (c for c in history if c.key == 3):
        value = None if change.values is None else change.values["v"]
        kind = "-D" if value is None else "+I" if last is None else "+U"
        expected_changes.append((kind, last if value is None else value))
        last = value
    found = reads.rows("t", "--changes", "--where", "k = 3")
    assert [(row["op"], row["v"]) for row in found] == expected_changes
    assert len({row["partition"] for row in found}) == 1
    assert [row["offset"] for row in found] == sorted(row["offset"] for row in found)
    first = next(place for place, c in enumerate(history) if c.key == 3)
    shown = datetime.fromisoformat(found[0]["time"]).replace(tzinfo=UTC)
    assert round(shown.timestamp() * 1_000) == BASE_MS + 10 * first


def test_tables_and_csv(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    servers, name = broker.bootstrap_servers, topic("t")
    script = """
    CREATE TABLE t (k STRING, note STRING, PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${topic}', 'key.format' = 'raw',
      'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json',
      'value.fields-include' = 'EXCEPT_KEY');
    """
    produce(
        servers, name, [(b"a", b'{"note":"x, \\"y\\""}'), (b"b", b"{}"), (b"c", b'{"note":""}')]
    )
    reads = Reads(tmp_path, script, {"topic": name, "servers": servers})
    assert reads.run("t", "--format", "csv").stdout == 'k,note\na,"x, ""y"""\nb,\nc,""\n'
    printed = reads.run("t", "--limit", "1").stdout.splitlines()
    assert printed[1].split() == ["|", "k", "|", "note", "|"]
    assert printed[3].split("|")[1].strip() == "a"
    assert printed[-1] == "Received a total of 1 row"


def test_append_only_and_change_event_tables(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    servers = broker.bootstrap_servers
    names = {"rows": topic("rows", partitions=2), "events": topic("events"), "servers": servers}
    script = """
    CREATE TABLE clicks (who INT, m MAP<STRING, INT>) WITH (
      'connector' = 'kafka', 'topic' = '${rows}', 'format' = 'json',
      'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'latest-offset');
    CREATE TABLE items (id INT, m MAP<STRING, INT>) WITH (
      'connector' = 'kafka', 'topic' = '${events}', 'format' = 'debezium-json',
      'properties.bootstrap.servers' = '${servers}');
    CREATE TABLE keyed (id INT, m MAP<STRING, INT>, PRIMARY KEY (id) NOT ENFORCED) WITH (
      'connector' = 'kafka', 'topic' = '${events}', 'format' = 'debezium-json',
      'properties.bootstrap.servers' = '${servers}');
    CREATE TABLE placed (id INT, o BIGINT METADATA FROM 'offset') WITH (
      'connector' = 'kafka', 'topic' = '${events}', 'format' = 'debezium-json',
      'properties.bootstrap.servers' = '${servers}');
    """
    produce(servers, names["rows"], [(None, b'{"who":1,"m":{"a":1}}')], 0)
    produce(servers, names["rows"], [(None, b'{"who":2}')] * 2, 1)

    def event(before: dict[str, Any] | None, after: dict[str, Any] | None) -> tuple[None, bytes]:
        kind = "u" if before and after else "c" if after else "d"
        return None, json.dumps({"before": before, "after": after, "op": kind}).encode()

    one, two = {"id": 1, "m": {"a": 1, "b": 2}}, {"id": 2, "m": None}
    moved = {"id": 3, "m": {"b": 2, "a": 1}}
    produce(
        servers,
        names["events"],
        [event(None, one), event(None, two), event(None, two), event(one, moved), event(two, None)],
    )
    reads = Reads(tmp_path, script, names)
    # Every stored record is a row, whatever the startup mode.
    found = reads.rows("clicks")
    assert [row["who"] for row in found] == [1, 2, 2]
    found = reads.rows("clicks", "--diff", "partition:0,offset:1;partition:1,offset:1", "now")
    assert found == [{"op": "+I", "who": 2, "m": None}]
    # Without a key, equal rows are counted.
    by_id = sorted(reads.rows("items"), key=lambda row: row["id"])
    assert by_id == [two, moved]
    assert reads.rows("keyed") == [moved]
    assert [row["op"] for row in reads.rows("keyed", "--changes")] == [
        *("+I", "+I", "+I", "-D", "+I", "-D")
    ]
    # A map with the same entries in another order has not changed.
    same = {"id": 3, "m": {"a": 1, "b": 2}}
    produce(servers, names["events"], [event(moved, same)])
    assert reads.rows("keyed", "--diff", "partition:0,offset:5", "now") == []
    refused = reads.run("placed")
    assert "PRIMARY_KEY_REQUIRED" in refused.stderr
    assert "metadata column 'o'" in refused.stderr


def test_both_zeros_are_two_keys_and_two_rows(
    broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Their bytes differ, although -0.0 equals 0.0, and a delete removes only one of them."""
    servers = broker.bootstrap_servers
    names = {"keyed": topic("keyed"), "counted": topic("counted"), "servers": servers}
    script = """
    CREATE TABLE keyed (d DOUBLE, v INT, PRIMARY KEY (d) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '${keyed}', 'key.format' = 'json',
      'properties.bootstrap.servers' = '${servers}', 'value.format' = 'json');
    CREATE TABLE counted (d DOUBLE, m MAP<STRING, ARRAY<ROW<f FLOAT>>>) WITH (
      'connector' = 'kafka', 'topic' = '${counted}', 'format' = 'debezium-json',
      'properties.bootstrap.servers' = '${servers}');
    """
    upserts = [Change(-0.0, {"v": 1}), Change(0.0, {"v": 2}), Change(-0.0, {"v": 3})]
    produce_changes(servers, names["keyed"], "d", [*upserts, Change(0.0, None)])
    plus, minus = ({"d": d, "m": {"a": [{"f": 1.5}]}} for d in (0.0, -0.0))
    nested = {"d": 1.0, "m": {"a": [{"f": -0.0}]}}
    opposite = {"d": 1.0, "m": {"a": [{"f": 0.0}]}}
    events = [("c", plus), ("c", minus), ("c", nested), ("d", opposite), ("d", plus)]
    produce(
        servers,
        names["counted"],
        [
            (None, json.dumps({"op": op, "after" if op == "c" else "before": row}).encode())
            for op, row in events
        ],
    )
    reads = Reads(tmp_path, script, names)

    def shown(rows: list[dict[str, Any]]) -> list[str]:
        return sorted(map(str, rows))  # -0.0 equals 0.0 also in Python

    assert shown(reads.rows("keyed", "--as-of", "partition:0,offset:2")) == shown(
        [{"d": -0.0, "v": 1}, {"d": 0.0, "v": 2}]
    )
    assert shown(reads.rows("keyed")) == ["{'d': -0.0, 'v': 3}"]
    changes = [(c["op"], str(c["d"]), c["v"]) for c in reads.rows("keyed", "--changes")]
    expected = [("+I", "-0.0", 1), ("+I", "0.0", 2), ("+U", "-0.0", 3), ("-D", "0.0", 2)]
    assert changes == expected
    assert shown(reads.rows("keyed", "--diff", "partition:0,offset:2", "now")) == shown(
        [
            {"op": "-U", "d": -0.0, "v": 1},
            {"op": "+U", "d": -0.0, "v": 3},
            {"op": "-D", "d": 0.0, "v": 2},
        ]
    )
    # The delete of the opposite has no row.
    assert shown(reads.rows("counted")) == shown([minus, nested])
    assert shown(reads.rows("counted", "--diff", "partition:0,offset:2", "now")) == shown(
        [{"op": "-D", **plus}, {"op": "+I", **nested}, {"op": "-D", **opposite}]
    )


def test_transactions(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """Aborted records are not read. The read ends at an open transaction, with a notice."""
    servers, name = broker.bootstrap_servers, topic("t")
    producer = Producer({"bootstrap.servers": servers, "transactional.id": name})
    producer.init_transactions()

    def send(value: int, end: Any) -> None:
        producer.begin_transaction()
        producer.produce(name, json.dumps({"k": 1, "v": value}).encode(), b'{"k":1}')
        producer.flush()
        end()

    reads = Reads(tmp_path, TABLE, {"topic": name, "servers": servers})
    send(1, producer.commit_transaction)
    send(2, producer.abort_transaction)
    assert [row["v"] for row in reads.rows("t")] == [1]
    send(3, lambda: None)
    result = reads.run("t", "--format", "json")
    assert json.loads(result.stdout)["v"] == 1
    assert "the newest 1 offsets" in result.stderr
    assert "a transaction is open" in result.stderr
    loose = TABLE.replace(
        "'key.format'", "'properties.isolation.level' = 'read_uncommitted', 'key.format'"
    )
    uncommitted = Reads(tmp_path, loose, {"topic": name, "servers": servers})
    assert [row["v"] for row in uncommitted.rows("t")] == [3]
    producer.abort_transaction()


def test_deleted_and_compacted_history(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    servers = broker.bootstrap_servers
    name = topic("t", config={"cleanup.policy": "delete"})
    produce_changes(servers, name, "k", [Change(place % 3, {"v": place}) for place in range(6)])
    admin = AdminClient({"bootstrap.servers": servers})
    admin.delete_records([TopicPartition(name, 0, 4)])[TopicPartition(name, 0)].result()
    reads = Reads(tmp_path, TABLE, {"topic": name, "servers": servers})
    result = reads.run("t", "--format", "json")
    assert [json.loads(line)["v"] for line in result.stdout.splitlines()] == [4, 5]
    assert "no longer has the first 4 offsets" in result.stderr
    lost = reads.run("t", "--as-of", "partition:0,offset:3")
    assert lost.exit_code == 1
    assert "MOMENT_LOST" in lost.stderr
    assert "begins at offset 4" in lost.stderr

    compacted = topic("c", config={"cleanup.policy": "compact"})
    produce_changes(servers, compacted, "k", [Change(1, {"v": 1}), Change(1, {"v": 2})])
    reads = Reads(tmp_path, TABLE, {"topic": compacted, "servers": servers})
    earlier = reads.run("t", "--as-of", "partition:0,offset:1", "--format", "json")
    assert json.loads(earlier.stdout)["v"] == 1
    assert "is compacted; rows of 'partition:0,offset:1' that changed later" in earlier.stderr
    assert "compacted" not in reads.run("t").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("t", "--as-of", "yesterday"), "INVALID_OPTION: option '--as-of' has the value"),
        (("t", "--as-of", "2999-01-01"), "which is not in the past"),
        (("t", "--as-of", "partition:0,offset:9"), "partition 0 ends at offset 1"),
        (("t", "--as-of", "partition:7,offset:0;partition:0,offset:0"), "has no partition 7"),
        (("t", "--where", "vv = 1"), "--where:1:1: UNKNOWN_COLUMN"),
        (("t", "--where", "v ="), "--where:1:4: SYNTAX"),
        (("tt",), "UNKNOWN_TABLE"),
        (("copied",), "NOT_READABLE"),
        (("numbers",), "NO_HISTORY: table numbers cannot be read at a moment"),
        (("counted",), "NOT_YET: GroupAggregate in a read at a moment"),
        (("gone",), "TOPIC_MISSING: topic 'never-made'"),
        (("t",), "RECORD_UNREADABLE"),
    ],
)
def test_refusals(
    broker: Broker, topic: Topics, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    name = topic("t")
    script = f"""{TABLE}
    CREATE TABLE numbers (n INT) WITH ('connector' = 'datagen');
    CREATE VIEW counted AS SELECT k, COUNT(*) AS n FROM t GROUP BY k;
    CREATE TABLE gone WITH ('topic' = 'never-made') LIKE t (OVERWRITING OPTIONS);
    """
    produce(broker.bootstrap_servers, name, [(b'{"k":1}', b"no json")])
    reads = Reads(tmp_path, script, {"topic": name, "servers": broker.bootstrap_servers})
    result = reads.run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.rstrip().splitlines()[-1].startswith(("error: ", "  ", "job.sql"))
    usage = reads.run("t", "--diff", "now", "now", "--changes")
    assert usage.exit_code == 2


def test_skipped_records_are_counted(broker: Broker, topic: Topics, tmp_path: Path) -> None:
    """A record that a job would write to the dead-letter topic is skipped and not written."""
    servers, name = broker.bootstrap_servers, topic("t")
    letters = f"{name}-letters"
    script = TABLE.replace("'key.format'", f"'scan.dead-letter.topic' = '{letters}', 'key.format'")
    good = (b'{"k":1}', b'{"k":1,"v":1}')
    produce(servers, name, [good, (b'{"k":1}', b"no json")])
    reads = Reads(tmp_path, script, {"topic": name, "servers": servers})
    result = reads.run("t", "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"k": 1, "v": 1, "twice": 2}
    assert "t: 1 records skipped, because they cannot be parsed" in result.stderr
    assert letters not in AdminClient({"bootstrap.servers": servers}).list_topics().topics


def test_dataframes_as_of_a_point_in_time(
    broker: Broker, topic: Topics, spark: SparkSession
) -> None:
    servers, name = broker.bootstrap_servers, topic("t")
    produce_changes(servers, name, "k", [Change(1, {"v": 7}), Change(2, {"v": 8}), Change(1, None)])
    with streamtable.connect(spark) as session:
        session.execute_sql(TABLE.partition("CREATE VIEW")[0], {"topic": name, "servers": servers})
        table = session.table("t")
        frame = table.to_dataframe(as_of={0: 2})
        assert [tuple(row) for row in frame.collect()] == [(1, 7, 14), (2, 8, 16)]
        assert frame.dtypes == [("k", "int"), ("v", "int"), ("twice", "int")]
        assert frame.groupBy().sum("v").collect() == [(15,)]
        few = session.sql_query("SELECT v AS w FROM t WHERE k = 2").to_dataframe(as_of="now")
        assert few.collect() == [(8,)]
        assert table.to_dataframe(as_of=datetime(2020, 1, 1, tzinfo=UTC)).collect() == []
        with pytest.raises(streamtable.StreamtableError, match="INVALID_CALL"):
            table.to_dataframe(as_of=1.5)  # type: ignore[arg-type]
        counted = session.sql_query("SELECT COUNT(*) FROM t")
        with pytest.raises(streamtable.StreamtableError, match="NOT_YET: GroupAggregate"):
            counted.to_dataframe(as_of="now")
