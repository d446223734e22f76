"""Jobs over tables of change events: folded output equals batch, sinks, metadata, keys."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.testing.events import change_events
from streamtable.testing.histories import fold, pieces, random_cuts, random_history
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.testing.histories import Change

SOURCE = """
CREATE TABLE t (k INT, g STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = '${format}'
);
"""

UPSERT = """
CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = '{key_format}', 'value.format' = 'json' {more}
);
"""

#: name -> (columns, key, query)
QUERIES = {
    "per_group": (
        "g STRING, n BIGINT, lo INT, dv BIGINT",
        "g",
        "SELECT g, COUNT(*), MIN(v), COUNT(DISTINCT v) FROM t GROUP BY g",
    ),
    "copied": ("k INT, v INT, g STRING", "k", "SELECT k, v, g FROM t"),
    "filtered": ("k INT, v INT", "k", "SELECT k, v FROM t WHERE v > 4"),
}


def _upsert(name: str, columns: str, key: str, key_format: str = "json", more: str = "") -> str:
    return UPSERT.format(name=name, columns=columns, key=key, key_format=key_format, more=more)


def _values(source: random.Random) -> dict[str, Any]:
    return {"g": source.choice("abcd"), "v": source.randrange(10)}


def _batch(spark: SparkSession, history: list[Change], query: str) -> set[tuple[Any, ...]]:
    rows = [(key, v["g"], v["v"]) for key, v in fold(history).items()]
    spark.createDataFrame(rows, "k INT, g STRING, v INT").createOrReplaceTempView("t")
    return {tuple(row) for row in spark.sql(query).collect()}


@pytest.mark.parametrize(
    ("style", "twice"),
    [("debezium-json", False), ("canal-json", False), ("maxwell-json", True), ("ogg-json", True)],
)
def test_folded_output_equals_batch(
    style: str, twice: bool, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    seed = 31
    history = random_history(seed, length=120, keys=20, make=_values)
    events = change_events(style, "k", history)
    source = topic("events", partitions=2)
    script = SOURCE
    for name, (columns, key, query) in QUERIES.items():
        script += _upsert(name, columns, key) + f"INSERT INTO {name} {query};\n"
    names = {"source": source, "servers": broker.bootstrap_servers, "format": style}
    run = BoundedRun(spark, script, tmp_path / "c", names)
    # The history is cut by changes. `counts` has the number of events up to each cut.
    ends = random_cuts(seed, len(history), 2)
    counts = [len(change_events(style, "k", history[:end])) for end in ends]
    done = 0
    for i, piece in enumerate(pieces(events, counts)):
        produce(broker.bootstrap_servers, source, [*piece, *piece] if twice else piece)
        done = ends[i]
        run(
            {
                "execution.micro-batch.max-records": random.Random(i).choice(["1000", "30"]),
                "table.exec.source.cdc-events-duplicate": str(twice).lower(),
            }
        )
        for name, (_, _, query) in QUERIES.items():
            found = {tuple(row.values()) for row in run.rows(name).values()}
            assert found == _batch(spark, history[:done], query), f"{name} after piece {i}"


@pytest.mark.parametrize("style", ["debezium-json", "canal-json", "maxwell-json", "ogg-json"])
def test_written_change_events_are_read_back(
    style: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    history = random_history(7, length=120, keys=12, make=_values)
    events = change_events("debezium-json", "k", history)
    source = topic("events", partitions=2)
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "debezium-json"}
    changes = f"""
