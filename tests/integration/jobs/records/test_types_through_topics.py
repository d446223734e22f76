"""Every type that a topic can hold goes from json to avro and back unchanged, by INSERTs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.jobs.modes.test_real_time_formats import values

from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Column -> its type, and a value in json.
TYPES = {
    "char": ("CHAR(3)", '"äb "'),
    "varchar": ("VARCHAR(5)", '"x"'),
    "string": ("STRING", '""'),
    "bool": ("BOOLEAN", "true"),
    "binary": ("BINARY(2)", '"AQI="'),
    "varbinary": ("VARBINARY(3)", '"/w=="'),
    "bytes": ("BYTES", '"AP8="'),
    "decimal": ("DECIMAL(38, 18)", "-12345678901234567890.123456789012345678"),
    "tiny": ("TINYINT", "-128"),
    "small": ("SMALLINT", "32767"),
    "int": ("INT", "-2147483648"),
    "big": ("BIGINT", "9223372036854775807"),
    "float": ("FLOAT", "-0.0"),
    "double": ("DOUBLE", "1.0E-300"),
    "date": ("DATE", '"1969-12-31"'),
    "time": ("TIME(3)", '"23:59:59.999"'),
    "ts": ("TIMESTAMP(6)", '"1969-12-31 23:59:59.999999"'),
    "ltz": ("TIMESTAMP_LTZ(6)", '"2026-03-29 01:00:00.000001Z"'),
    "array": ("ARRAY<INT>", "[1,null]"),
    "map": ("MAP<STRING, ARRAY<STRING>>", '{"k":["v",null]}'),
    "bag": ("MULTISET<STRING>", '{"k":2}'),
    "row": ("ROW<a INT, b ROW<c STRING>>", '{"a":null,"b":{"c":"d"}}'),
}
#: Columns of types that json can hold and avro, as in Flink, cannot.
IN_JSON = {
    "ts9": ("TIMESTAMP(9)", '"1969-12-31 23:59:59.999999"'),
    "ltz9": ("TIMESTAMP_LTZ(9)", '"2026-03-29 01:00:00.000001Z"'),
    "years": ("INTERVAL YEAR TO MONTH", "-14"),
    "days": ("INTERVAL DAY TO SECOND", "86399999"),
}


def _table(name: str, columns: dict[str, tuple[str, str]], form: str) -> str:
    declared = ", ".join(f"`{column}` {kind}" for column, (kind, _) in columns.items())
    return (
        f"CREATE TABLE `types{name}` (id BIGINT NOT NULL, {declared}) WITH ('connector' = 'kafka',"
        f" 'topic' = '${{source}}{name}', 'properties.bootstrap.servers' = '${{servers}}',"
        f" 'scan.startup.mode' = 'earliest-offset', {form});\n"
    )


_JSON = "'format' = 'json', 'json.encode.decimal-as-plain-number' = 'true'"
_AVRO = "'format' = 'avro', 'avro.timestamp_mapping.legacy' = 'false'"


def test_every_type_is_unchanged_through_json_and_avro(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    servers, source = broker.bootstrap_servers, topic("types")
    every = {**TYPES, **IN_JSON}
    full = {"id": "1", **{name: text for name, (_, text) in every.items()}}
    empty = {"id": "2", **dict.fromkeys(every, "null")}
    given = [_record(full), _record(empty)]
    produce(servers, source, ((None, value) for value in given))

    tables = _table("", every, _JSON)
    tables += _table("-middle", TYPES, _AVRO)
    tables += _table("-final", TYPES, _JSON) + _table("-copy", every, _JSON)
    names = {"source": source, "servers": servers}
    kept = ", ".join(f"`{name}`" for name in ("id", *TYPES))
    out = f"INSERT INTO `types-middle` SELECT {kept} FROM types;\n"
    out += "INSERT INTO `types-copy` SELECT * FROM types;"
    BoundedRun(spark, tables + out, tmp_path / "out", names)()
    back = "INSERT INTO `types-final` SELECT * FROM `types-middle`;"
    BoundedRun(spark, tables + back, tmp_path / "back", names)()

    assert [value.decode() for value in values(servers, f"{source}-copy")] == [
        value.decode() for value in given
    ]
    without = [_record({n: v for n, v in row.items() if n not in IN_JSON}) for row in (full, empty)]
    assert [value.decode() for value in values(servers, f"{source}-final")] == [
        value.decode() for value in without
    ]


def _record(row: dict[str, str]) -> bytes:
    return ("{" + ",".join(f'"{name}":{text}' for name, text in row.items()) + "}").encode()
