"""Nexmark queries over a real broker return the rows of a real Flink, also with late events."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from tests.compat.nexmark.events import PARTITIONS, Event, history
from tests.compat.nexmark.queries import EVENTS, QUERIES, VIEWS, columns_of

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_RECORD = Path(__file__).parents[3] / "compat" / "nexmark" / "answers.json"
_ANSWERS: dict[str, list[str]] = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
_FILES = "q10"
_LOOKUP = " FOR SYSTEM_TIME AS OF b.p_time"


def test_every_query_is_recorded() -> None:
    assert set(_ANSWERS) == set(QUERIES)


@pytest.mark.parametrize(
    ("mode", "batch"),
    [
        ("micro-batch", 1_000),
        *(pytest.param(m, 400, marks=pytest.mark.soak) for m in ("micro-batch", "auto")),
    ],
)
def test_rows_equal_flinks(
    mode: str, batch: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic(partitions=PARTITIONS)
    script = _script(source, broker.bootstrap_servers, tmp_path / "files")
    job = BoundedRun(spark, script, tmp_path / "checkpoint")
    first, second = history()
    _send(broker, source, first)
    rows_of_batch = {"execution.micro-batch.max-records": str(batch)}
    if mode == "micro-batch":
        job(rows_of_batch)
    else:
        job.until(lambda: _bids(broker, source) == _count(first), {"execution.mode": mode})
    _send(broker, source, second)
    if mode != "micro-batch":
        both = _count(first) + _count(second)
        job.until(lambda: _bids(broker, source) == both, {"execution.mode": mode})
    job(rows_of_batch, drain=True)
    wrong = []
    for name, (columns, key, _) in QUERIES.items():
        texts = [json.loads(text) for text in _ANSWERS[name]]
        expected = Counter(_typed(columns, row) for row in texts)
        if name == _FILES:
            rows = _rows_of_files(spark, tmp_path / "files", columns)
        elif key:
            named = job.rows(f"sink_{name}").values()
            rows = [[row[column] for column in _names(columns)] for row in named]
        else:
            topic_of = records(broker.bootstrap_servers, f"{source}-{name}")
            named = [json.loads(record.value()) for record in topic_of]
            rows = [[row[column] for column in _names(columns)] for row in named]
        found = Counter(_typed(columns, row) for row in rows)
        if found != expected:
            missing, more = list(expected - found)[:3], list(found - expected)[:3]
            wrong.append(
                f"{name}: {len(rows)} and not {len(texts)}; missing {missing}, more {more}"
            )
    assert not wrong, "\n".join(wrong)


def _script(source: str, servers: str, files: Path) -> str:
    at = f"'properties.bootstrap.servers' = '{servers}'"
    connector = (
        f"'connector' = 'kafka', 'topic' = '{source}', {at}, 'format' = 'json',"
        " 'scan.startup.mode' = 'earliest-offset'"
    )
    parts = [
        "CREATE FUNCTION count_char AS 'tests.compat.nexmark.queries:count_char' LANGUAGE PYTHON",
        EVENTS.format(connector=connector),
        *VIEWS,
    ]
    for name, (columns, key, _) in QUERIES.items():
        sink = f"sink_{name}"
        if name == _FILES:
            options = f"'connector' = 'filesystem', 'path' = '{files}', 'format' = 'json'"
            parts.append(
                f"CREATE TABLE {sink} ({columns}) PARTITIONED BY (dt, hm) WITH ({options})"
            )
        elif key:
            options = f"'connector' = 'upsert-kafka', 'topic' = '{source}-{name}', {at}"
            options += ", 'key.format' = 'json', 'value.format' = 'json'"
            primary = f"PRIMARY KEY ({', '.join(key)}) NOT ENFORCED"
            parts.append(f"CREATE TABLE {sink} ({columns}, {primary}) WITH ({options})")
        else:
            options = f"'connector' = 'kafka', 'topic' = '{source}-{name}', {at}, 'format' = 'json'"
            parts.append(f"CREATE TABLE {sink} ({columns}) WITH ({options})")
    for name, (_, _, query) in QUERIES.items():
        parts.append(f"INSERT INTO sink_{name} {query.replace('{lookup}', _LOOKUP)}")
    return ";\n".join(parts) + ";\n"


def _send(broker: Broker, topic: str, events: Iterable[tuple[int, Event]]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for partition, event in events:
        producer.produce(topic, json.dumps(event), partition=partition)
    assert producer.flush(30) == 0


def _bids(broker: Broker, source: str) -> int:
    """Return the number of bids that q0 has written."""
    try:
        return sum(1 for _ in records(broker.bootstrap_servers, f"{source}-q0"))
    except KeyError:  # the job has not created the topic yet
        return 0


def _count(events: Iterable[tuple[int, Event]]) -> int:
    return sum(1 for _, event in events if event["bid"])


def _rows_of_files(spark: SparkSession, files: Path, columns: str) -> list[list[Any]]:
    names = _names(columns)
    frame = spark.read.schema(", ".join(f"{name} STRING" for name in names)).json(str(files))
    return [list(row) for row in frame.select(*names).collect()]


def _names(columns: str) -> list[str]:
    return [name for name, _ in columns_of(columns)]


def _typed(columns: str, row: list[Any]) -> tuple[Any, ...]:
    """Convert the values of a row to the types of its columns, so that texts may differ."""
    return tuple(
        None if value is None else _TYPES[kind](value)
        for (_, kind), value in zip(columns_of(columns), row, strict=True)
    )


_TYPES: dict[str, Callable[[Any], Any]] = {
    "BIGINT": int,
    "STRING": str,
    "DECIMAL": lambda value: Decimal(str(value)),
    "TIMESTAMP": lambda value: datetime.fromisoformat(str(value)),
}
