"""Fields of ROW columns keep their names through operators with state."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_WITH = (
    "'connector' = 'upsert-kafka', 'properties.bootstrap.servers' = '${servers}',"
    " 'key.format' = 'json', 'value.format' = 'json', 'topic' = '${source}"
)
_PART = "part ROW<n INT, `the text` STRING>"
_SINKS = {
    "fields": ("id INT, n INT, t STRING", "id"),
    "keys": ("n INT, t STRING", "n"),
    "groups": ("n INT, c BIGINT", "n"),
    "rows": ("n INT, t STRING, c BIGINT", "n, t"),
    "ranked": ("id INT, n INT", "id"),
    "joined": ("id INT, n INT, m INT", "id"),
    "nested": ("id INT, n INT, m INT", "id"),
}
_SCRIPT = (
    f"CREATE TABLE s (id INT, {_PART}, parts ARRAY<ROW<n INT>>, named MAP<STRING, ROW<m INT>>,"
    f" PRIMARY KEY (id) NOT ENFORCED) WITH ({_WITH}');"
    + "".join(
        f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ({_WITH}-{name}');"
        for name, (columns, key) in _SINKS.items()
    )
    + """
INSERT INTO fields SELECT id, part.n, part.`the text` FROM s;
INSERT INTO keys SELECT part.n, part.`the text` FROM s;
INSERT INTO groups SELECT part.n, COUNT(*) FROM s GROUP BY part.n;
INSERT INTO rows SELECT part.n, part.`the text`, c FROM
  (SELECT part, COUNT(*) AS c FROM s GROUP BY part);
INSERT INTO ranked SELECT id, part.n FROM
  (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY part.n) AS place FROM s)
  WHERE place = 1;
INSERT INTO joined SELECT l.id, l.part.n, r.part.n FROM s AS l JOIN s AS r ON l.id = r.id;
INSERT INTO nested SELECT id, parts[1].n, named['a'].m FROM s;
"""
)


def test_nested_fields_are_read_after_stateful_operators(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    names = {"source": topic("rows"), "servers": broker.bootstrap_servers}
    rows = [_row(1, 5), _row(2, 6), _row(1, 7)]
    keys = [json.dumps({"id": row["id"]}).encode() for row in rows]
    values = [json.dumps(row).encode() for row in rows]
    produce(names["servers"], names["source"], list(zip(keys, values, strict=True)))
    run = BoundedRun(spark, _SCRIPT, tmp_path / "c", names)
    run()
    expected: dict[str, list[dict[str, Any]]] = {
        "fields": [{"id": 1, "n": 7, "t": "t7"}, {"id": 2, "n": 6, "t": "t6"}],
        "keys": [{"n": 6, "t": "t6"}, {"n": 7, "t": "t7"}],
        "groups": [{"n": 6, "c": 1}, {"n": 7, "c": 1}],
        "rows": [{"n": 6, "t": "t6", "c": 1}, {"n": 7, "t": "t7", "c": 1}],
        "ranked": [{"id": 1, "n": 7}, {"id": 2, "n": 6}],
        "joined": [{"id": 1, "n": 7, "m": 7}, {"id": 2, "n": 6, "m": 6}],
        "nested": [{"id": 1, "n": 7, "m": 8}, {"id": 2, "n": 6, "m": 7}],
    }
    found = {name: sorted(map(dict, run.rows(name).values()), key=str) for name in expected}
    assert found == expected


def _row(id_: int, n: int) -> dict[str, Any]:
    part = {"n": n, "the text": f"t{n}"}
    return {"id": id_, "part": part, "parts": [{"n": n}], "named": {"a": {"m": n + 1}}}
