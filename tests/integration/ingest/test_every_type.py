"""Every type: MySQL -> JSON in a topic -> `upsert-kafka`; metadata of `mysql-cdc` in SQL."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.ingest.support import folded
from tests.integration.ingest.test_commands import run, verify
from tests.integration.mysql.test_types import COLUMNS
from tests.mariadb import PASSWORD, USER

from streamtable.runtime.job import RunOptions
from streamtable.session import Session
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from tests.integration.ingest.support import Shop

pytestmark = pytest.mark.usefixtures("spark")

#: Column -> its value in the topic, as Flink's JSON format writes the types of Flink CDC.
JSON: dict[str, Any] = {
    "t": -128,
    "tu": 255,
    "bo": True,
    "s": -32768,
    "su": 65535,
    "m": -8388608,
    "mu": 16777215,
    "i": -2147483648,
    "iz": 4294967295,
    "b": -(2**63),
    "bu": 2**64 - 1,
    "f": Decimal("0.1"),
    "d": Decimal("0.1"),
    "dp": Decimal("-12345678901234.000001"),
    "dw": "12345678901234567890123456789012345.123456789012345678901234567891",
    "b1": True,
    "b9": "/wE=",
    "da": "2024-02-29",
    "z": None,
    "zn": "1970-01-01 00:00:00",
    "ti": "-838:59:59",
    "t1": "-01:00:00.5",
    "t6": "-00:00:00.000001",
    "dt": "1000-01-01 00:00:00",
    "d6": "9999-12-31 23:59:59.999999",
    "ts": "2024-07-01 10:00:00.123Z",
    "y": 2155,
    "y0": 0,
    "ch": "é€",
    "vc": "日😀" * 100,
    "vg": "中文",
    "vu": "😀é",
    "vn": "é",
    "tx": "x" * 300,
    "lt": "m" * 70000,
    "bn": "AQAAAA==",
    "vb": "AAEA",
    "bl": "/wA=",
    "js": '{"a": [1, 2.50, "x y"]}',
    "en": "ü",
    "el": "ö",
    "se": ["x", "ß"],
    "s0": [],
    "gv": -2147483647,
    "gs": -2147483646,
}
#: The other columns are spatial. Their values are GeoJSON text, as the reader returns it.
JSON |= {name: parts[3] for name, parts in COLUMNS.items() if name not in JSON}

#: Column -> its type in SQL, if the type of Flink CDC cannot hold the text of the topic.
READ_AS = {"ti": "STRING", "t1": "STRING", "t6": "STRING"}


def fixed_schema() -> str:
    """Return the columns that an `upsert-kafka` table declares to read the topic."""
    types = {
        name: "TIMESTAMP_LTZ(3)" if name == "ts" else READ_AS.get(name, parts[1])
        for name, parts in COLUMNS.items()
    }
    return ", ".join(f"`{name}` {kind}" for name, kind in types.items())


def test_a_row_of_every_type_reaches_the_topic_and_sql(shop: Shop) -> None:
    declared = ", ".join(f"{name} {parts[0]}" for name, parts in COLUMNS.items())
    names, values = ", ".join(COLUMNS), ", ".join(parts[2] for parts in COLUMNS.values())
    zone = "SET sql_mode = '', time_zone = '+02:00'"
    inserts = [f"INSERT INTO types (id, {names}) VALUES ({i}, {values})" for i in (1, 2)]
    shop.write_job()
    shop.server.run(
        zone,
        f"USE {shop.database}",
        f"CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, {declared})",
        inserts[0],
        "INSERT INTO types (id, zn) VALUES (3, '2024-01-01')",
    )
    run(shop)
    shop.server.run(zone, f"USE {shop.database}", inserts[1])
    run(shop)
    rows = {row.pop("id"): row for row in shop.topic("types").values()}
    assert rows[1] == JSON
    assert rows[2] == JSON
    assert rows[3] == {**dict.fromkeys(JSON), "zn": "2024-01-01 00:00:00"}
    equal, said = verify(shop)
    assert equal, said

    copies = f"{shop.database}_copies"
    script = f"""
    CREATE TABLE types (id DECIMAL(20, 0), {fixed_schema()}, PRIMARY KEY (id) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '{shop.database}_types',
      'properties.bootstrap.servers' = '{shop.servers}',
      'key.format' = 'json', 'value.format' = 'json');
    CREATE TABLE copies (id DECIMAL(20, 0), {fixed_schema()}, PRIMARY KEY (id) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = '{copies}',
      'properties.bootstrap.servers' = '{shop.servers}',
      'key.format' = 'json', 'value.format' = 'json',
      'value.json.encode.decimal-as-plain-number' = 'true');
    INSERT INTO copies SELECT * FROM types;
    """
    _run(script, "copies.sql")
    found = folded(records(shop.servers, copies)).values()
    copied = {row.pop("id"): row for row in (json.loads(v, parse_float=Decimal) for v in found)}
    assert copied == rows


def test_metadata_columns_of_a_table_in_sql(shop: Shop) -> None:
    shop.sql(
        "CREATE TABLE orders (id INT PRIMARY KEY, n INT)",
        "INSERT INTO orders VALUES (1, 10), (2, 20)",
    )
    topic = f"{shop.database}_metadata"
    script = f"""
    CREATE TABLE orders (
      id INT, n INT,
      db STRING METADATA FROM 'database_name' VIRTUAL,
      tab STRING METADATA FROM 'table_name' VIRTUAL,
      at TIMESTAMP_LTZ(3) METADATA FROM 'op_ts' VIRTUAL,
      kind STRING METADATA FROM 'row_kind' VIRTUAL,
      PRIMARY KEY (id) NOT ENFORCED
    ) WITH (
      'connector' = 'mysql-cdc', 'hostname' = '127.0.0.1', 'port' = '{shop.server.port}',
      'username' = '{USER}', 'password' = '{PASSWORD}', 'database-name' = '{shop.database}',
      'table-name' = 'orders');
    CREATE TABLE result (
      id INT, db STRING, tab STRING, later BOOLEAN, kind STRING, PRIMARY KEY (id) NOT ENFORCED
    ) WITH (
      'connector' = 'upsert-kafka', 'topic' = '{topic}',
      'properties.bootstrap.servers' = '{shop.servers}',
      'key.format' = 'json', 'value.format' = 'json');
    INSERT INTO result
      SELECT id, db, tab, at > TO_TIMESTAMP_LTZ(0, 3), kind FROM orders;
    """
    checkpoint = str(shop.folder / "sql")
    _run(script, "metadata.sql", checkpoint)
    shop.sql("UPDATE orders SET n = 11 WHERE id = 1", "INSERT INTO orders VALUES (3, 30)")
    _run(script, "metadata.sql", checkpoint)
    names = {"db": shop.database, "tab": "orders"}
    rows = sorted(map(json.loads, folded(records(shop.servers, topic)).values()), key=_id)
    assert rows == [
        {"id": 1, **names, "later": True, "kind": "+U"},
        {"id": 2, **names, "later": False, "kind": "+I"},
        {"id": 3, **names, "later": True, "kind": "+I"},
    ]


def _id(row: dict[str, Any]) -> int:
    return int(row["id"])


def _run(script: str, name: str, checkpoint: str | None = None) -> None:
    session = Session()
    session.load(script, name, {})
    session.run(RunOptions(bounded=True, checkpoint=checkpoint), print)
