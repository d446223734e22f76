"""Jobs that read some fields of ROW columns: alone, together, and from key and value."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_AT = "'properties.bootstrap.servers' = '${servers}', 'connector' = 'kafka', 'topic' = '${source}"
_COLUMNS = "id INT, r ROW<a INT, b STRING, deep ROW<x INT, y STRING>>"
_SINKS = {
    "together_a": "id INT, v INT",
    "together_x": "id INT, v INT",
    "alone": "id INT, v STRING",
    "whole": _COLUMNS,
    "both": "id INT, v INT",
}
_SCRIPT = (
    f"CREATE TABLE t ({_COLUMNS}) WITH ({_AT}', 'scan.startup.mode' = 'earliest-offset',"
    " 'format' = 'json', 'json.ignore-parse-errors' = 'true');"
    f"CREATE TABLE k ({_COLUMNS}) WITH ({_AT}', 'scan.startup.mode' = 'earliest-offset',"
    " 'key.format' = 'json', 'key.fields' = 'r', 'value.format' = 'json',"
    " 'value.fields-include' = 'ALL', 'value.json.ignore-parse-errors' = 'true');"
    + "".join(
        f"CREATE TABLE {name} ({columns}) WITH ({_AT}-{name}', 'format' = 'json');"
        for name, columns in _SINKS.items()
    )
    + """
EXECUTE STATEMENT SET BEGIN
INSERT INTO together_a SELECT id, r.a FROM t;
INSERT INTO together_x SELECT id, r.deep.x FROM t WHERE r.b IS NULL OR r.b <> 'skipped';
END;
INSERT INTO alone SELECT id, w.deep.y FROM (SELECT id, r AS w FROM t WHERE id > 2);
INSERT INTO whole SELECT id, r FROM t WHERE r.a IS NOT NULL;
INSERT INTO both SELECT id, r.deep.x FROM k;
"""
)


def test_pruned_row_columns_keep_their_values(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    names = {"source": topic("rows", partitions=2), "servers": broker.bootstrap_servers}
    dice = random.Random(5)
    rows = [{"id": i, "r": _drawn(dice)} for i in range(200)]
    keys = [json.dumps({"r": row["r"]}).encode() for row in rows]
    values = [_written(dice, row) for row in rows]
    produce(names["servers"], names["source"], list(zip(keys, values, strict=True)))
    BoundedRun(spark, _SCRIPT, tmp_path / "c", names)()

    def field(row: dict[str, Any], *path: str) -> Any:
        found: Any = row["r"]
        for name in path:
            found = None if found is None else found.get(name)
        return found

    kept = [row for row in rows if field(row, "b") != "skipped"]
    expected = {
        "together_a": [(row["id"], field(row, "a")) for row in rows],
        "together_x": [(row["id"], field(row, "deep", "x")) for row in kept],
        "alone": [(row["id"], field(row, "deep", "y")) for row in rows[3:]],
        "whole": [(r["id"], _complete(r["r"])) for r in rows if field(r, "a") is not None],
        "both": [(row["id"], field(row, "deep", "x")) for row in rows],
    }
    for sink, those in expected.items():
        texts = (json.loads(one.value()) for one in records(*_of(names, sink)))
        found = sorted((tuple(text.values()) for text in texts), key=lambda one: int(one[0]))
        assert found == those, sink


def _of(names: dict[str, str], sink: str) -> tuple[str, str]:
    return names["servers"], f"{names['source']}-{sink}"


def _drawn(dice: random.Random) -> dict[str, Any] | None:
    """Draw NULL, or a row with fields that are NULL or missing, or strings that need a parser."""
    deep = {"x": dice.randrange(9), "y": dice.choice(["y", 'a "y"', "ü"])}
    row: dict[str, Any] = {
        "a": dice.choice([None, 1, 2]),
        "b": dice.choice(["skipped", "b\n", None]),
        "deep": dice.choice([deep, deep, {"y": "no x"}, {}, None]),
    }
    for name in [*row]:
        if dice.random() < 0.1:
            del row[name]
    return None if dice.random() < 0.1 else row


def _written(dice: random.Random, row: dict[str, Any]) -> bytes:
    """Return a record with fields in any order, further fields, and numbers as strings."""
    text: dict[str, Any] = {"other": {"r": {"a": 7}}, **row}
    if row["r"] is not None:
        items = [*row["r"].items(), ("more", [{"deep": {"x": 8}}])]
        dice.shuffle(items)
        text["r"] = dict(items)
        if isinstance(text["r"].get("a"), int) and dice.random() < 0.2:
            text["r"]["a"] = str(text["r"]["a"])
    return json.dumps(text).encode()


def _complete(row: dict[str, Any]) -> dict[str, Any]:
    deep = row.get("deep")
    whole = None if deep is None else {"x": deep.get("x"), "y": deep.get("y")}
    return {"a": row.get("a"), "b": row.get("b"), "deep": whole}
