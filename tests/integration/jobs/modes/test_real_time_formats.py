"""Formats in real-time mode: no codec uses an operator that the mode refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.jobs.records.registry_api import Api, header
from tests.integration.jobs.records.test_avro_confluent import record, view
from tests.integration.jobs.records.test_debezium_avro_confluent import DEBEZIUMS, debezium
from tests.integration.jobs.support import Cli, write
from tests.integration.schemas.support import register

from streamtable.formats.registry import FORMATS
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

COLUMNS = "id INT, name STRING"
VIEW = [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}]
MESSAGE = 'syntax = "proto3"; message Row { int32 id = 1; string name = 2; }'
OBJECT = {
    "type": "object",
    "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
}
#: Format -> columns, and one record.
ROWS = {
    "csv": (COLUMNS, b"1,csv"),
    "raw": ("name STRING", b"raw"),
    "avro": (COLUMNS, b"\2\6\2\x08avro"),
    "json": (COLUMNS, b'{"id":4,"name":"json"}'),
    "protobuf": (COLUMNS, b"\x08\x06\x12\x08protobuf"),
}
#: Format -> further options of its table.
OPTIONS = {
    "protobuf": f", 'protobuf.message-class-name' = 'Row', 'protobuf.schema' = '{MESSAGE}'",
}
#: A record without a value is a row with NULL in raw, and no row in other formats.
NULLS = {"raw": [(None, None)], "csv": [(None, None)]}
EVENTS = {
    "debezium-json": b'{"op":"c","after":{"id":1,"name":"debezium"}}',
    "canal-json": b'{"type":"INSERT","data":[{"id":2,"name":"canal"}]}',
    "maxwell-json": b'{"type":"insert","data":{"id":3,"name":"maxwell"}}',
    "ogg-json": b'{"op_type":"I","after":{"id":4,"name":"ogg"}}',
}

#: The formats whose schemas are in a registry.
REGISTERED = ["avro-confluent", "json-confluent", "protobuf-confluent"]
REGISTERED_EVENTS = "debezium-avro-confluent"


def table(name: str, columns: str, topic: str, form: str, more: str = "") -> str:
    return (
        f"CREATE TABLE `{name}` ({columns}) WITH ('connector' = 'kafka', 'topic' = '{topic}',"
        " 'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',"
        f" 'format' = '{form}'{more});\n"
    )


def with_schema(form: str, subject: str, url: str) -> bytes:
    """Register the schema of a format, and return one record."""
    if form == "avro-confluent":
        schema = register(url, subject, view(VIEW))
        return record(schema, VIEW, {"id": 5, "name": "avro-confluent"})
    if form == "debezium-avro-confluent":
        schema = register(url, subject, DEBEZIUMS)
        return debezium(schema, "c", None, {"id": 5, "name": "debezium-avro"})
    if form == "json-confluent":
        schema = register(url, subject, OBJECT, "JSON")
        return header(schema) + b'{"id":7,"name":"json-confluent"}'
    # The zero names the first message of the schema.
    schema = register(url, subject, MESSAGE, "PROTOBUF")
    return header(schema) + b"\0\x08\x08\x12\x12protobuf-confluent"


def selected(name: str) -> str:
    return "SELECT 2, name FROM `raw`" if name == "raw" else f"SELECT id, name FROM `{name}`"


def values(servers: str, topic: str) -> list[bytes]:
    """Return the values in the topic so far; none if the topic does not exist yet."""
    return [record.value() or b"" for record in records(servers, topic)]


def test_every_format_in_real_time_mode(
    broker: Broker, registry: Registry, topic: Topics, tmp_path: Path
) -> None:
    assert {*ROWS, *EVENTS, *REGISTERED, REGISTERED_EVENTS} == {*FORMATS}
    servers, api, out = broker.bootstrap_servers, Api(registry.url), topic("out")
    url = f", 'avro-confluent.url' = '{registry.url}'"
    script = table("rows", COLUMNS, f"{out}-rows", "avro-confluent", url)
    script += table("changes", COLUMNS, f"{out}-changes", "canal-json")
    records_of = ROWS | {name: (COLUMNS, value) for name, value in EVENTS.items()}
    for name, (columns, value) in records_of.items():
        source = topic(name)
        produce(servers, source, [(None, value), *NULLS.get(name, ())])
        script += table(name, columns, source, name, OPTIONS.get(name, ""))
    for name in (*REGISTERED, REGISTERED_EVENTS):
        source = topic(name)
        produce(servers, source, [(None, with_schema(name, f"{source}-value", registry.url))])
        script += table(name, COLUMNS, source, name, f", '{name}.url' = '{registry.url}'")
    for sink, names in (
        ("rows", [*ROWS, *REGISTERED]),
        ("changes", [*EVENTS, REGISTERED_EVENTS]),
    ):
        script += f"INSERT INTO {sink} " + " UNION ALL ".join(map(selected, names)) + ";\n"
    process = Cli.start(
        *("run", write(tmp_path / "job.sql", script), "--var", f"servers={servers}"),
        *("--set", "execution.mode=real-time", "--set", "execution.checkpointing.interval=5 s"),
    )
    try:
        process.until(
            lambda: sum(len(values(servers, f"{out}-{of}")) for of in ("rows", "changes")) >= 14
        )
    finally:
        process.kill()
    rows, changes = values(servers, f"{out}-rows"), values(servers, f"{out}-changes")
    assert {(row["id"], row["name"]) for row in map(api.read, rows)} == {
        (1, "csv"),
        (2, "raw"),
        (2, None),
        (3, "avro"),
        (4, "json"),
        (5, "avro-confluent"),
        (6, "protobuf"),
        (7, "json-confluent"),
        (8, "protobuf-confluent"),
    }
    assert sorted(changes) == [
        b'{"data":[{"id":1,"name":"debezium"}],"type":"INSERT"}',
        b'{"data":[{"id":2,"name":"canal"}],"type":"INSERT"}',
        b'{"data":[{"id":3,"name":"maxwell"}],"type":"INSERT"}',
        b'{"data":[{"id":4,"name":"ogg"}],"type":"INSERT"}',
        b'{"data":[{"id":5,"name":"debezium-avro"}],"type":"INSERT"}',
    ]
