"""Formats in real-time mode: no codec uses an operator that the mode refuses."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.integration.jobs.records.registry_api import Api
from tests.integration.jobs.records.test_avro_confluent import record, view
from tests.integration.jobs.support import PATIENCE_S, Cli, write

from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

COLUMNS = "id INT, name STRING"
VIEW = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]
#: Format -> columns, and one record.
ROWS = {
    "csv": (COLUMNS, b"1,csv"),
    "raw": ("name STRING", b"raw"),
    "avro": (COLUMNS, b"\2\6\2\x08avro"),
    "json": (COLUMNS, b'{"id":4,"name":"json"}'),
}
#: A record without a value is a row with NULL in raw, and no row in other formats.
NULLS = {"raw": [(None, None)], "csv": [(None, None)]}
EVENTS = {
    "debezium-json": b'{"op":"c","after":{"id":1,"name":"debezium"}}',
    "canal-json": b'{"type":"INSERT","data":[{"id":2,"name":"canal"}]}',
    "maxwell-json": b'{"type":"insert","data":{"id":3,"name":"maxwell"}}',
    "ogg-json": b'{"op_type":"I","after":{"id":4,"name":"ogg"}}',
}


def table(name: str, columns: str, topic: str, form: str, more: str = "") -> str:
    return (
        f"CREATE TABLE `{name}` ({columns}) WITH ('connector' = 'kafka', 'topic' = '{topic}',"
        " 'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',"
        f" 'format' = '{form}'{more});\n"
    )


def selected(name: str) -> str:
    return "SELECT 2, name FROM `raw`" if name == "raw" else f"SELECT id, name FROM `{name}`"


def values(servers: str, topic: str) -> list[bytes]:
    """Return the values in the topic so far; none if the topic does not exist yet."""
    return [record.value() or b"" for record in records(servers, topic)]


def test_every_format_in_real_time_mode(
    broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    servers, api, out = broker.bootstrap_servers, Api(registry.url), topic("out")
    url = f", 'avro-confluent.url' = '{registry.url}'"
    script = table("rows", COLUMNS, f"{out}-rows", "avro-confluent", url)
    script += table("changes", COLUMNS, f"{out}-changes", "canal-json")
    known = topic("confluent")
    schema = api.register(f"{known}-value", view(VIEW))
    produce(servers, known, [(None, record(schema, VIEW, {"id": 5, "name": "confluent"}))])
    script += table("avro-confluent", COLUMNS, known, "avro-confluent", url)
    for name, (columns, value) in (ROWS | {n: (COLUMNS, v) for n, v in EVENTS.items()}).items():
        source = topic(name)
        produce(servers, source, [(None, value), *NULLS.get(name, ())])
        script += table(name, columns, source, name)
    for sink, names in (("rows", [*ROWS, "avro-confluent"]), ("changes", list(EVENTS))):
        script += f"INSERT INTO {sink} " + " UNION ALL ".join(map(selected, names)) + ";\n"
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", script), "--var", f"servers={servers}"),
        *("--set", "execution.mode=real-time", "--set", "execution.checkpointing.interval=5 s"),
    )
    try:
        deadline = time.monotonic() + PATIENCE_S
        rows, changes = [], []
        while len(rows) + len(changes) < 10 and time.monotonic() < deadline:
            assert process.process.poll() is None, process.process.communicate()[1]
            time.sleep(0.5)
            rows, changes = values(servers, f"{out}-rows"), values(servers, f"{out}-changes")
    finally:
        process.kill()
    assert {(row["id"], row["name"]) for row in map(api.read, rows)} == {
        (1, "csv"),
        (2, "raw"),
        (2, None),
        (3, "avro"),
        (4, "json"),
        (5, "confluent"),
    }
    assert sorted(changes) == [
        b'{"data":[{"id":1,"name":"debezium"}],"type":"INSERT"}',
        b'{"data":[{"id":2,"name":"canal"}],"type":"INSERT"}',
        b'{"data":[{"id":3,"name":"maxwell"}],"type":"INSERT"}',
        b'{"data":[{"id":4,"name":"ogg"}],"type":"INSERT"}',
    ]