CREATE TABLE changes (g STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}-changes', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${{servers}}', 'format' = '{style}', 'key.format' = 'json',
  'key.fields' = 'g'
);
"""
    write = SOURCE + changes + "INSERT INTO changes SELECT g, COUNT(*) FROM t GROUP BY g;"
    read = (
        changes
        + _upsert("sizes", "n BIGINT, groups BIGINT", "n")
        + "INSERT INTO sizes SELECT n, COUNT(*) FROM changes GROUP BY n;"
    )
    writer = BoundedRun(spark, write, tmp_path / "w", names)
    reader = BoundedRun(spark, read, tmp_path / "r", names)
    for piece in pieces(events, random_cuts(5, len(events), 2)):
        produce(broker.bootstrap_servers, source, piece)
        writer({"execution.micro-batch.max-records": "40"})
        reader({"execution.micro-batch.max-records": "10"})
    folded = _folded(broker, f"{source}-changes")
    assert set(folded.values()) == {1}
    groups = _batch(spark, history, "SELECT g, COUNT(*) FROM t GROUP BY g")
    assert set(folded) == groups
    expected = Counter(n for _, n in groups)
    assert {row["n"]: row["groups"] for row in reader.rows("sizes").values()} == expected


def _folded(broker: Broker, topic: str) -> Counter[tuple[Any, ...]]:
    """Count the rows (g, n) that a topic of change events adds up to, without our readers."""
    rows: Counter[tuple[Any, ...]] = Counter()
    for record in records(broker.bootstrap_servers, topic):
        event = json.loads(record.value())
        kind = next(event[name] for name in ("op", "op_type", "type") if name in event)
        adds = kind in ("c", "I", "INSERT", "insert")
        row = event["data"] if "data" in event else event["after" if adds else "before"]
        row = row[0] if isinstance(row, list) else row
        rows[row["g"], row["n"]] += 1 if adds else -1
    return +rows


def test_an_update_of_the_primary_key_leaves_no_row_behind(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("events")
    moved = {"type": "update", "data": {"k": 2, "g": "a", "v": 1}, "old": {"k": 1}}
    first = {"type": "insert", "data": {"k": 1, "g": "a", "v": 1}}
    produce(
        broker.bootstrap_servers, source, [(None, json.dumps(e).encode()) for e in (first, moved)]
    )
    columns, key, query = QUERIES["copied"]
    script = SOURCE + _upsert("copied", columns, key) + f"INSERT INTO copied {query};"
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "maxwell-json"}
    run = BoundedRun(spark, script, tmp_path / "c", names)
    run()
    assert [row["k"] for row in run.rows("copied").values()] == [2]


#: Name -> columns and query of a join. In `timed`, a clock gives each event its own value.
JOINS = {
    "partial": ("k INT, g STRING, v INT", "SELECT t.k, t.g, u.v FROM t JOIN u ON t.k = u.k"),
    "timed": (
        "k INT, at STRING, v INT",
        (
            "SELECT x.k, CAST(x.at AS STRING), u.v"
            " FROM (SELECT k, CURRENT_TIMESTAMP AS at FROM t) AS x JOIN u ON x.k = u.k"
        ),
    ),
}


def test_a_delete_removes_the_row_with_its_key_from_a_join(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A delete removes its row from a join, even if the delete has only the key.

    The delete of key 1 has only the key, the delete of key 2 has the whole row.
    """
    source, other = topic("events"), topic("others")
    rows = [{"k": k, "g": "a", "v": k} for k in (1, 2, 3)]
    script = SOURCE + _upsert("u", "k INT, v INT", "k").replace("${source}-u", other)
    for name, (columns, query) in JOINS.items():
        script += _upsert(name, columns, "k") + f"INSERT INTO {name} {query};\n"
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "debezium-json"}
    run = BoundedRun(spark, script, tmp_path / "c", names)

    def found(v: int, *events: dict[str, Any]) -> list[set[int]]:
        """Produce events, then set `v` in the rows of the other side; return each join's keys."""
        for event in events:
            produce(broker.bootstrap_servers, source, [(None, json.dumps(event).encode())])
        run()
        changed = [
            (json.dumps({"k": k}).encode(), json.dumps({"k": k, "v": v}).encode())
            for k in (1, 2, 3)
        ]
        produce(broker.bootstrap_servers, other, changed)
        run()
        rows = [list(run.rows(name).values()) for name in JOINS]
        assert all(row["v"] == v for join in rows for row in join)
        return [{row["k"] for row in join} for join in rows]

    inserted = [{"after": row, "op": "c"} for row in rows]
    deleted = [{"before": row, "op": "d"} for row in ({"k": 1}, rows[1])]
    assert found(5, *inserted) == [{1, 2, 3}] * len(JOINS)
    assert found(6, *deleted) == [{3}] * len(JOINS)


