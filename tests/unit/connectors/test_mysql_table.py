"""`mysql-cdc` tables: options, refusals, and values in declared types."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.unit.connectors.support import load, refused

from streamtable.connectors.mysql_cdc.changelog import ChangelogRows, RowSpec
from streamtable.connectors.mysql_cdc.convert import NoPlaceError, converter
from streamtable.connectors.mysql_cdc.factory import MySqlTable
from streamtable.connectors.mysql_cdc.names import BinaryMode, StartupMode
from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Column,
    MySqlSettings,
    MySqlType,
    TableId,
    TableSchema,
)
from streamtable.core import types
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.core.types import DataType, Field
from streamtable.plan.source.scan import scans

COLUMNS = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"
PRINT = "CREATE TABLE out (id INT, v STRING) WITH ('connector' = 'print');"


def _sql(options: str = "", columns: str = COLUMNS) -> str:
    return (
        f"CREATE TABLE t ({columns}) WITH ('connector' = 'mysql-cdc', 'hostname' = 'h',"
        " 'username' = 'u', 'password' = 'pa55-w0rd', 'database-name' = 'd', 'table-name' = 't'"
        f"{options});"
    )


#: Without incremental snapshots, Debezium's mode decides where a first run begins.
_WHOLE = ", 'scan.incremental.snapshot.enabled' = 'false'"


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        (_WHOLE, StartupMode.INITIAL),
        (f"{_WHOLE}, 'debezium.snapshot.mode' = 'WHEN_NEEDED'", StartupMode.INITIAL),
        (f"{_WHOLE}, 'debezium.snapshot.mode' = 'initial_only'", StartupMode.SNAPSHOT),
        (f"{_WHOLE}, 'debezium.snapshot.mode' = 'never'", StartupMode.EARLIEST),
        (f"{_WHOLE}, 'debezium.snapshot.mode' = 'schema_only'", StartupMode.LATEST),
        (f"{_WHOLE}, 'scan.startup.mode' = 'latest-offset'", StartupMode.LATEST),
        (", 'debezium.snapshot.mode' = 'never'", StartupMode.INITIAL),
    ],
)
def test_startup_mode_of_the_first_run(options: str, mode: StartupMode) -> None:
    found = load(_sql(options)).catalog.find(("t",), None)
    assert isinstance(found, Table)
    assert isinstance(found.connector, MySqlTable)
    assert found.connector.start.mode is mode


def test_properties_without_effect_have_a_notice() -> None:
    names = (
        "jdbc.properties.maxAllowedPacket",
        "debezium.max.queue.size",
        "debezium.datetime.format.date",
        "debezium.snapshot.mode",
    )
    session = load(_sql("".join(f", '{name}' = '5'" for name in names)))
    notices = list(session.notices())
    assert len(notices) == len(names)
    for name in names:
        assert any(f"option '{name}' has no effect" in line for line in notices), name


@pytest.mark.parametrize(
    ("options", "condition", "words"),
    [
        (", 'server-id' = '9-8'", Condition.INVALID_OPTION, "5400-5408"),
        (", 'scan.startup.mode' = 'lates'", Condition.INVALID_OPTION, "latest-offset"),
        (", 'scan.startup.mode' = 'timestamp'", Condition.MISSING_OPTION, "timestamp-millis"),
        (", 'scan.startup.mode' = 'specific-offset'", Condition.MISSING_OPTION, "offset.file"),
        (", 'scan.startup.timestamp-millis' = '1'", Condition.OPTION_CONFLICT, "'timestamp'"),
        (", 'connect.timeout' = '1 ms'", Condition.INVALID_OPTION, "at least"),
        (", 'connection.pool.size' = '5'", Condition.OPTION_NOT_SETTABLE, "of its own"),
        (", 'use.legacy.json.format' = 'false'", Condition.OPTION_NOT_SETTABLE, "blanks"),
        (", 'chunk-meta.group.size' = '9'", Condition.OPTION_NOT_SETTABLE, "no list"),
        (f"{_WHOLE}, 'debezium.snapshot.mode' = 'nevr'", Condition.INVALID_OPTION, "schema_only"),
        (
            f"{_WHOLE}, 'debezium.snapshot.mode' = 'never', 'scan.startup.mode' = 'initial'",
            Condition.OPTION_CONFLICT,
            "means 'scan.startup.mode' = 'earliest-offset'",
        ),
        (", 'debezium.max.queue.sise' = '9'", Condition.OPTION_NOT_SETTABLE, "without Debezium"),
        (", 'debezium.converters' = 'x'", Condition.OPTION_NOT_SETTABLE, "class of Debezium"),
        (", 'jdbc.properties.max' = '9'", Condition.OPTION_NOT_SETTABLE, "no JDBC driver"),
        (", 'jdbc.properties.useSSl' = 'true'", Condition.OPTION_NOT_SETTABLE, "useSSL"),
        (", 'jdbc.properties.sslMode' = 'VERIFY_CA'", Condition.OPTION_NOT_SETTABLE, "required"),
        (", 'hostnam' = 'x'", Condition.UNKNOWN_OPTION, "hostname"),
        (", 'heartbeat.interval' = 'soon'", Condition.INVALID_OPTION, "duration"),
    ],
)
def test_options_that_are_refused(options: str, condition: Condition, words: str) -> None:
    error = refused(_sql(options), condition, words)
    assert error.at is not None
    assert "pa55" not in str(error)


@pytest.mark.parametrize(
    ("columns", "condition", "words"),
    [
        ("id INT, v STRING", Condition.PRIMARY_KEY_REQUIRED, "PRIMARY KEY"),
        (f"m STRING METADATA FROM 'op_tz', {COLUMNS}", Condition.UNKNOWN_METADATA, "op_ts"),
        (f"m MAP<STRING, INT>, {COLUMNS}", Condition.UNSUPPORTED_TYPE, "ARRAY<STRING>"),
        (f"m ARRAY<INT>, {COLUMNS}", Condition.UNSUPPORTED_TYPE, "ARRAY<STRING>"),
    ],
)
def test_columns_that_are_refused(columns: str, condition: Condition, words: str) -> None:
    refused(_sql(columns=columns), condition, words)


def test_invalid_table_patterns_are_refused() -> None:
    with pytest.raises(StreamtableError, match="regular expression"):
        load(_sql().replace("'table-name' = 't'", "'table-name' = '('"))


def test_a_table_cannot_be_written() -> None:
    refused(_sql() + "INSERT INTO t VALUES (1, 'a');", Condition.NOT_WRITABLE)


def test_a_table_emits_all_row_kinds_and_hides_its_password() -> None:
    session = load(_sql() + PRINT + "INSERT INTO out SELECT * FROM t;")
    (scan,) = scans(session.plans[0].input)
    connector = scan.table.connector
    assert isinstance(connector, MySqlTable)
    assert str(connector.reads) == "I,UB,UA,D"
    assert "pa55" not in repr(connector) + str(connector.fingerprint()) + scan.headline


def test_append_only_reading() -> None:
    option = ", 'scan.read-changelog-as-append-only.enabled' = 'true'"
    sink = "CREATE TABLE out (id INT, v STRING) WITH ('connector' = 'print');"
    load(_sql(option) + sink + "INSERT INTO out SELECT * FROM t;")


def _given(kind: MySqlType, target: DataType, value: Any, mode: BinaryMode | None = None) -> Any:
    mode = mode or BinaryMode.BYTES
    return converter(Column("c", kind), target, "Europe/Berlin", mode)(value)


SUMMER = datetime(2024, 7, 1, 10, 0, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "target", "value", "expected"),
    [
        (MySqlType("tinyint", 1), types.BOOLEAN, 2, True),
        (MySqlType("bit", 1), types.BOOLEAN, b"\0", False),
        (MySqlType("bit", 9), types.INT, b"\1\xff", 511),
        (MySqlType("bit", 9), types.BYTES, b"\1\xff", b"\xff\1"),
        (MySqlType("bigint", unsigned=True), types.decimal(20, 0), 2**64 - 1, Decimal(2**64 - 1)),
        (MySqlType("decimal", scale=2), types.decimal(10, 1), Decimal("1.25"), Decimal("1.3")),
        (MySqlType("decimal", scale=2), types.STRING, Decimal("1E+2"), "100"),
        (MySqlType("float"), types.DOUBLE, 0.5, 0.5),
        (
            MySqlType("timestamp", scale=6),
            types.timestamp(3),
            SUMMER,
            datetime(2024, 7, 1, 12, 0, 0, 123000),
        ),
        (MySqlType("timestamp", scale=6), types.timestamp_ltz(6), SUMMER, SUMMER),
        (MySqlType("timestamp", scale=3), types.STRING, SUMMER, "2024-07-01 12:00:00.123"),
        (
            MySqlType("datetime", scale=0),
            types.timestamp_ltz(3),
            datetime(2024, 1, 1, 1),
            datetime(2024, 1, 1, tzinfo=UTC),
        ),
        (MySqlType("date"), types.timestamp(0), date(2024, 1, 1), datetime(2024, 1, 1)),
        (
            MySqlType("time", scale=6),
            types.time(3),
            timedelta(seconds=1, microseconds=1999),
            1_001_000_000,
        ),
        (MySqlType("time"), types.STRING, timedelta(hours=-100), "-100:00:00"),
        (MySqlType("set"), types.array(types.STRING), ("a", "b"), ["a", "b"]),
        (MySqlType("set"), types.STRING, ("a", "b"), "a,b"),
        (MySqlType("int"), types.STRING, 5, "5"),
        (MySqlType("blob"), types.STRING, b"\xc3\xa9", "é"),
        (MySqlType("text"), types.BYTES, "é", b"\xc3\xa9"),
    ],
)
def test_values_in_declared_types(
    kind: MySqlType, target: DataType, value: Any, expected: Any
) -> None:
    found = _given(kind, target, value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("mode", "text"),
    [(BinaryMode.BASE64, "+/8="), (BinaryMode.BASE64_URL_SAFE, "-_8="), (BinaryMode.HEX, "fbff")],
)
def test_bytes_as_text(mode: BinaryMode, text: str) -> None:
    assert _given(MySqlType("blob"), types.STRING, b"\xfb\xff", mode) == text


@pytest.mark.parametrize(
    ("kind", "target", "value"),
    [
        (MySqlType("int"), types.TINYINT, 128),
        (MySqlType("decimal"), types.decimal(4, 2), Decimal(100)),
        (MySqlType("time"), types.time(0), timedelta(hours=24)),
        (MySqlType("time"), types.time(0), -timedelta(seconds=1)),
        (MySqlType("blob"), types.STRING, b"\xff"),
    ],
)
def test_values_that_do_not_fit_the_declared_type(
    kind: MySqlType, target: DataType, value: Any
) -> None:
    with pytest.raises(NoPlaceError):
        _given(kind, target, value)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (MySqlType("varchar"), types.INT),
        (MySqlType("int"), types.DATE),
        (MySqlType("double"), types.INT),
        (MySqlType("set"), types.BYTES),
    ],
)
def test_types_without_a_conversion(kind: MySqlType, target: DataType) -> None:
    with pytest.raises(TypeError):
        converter(Column("c", kind), target, "UTC", BinaryMode.BYTES)


ORDERS = TableSchema(
    TableId("shop", "orders"),
    (Column("id", MySqlType("int"), nullable=False), Column("n", MySqlType("int"))),
    ("id",),
)


def _rows(*changes: Change, append_only: bool = False) -> list[tuple[int, list[Any], int]]:
    spec = RowSpec(
        "t",
        (Field("id", types.INT), Field("kind", types.STRING), Field("at", types.timestamp_ltz(3))),
        (("kind", "row_kind"), ("at", "op_ts")),
        ("id",),
        "UTC",
        BinaryMode.BYTES,
        append_only,
    )
    return list(ChangelogRows(spec, MySqlSettings("h", "u", "p")).rows(changes))


def test_an_update_of_the_key_is_a_delete_and_an_insert() -> None:
    at = datetime(1970, 1, 1, tzinfo=UTC)
    kept, moved = (
        Change(ORDERS, "u", (1, 1), (1, 2), 1000, 7),
        Change(ORDERS, "u", (1, 2), (5, 2), 0, 8),
    )
    second = at + timedelta(seconds=1)
    assert _rows(kept) == [(1, [1, "-U", second], 14), (2, [1, "+U", second], 15)]
    assert _rows(moved) == [(3, [1, "-D", at], 16), (0, [5, "+I", at], 17)]


def test_append_only_rows_have_their_row_kind_as_metadata() -> None:
    change = Change(ORDERS, "d", (1, 1), None, 0, 7)
    ((kind, values, _),) = _rows(change, append_only=True)
    assert (kind, values[:2]) == (0, [1, "-D"])
