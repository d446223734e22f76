"""Every type: the snapshot and the binlog return the values that were written."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.mysql.tables import read_to_end

from streamtable.connectors.mysql_cdc.reader import (
    MySqlSettings,
    SourceSpec,
    Startup,
    StartupMode,
    TableId,
    check,
    discover,
    sql_type,
)
from streamtable.connectors.mysql_cdc.reader.values.charsets import CODECS, decoder
from streamtable.core.errors import StreamtableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.integration.mysql.tables import Folded
    from tests.mariadb import MariaDb

_COLLECTION = (
    '{"geometries":[{"coordinates":[10,10],"type":"Point"},'
    '{"coordinates":[[15,15],[20,20]],"type":"LineString"}],'
    '"type":"GeometryCollection","srid":0}'
)

#: Name -> (declaration, SQL type, the value as SQL, the value as it is read).
COLUMNS: dict[str, tuple[str, str, str, Any]] = {
    "t": ("TINYINT", "TINYINT", "-128", -128),
    "tu": ("TINYINT UNSIGNED", "SMALLINT", "255", 255),
    "bo": ("BOOL", "BOOLEAN", "TRUE", 1),
    "s": ("SMALLINT", "SMALLINT", "-32768", -32768),
    "su": ("SMALLINT UNSIGNED", "INT", "65535", 65535),
    "m": ("MEDIUMINT", "INT", "-8388608", -8388608),
    "mu": ("MEDIUMINT UNSIGNED", "BIGINT", "16777215", 16777215),
    "i": ("INT", "INT", "-2147483648", -2147483648),
    "iz": ("INT ZEROFILL", "BIGINT", "4294967295", 4294967295),
    "b": ("BIGINT", "BIGINT", "-9223372036854775808", -(2**63)),
    "bu": ("BIGINT UNSIGNED", "DECIMAL(20, 0)", "18446744073709551615", 2**64 - 1),
    "f": ("FLOAT", "FLOAT", "0.1", 0.10000000149011612),
    "d": ("DOUBLE", "DOUBLE", "0.1e0", 0.1),
    "dp": ("DECIMAL(20,6)", "DECIMAL(20, 6)", "-12345678901234.000001", "-12345678901234.000001"),
    "dw": (
        "DECIMAL(65,30)",
        "STRING",
        "12345678901234567890123456789012345.123456789012345678901234567891",
        "12345678901234567890123456789012345.123456789012345678901234567891",
    ),
    "b1": ("BIT(1)", "BOOLEAN", "b'1'", b"\x01"),
    "b9": ("BIT(9)", "BINARY(2)", "b'111111111'", b"\x01\xff"),
    "da": ("DATE", "DATE", "'2024-02-29'", date(2024, 2, 29)),
    "z": ("DATE", "DATE", "'0000-00-00'", None),
    "zn": ("DATETIME NOT NULL", "TIMESTAMP(0) NOT NULL", "'0000-00-00'", datetime(1970, 1, 1)),
    "ti": ("TIME", "TIME(0)", "'-838:59:59'", -timedelta(hours=838, minutes=59, seconds=59)),
    "t1": ("TIME(1)", "TIME(1)", "'-01:00:00.5'", -timedelta(hours=1, milliseconds=500)),
    "t6": ("TIME(6)", "TIME(6)", "'-00:00:00.000001'", -timedelta(microseconds=1)),
    "dt": ("DATETIME", "TIMESTAMP(0)", "'1000-01-01 00:00:00'", datetime(1000, 1, 1)),
    "d6": (
        "DATETIME(6)",
        "TIMESTAMP(6)",
        "'9999-12-31 23:59:59.999999'",
        datetime(9999, 12, 31, 23, 59, 59, 999999),
    ),
    "ts": (
        "TIMESTAMP(3) NULL",
        "TIMESTAMP(3)",
        "'2024-07-01 12:00:00.123'",
        datetime(2024, 7, 1, 10, 0, 0, 123000, tzinfo=UTC),
    ),
    "y": ("YEAR", "INT", "2155", 2155),
    "y0": ("YEAR", "INT", "0000", 0),
    "ch": ("CHAR(10) CHARACTER SET latin1", "CHAR(10)", "'é€  '", "é€"),
    "vc": ("VARCHAR(300)", "VARCHAR(300)", "REPEAT('日😀', 100)", "日😀" * 100),
    "vg": ("VARCHAR(9) CHARACTER SET gbk", "VARCHAR(9)", "'中文'", "中文"),
    "vu": ("VARCHAR(9) CHARACTER SET utf16", "VARCHAR(9)", "'😀é'", "😀é"),
    "vn": ("VARCHAR(9) COLLATE uca1400_ai_ci", "VARCHAR(9)", "'é'", "é"),
    "tx": ("TEXT", "STRING", "REPEAT('x', 300)", "x" * 300),
    "lt": ("LONGTEXT", "STRING", "REPEAT('m', 70000)", "m" * 70000),
    "bn": ("BINARY(4)", "BINARY(4)", "X'0100'", b"\x01\0\0\0"),
    "vb": ("VARBINARY(300)", "VARBINARY(300)", "X'000100'", b"\0\x01\0"),
    "bl": ("BLOB", "BYTES", "X'FF00'", b"\xff\0"),
    "js": ("JSON", "STRING", """'{"a": [1, 2.50, "x y"]}'""", '{"a": [1, 2.50, "x y"]}'),
    "en": ("ENUM('a','ü','c,d')", "STRING", "'ü'", "ü"),
    "el": ("ENUM('ä','ö') CHARACTER SET latin1", "STRING", "'ö'", "ö"),
    "se": ("SET('x','y','ß')", "ARRAY<STRING>", "'ß,x'", ("x", "ß")),
    "s0": ("SET('x','y')", "ARRAY<STRING>", "''", ()),
    "gp": (
        "POINT",
        "STRING",
        "ST_GeomFromText('POINT(1.5 1)')",
        '{"coordinates":[1.5,1],"type":"Point","srid":0}',
    ),
    "gm": (
        "GEOMETRY",
        "STRING",
        "ST_GeomFromText('MULTIPOLYGON(((0 0,10 0,10 10,0 0)))', 4326)",
        '{"coordinates":[[[[0,0],[10,0],[10,10],[0,0]]]],"type":"MultiPolygon","srid":4326}',
    ),
    "gc": (
        "GEOMETRYCOLLECTION",
        "STRING",
        "ST_GeomFromText('GEOMETRYCOLLECTION(POINT(10 10),LINESTRING(15 15,20 20))')",
        _COLLECTION,
    ),
    "gv": ("INT AS (i + 1) VIRTUAL", "INT", "DEFAULT", -2147483647),
    "gs": ("INT AS (i + 2) STORED", "INT", "DEFAULT", -2147483646),
}


def read_both_ways(
    settings: MySqlSettings, pattern: str, position: Sequence[Any]
) -> tuple[Folded, Folded]:
    """Read a table by a snapshot, and from a position in the binlog."""
    _, snapshot = read_to_end(SourceSpec(settings, (pattern,)))
    after = Startup(StartupMode.SPECIFIC, file=position[0], pos=position[1])
    _, binlog = read_to_end(SourceSpec(settings, (pattern,), after))
    return snapshot, binlog


def test_a_row_of_every_type_is_the_same_in_snapshot_and_binlog(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    table = TableId(database, "types")
    columns = ", ".join(f"{name} {parts[0]}" for name, parts in COLUMNS.items())
    names, values = ", ".join(COLUMNS), ", ".join(parts[2] for parts in COLUMNS.values())
    position = mariadb.run("SHOW MASTER STATUS")[0]
    mariadb.run(
        "SET sql_mode = '', time_zone = '+02:00'",
        f"USE {database}",
        f"CREATE TABLE types (id BIGINT UNSIGNED PRIMARY KEY, {columns})",
        f"INSERT INTO types (id, {names}) VALUES (18446744073709551615, {values})",
        "INSERT INTO types (id, zn) VALUES (1, '2024-01-01')",
    )
    snapshot, binlog = read_both_ways(settings, rf"{database}\.types", position)
    assert binlog.rows == snapshot.rows
    whole = snapshot.rows[table, (2**64 - 1,)]
    expected = {
        name: Decimal(parts[3]) if parts[0].startswith("DECIMAL") else parts[3]
        for name, parts in COLUMNS.items()
    }
    assert {name: whole[name] for name in COLUMNS} == expected
    assert set(snapshot.rows[table, (1,)].values()) == {1, datetime(2024, 1, 1), None}


def test_columns_have_the_types_of_flink_cdc(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    columns = ", ".join(f"{name} {parts[0]}" for name, parts in COLUMNS.items())
    mariadb.run(f"USE {database}", f"CREATE TABLE types (id INT PRIMARY KEY, {columns})")
    (found,) = discover(settings, [rf"{database}\.types"])
    types = {column.name: str(sql_type(column)) for column in found.columns}
    assert types.pop("id") == "INT NOT NULL"
    assert types == {name: parts[1] for name, parts in COLUMNS.items()}
    assert found.primary_key == ("id",)


#: Character set -> bytes of a text, in hex. Python's codec of the same name decodes them in another
#: way than the server: characters of MySQL, and bytes that are no character.
TEXTS: dict[str, str] = {
    "big5": "A440 F9D6 A15A A3C0",
    "cp1250": "81 E1",
    "cp1251": "CF 98 EF",
    "cp1256": "8A C7",
    "cp1257": "A1 E0",
    "cp866": "FC FD 8F",
    "eucjpms": "A4A2 ADA1 A1C1 8FF3F3 8FF4B8 F5A1 8FF5A1 A9A1",
    "euckr": "B0A1 8141 A2E8",
    "gb2312": "D6D0 A2A1",
    "gbk": "D6D0 A140",
    "greek": "C1 D2 A4",
    "hebrew": "E0 AF BF",
    "koi8u": "95 C1",
    "latin1": "80 81 E9",
    "sjis": "815F 81AD B1",
    "tis620": "A1 DB",
    "ucs2": "D83D DE00 D83D 0041",
    "ujis": "A1C0 F5A1 A9A1",
    "utf32": "0000D83D 00000041",
    "utf8mb3": "EDA0BD EDB880 EDA0BD 41",
}


def test_text_is_the_same_in_snapshot_and_binlog(
    mariadb: MariaDb,
    database: str,
    settings: MySqlSettings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = TableId(database, "texts")
    columns = ", ".join(f"c_{name} VARCHAR(20) CHARACTER SET {name}" for name in TEXTS)
    values = ", ".join(f"_{name} X'{text.replace(' ', '')}'" for name, text in TEXTS.items())
    position = mariadb.run("SHOW MASTER STATUS")[0]
    mariadb.run(
        f"USE {database}",
        f"CREATE TABLE texts (id INT PRIMARY KEY, {columns})",
        f"INSERT INTO texts VALUES (1, {values}), (2, {values})",
    )
    snapshot, binlog = read_both_ways(settings, rf"{database}\.texts", position)
    assert binlog.rows == snapshot.rows
    row = binlog.rows[table, (1,)]
    assert row["c_cp1251"] == "П?п"
    assert row["c_euckr"] == "가갂?"
    assert row["c_eucjpms"].startswith("あ①")
    assert row["c_utf8mb3"] == row["c_ucs2"] == "😀\ufffdA"
    lines = [record.getMessage() for record in caplog.records]
    (line,) = [line for line in lines if "c_cp1251" in line]
    assert line.startswith(f"column {table}.c_cp1251 has bytes that are no character of cp1251")
    assert not [line for line in lines if "c_latin1" in line]


UNREADABLE = {
    **{f"v{n}": (f"VARCHAR({n}) CHARACTER SET latin1 COMPRESSED", "'abc'") for n in (9, 255)},
    "b": ("LONGBLOB COMPRESSED", "'abc'"),
    **{
        f"{kind}{digits}": (f"{kind}({digits})", "'2024-01-02 03:04:05.123456'")
        for kind in ("DATETIME", "TIME", "TIMESTAMP")
        for digits in range(7)
    },
}


def test_columns_that_binlogs_do_not_describe_are_left_out_or_refused(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    columns = ", ".join(f"{name} {kind} NULL" for name, (kind, _) in UNREADABLE.items())
    values = ", ".join(value for _, value in UNREADABLE.values())
    position = mariadb.run("SHOW MASTER STATUS")[0]
    mariadb.run("SET GLOBAL mysql56_temporal_format = OFF")
    mariadb.run(
        f"USE {database}",
        f"CREATE TABLE old (id INT PRIMARY KEY, {columns}, n VARCHAR(20) CHARACTER SET utf8mb4)",
        "SET GLOBAL mysql56_temporal_format = ON",
        f"INSERT INTO old VALUES (1, {values}, 'Jög')",
    )
    place = Startup(StartupMode.SPECIFIC, file=position[0], pos=position[1])
    spec = SourceSpec(settings, (rf"{database}\.old",), place)
    _, folded = read_to_end(replace(spec, columns=lambda _, name: name == "n"))
    expected = {"id": 1, "n": "Jög", **dict.fromkeys(UNREADABLE)}
    assert list(folded.rows.values()) == [expected]
    for name in UNREADABLE:
        with pytest.raises(StreamtableError, match=f"column {name} is stored in the format"):
            check(replace(spec, columns=partial(_only, name)))
    mariadb.run(f"ALTER TABLE {database}.old DROP DATETIME3")
    with pytest.raises(StreamtableError, match="column DATETIME0 was left out, and had the format"):
        read_to_end(replace(spec, columns=lambda _, name: name == "n"))


def _only(name: str, _: TableId, column: str) -> bool:
    return column == name


def test_an_empty_point_is_read_as_null(
    mariadb: MariaDb, database: str, settings: MySqlSettings
) -> None:
    """A row from before a NOT NULL column was added has an empty value, which is read as NULL."""
    position = mariadb.run("SHOW MASTER STATUS")[0]
    mariadb.run(
        f"USE {database}",
        "CREATE TABLE places (id INT PRIMARY KEY)",
        "INSERT INTO places VALUES (1)",
        "ALTER TABLE places ADD at POINT NOT NULL",
        "UPDATE places SET id = 2",
    )
    snapshot, binlog = read_both_ways(settings, rf"{database}\.places", position)
    assert binlog.rows == snapshot.rows
    assert list(snapshot.rows.values()) == [{"id": 2, "at": None}]


def test_every_character_is_decoded_as_by_the_server(mariadb: MariaDb, database: str) -> None:
    high, trails = range(0x80, 0x100), range(0x30, 0x100)
    codes = [bytes((byte,)) for byte in range(0x100)]
    codes += [bytes((first, second)) for first in high for second in trails]
    codes += [bytes((0x8F, first, second)) for first in high for second in high]
    literals = ", ".join(f"(X'{code.hex()}')" for code in codes)
    mariadb.run(
        f"CREATE TABLE {database}.codes (code VARBINARY(3))",
        f"INSERT INTO {database}.codes VALUES {literals}",
    )
    for charset in CODECS:
        if charset[:3] in ("ucs", "utf", "gb1"):
            continue
        decode, text = decoder(charset), f"CONVERT(code USING {charset})"
        characters = mariadb.run(
            f"SELECT code, CONVERT({text} USING utf8mb4) FROM {database}.codes"
            f" WHERE CAST({text} AS BINARY) = code AND CHAR_LENGTH({text}) = 1"
        )
        assert len(characters) >= 256
        wrong = [(code.hex(), text) for code, text in characters if decode(code) != text]
        assert not wrong, (charset, wrong[:5])