def test_a_group_inserted_and_deleted_in_one_batch(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The delete of the group has no aggregates, and the query must not divide by them."""
    source = topic("events")
    rows = [{"k": k, "g": g, "v": k} for k, g in ((1, "a"), (2, "b"))]
    events = [{"after": row, "op": "c"} for row in rows] + [{"before": rows[1], "op": "d"}]
    produce(broker.bootstrap_servers, source, [(None, json.dumps(e).encode()) for e in events])
    insert = "INSERT INTO divided SELECT g, 100 / COALESCE(SUM(v), 0), COUNT(*) FROM t GROUP BY g;"
    columns = "g STRING, part INT, n BIGINT NOT NULL"
    script = SOURCE + _upsert("divided", columns, "g") + insert
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "debezium-json"}
    run = BoundedRun(spark, script, tmp_path / "c", names)
    run()
    assert list(run.rows("divided").values()) == [{"g": "a", "part": 100, "n": 1}]
    assert (b'{"g":"b"}', None) in [
        (r.key(), r.value()) for r in records(broker.bootstrap_servers, f"{source}-divided")
    ]


def test_changes_of_rows_inserted_before_the_first_record(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The source updates key 1, deletes and inserts key 2, and deletes key 3.

    It also inserts and deletes key 4. An earlier run may have written key 4, so the sink gets a
    tombstone.
    """
    source = topic("events")
    old, new = ({k: {"k": k, "g": "a", "v": v + k} for k in (1, 2, 3, 4)} for v in (10, 20))
    events = [
        {"op": "u", "before": old[1], "after": new[1]},
        {"op": "d", "before": old[2]},
        {"op": "c", "after": new[2]},
        {"op": "d", "before": old[3]},
        {"op": "c", "after": new[4]},
        {"op": "d", "before": new[4]},
    ]
    produce(broker.bootstrap_servers, source, [(None, json.dumps(e).encode()) for e in events])
    script = SOURCE
    for name, call in (("highest", "MAX(v)"), ("counted", "CAST(COUNT(*) AS INT)")):
        script += _upsert(name, "k INT, v INT", "k")
        script += f"INSERT INTO {name} SELECT k, {call} FROM t GROUP BY k;\n"
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "debezium-json"}
    BoundedRun(spark, script, tmp_path / "c", names)()
    for name, rows in (("highest", {1: 21, 2: 22, 4: None}), ("counted", {1: 1, 2: 1, 4: None})):
        written = {
            json.loads(r.key())["k"]: json.loads(r.value())["v"] if r.value() else None
            for r in records(broker.bootstrap_servers, f"{source}-{name}")
        }
        assert written == rows


METADATA = """
CREATE TABLE t (
  k INT, db STRING METADATA FROM 'value.source.database' VIRTUAL,
  at TIMESTAMP_LTZ(3) METADATA FROM 'value.ingestion-timestamp' VIRTUAL,
  properties MAP<STRING, STRING> METADATA FROM 'value.source.properties' VIRTUAL,
  o BIGINT METADATA FROM 'offset' VIRTUAL, PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'debezium-json'
);
"""


def test_metadata_of_events_and_of_records(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("events")
    event = {"after": {"k": 1}, "op": "c", "ts_ms": 1589362330904, "source": {"db": "shop", "x": 3}}
    produce(broker.bootstrap_servers, source, [(None, json.dumps(event).encode())] * 2)
    columns = "k INT, db STRING, at TIMESTAMP_LTZ(3), x STRING, o BIGINT"
    insert = "INSERT INTO copied SELECT k, db, at, properties['x'], o FROM t;"
    script = METADATA + _upsert("copied", columns, "k") + insert
    names = {"source": source, "servers": broker.bootstrap_servers}
    run = BoundedRun(spark, script, tmp_path / "c", names)
    run()
    assert list(run.rows("copied").values()) == [
        {"k": 1, "db": "shop", "at": "2020-05-13 09:32:10.904Z", "x": "3", "o": 1}
    ]


KEYS = {
    "debezium-json": ("", b'{"k":7}'),
    "debezium-json with schema": (
        (
            ", 'key.debezium-json.schema-include' = 'true',"
            " 'key.debezium-json.schema-name' = 's.t.Key'"
        ),
        (
            b'{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"k"}],'
            b'"optional":false,"name":"s.t.Key"},"payload":{"k":7}}'
        ),
    ),
    "canal-json": ("", b'{"k":7}'),
    "ogg-json": ("", b'{"k":7}'),
    "maxwell-json": (
        ", 'key.maxwell-json.database' = 'shop', 'key.maxwell-json.table' = 't'",
        b'{"database":"shop","table":"t","pk.k":7}',
    ),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_in_change_event_formats_are_written_and_read(
    name: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    more, written = KEYS[name]
    style = name.split(" ", maxsplit=1)[0]
    source = topic("events")
    names = {"source": source, "servers": broker.bootstrap_servers, "format": "debezium-json"}
    event = {"after": {"k": 7, "g": "a", "v": 1}, "op": "c"}
    produce(broker.bootstrap_servers, source, [(None, json.dumps(event).encode())])
    keyed = _upsert("keyed", "k INT, v INT", "k", style, more)
    keyed = keyed.replace(
        "'value.format' = 'json'", "'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'"
    )
    write = SOURCE + keyed + "INSERT INTO keyed SELECT k, v FROM t;"
    BoundedRun(spark, write, tmp_path / "w", names)()
    assert [(r.key(), r.value()) for r in records(broker.bootstrap_servers, f"{source}-keyed")] == [
        (written, b'{"v":1}')
    ]
    read = (
        keyed
        + _upsert("copied", "k INT, v INT", "k")
        + "INSERT INTO copied SELECT k, v FROM keyed;"
    )
    run = BoundedRun(spark, read, tmp_path / "r", names)
    run()
    assert list(run.rows("copied").values()) == [{"k": 7, "v": 1}]
