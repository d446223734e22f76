"""`jdbc` tables: options, columns and refusals."""

from __future__ import annotations

import pytest

from streamtable.connectors.jdbc.table import Cache, JdbcTable, Partitioning
from streamtable.core.durations import parse_duration
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.session import Session

_URL = "'url' = 'jdbc:postgresql://localhost/shop'"
_BASE = f"{_URL}, 'table-name' = 'orders'"
_PARTS = "'scan.partition.column' = 'a', 'scan.partition.num' = '2'"


def _table(options: str, columns: str = "a INT, b STRING") -> str:
    return f"CREATE TABLE t ({columns}) WITH ('connector' = 'jdbc', {options});"


def _found(sql: str) -> JdbcTable:
    session = Session()
    session.load(sql, "job.sql")
    table = session.catalog.find(("t",), None)
    assert isinstance(table, Table)
    assert isinstance(table.connector, JdbcTable)
    return table.connector


@pytest.mark.parametrize(
    ("options", "condition", "words"),
    [
        (_URL, Condition.MISSING_OPTION, "'table-name'"),
        ("'table-name' = 'x'", Condition.MISSING_OPTION, "'url'"),
        ("'url' = 'jdbc:oracle:thin:@h:1', 'table-name' = 'x'", Condition.NOT_YET, "jdbc:oracle:"),
        (f"{_BASE}, 'username' = 'me'", Condition.OPTION_CONFLICT, "without 'password'"),
        (f"{_BASE}, {_PARTS}", Condition.OPTION_CONFLICT, "'scan.partition.lower-bound'"),
        (
            (
                f"{_BASE}, {_PARTS}, 'scan.partition.lower-bound' = '9',"
                " 'scan.partition.upper-bound' = '1'"
            ),
            Condition.OPTION_CONFLICT,
            "is 9, and 'scan.partition.upper-bound' is 1",
        ),
        (
            (
                f"{_BASE}, {_PARTS}, 'scan.partition.lower-bound' = '0',"
                " 'scan.partition.upper-bound' = '9223372036854775808'"
            ),
            Condition.INVALID_OPTION,
            "'scan.partition.upper-bound'",
        ),
        (
            (
                f"{_BASE}, {_PARTS.replace(chr(39) + 'a', chr(39) + 'b')},"
                " 'scan.partition.lower-bound' = '0', 'scan.partition.upper-bound' = '1'"
            ),
            Condition.NOT_YET,
            "of type STRING",
        ),
        (
            (
                f"{_BASE}, {_PARTS.replace(chr(39) + 'a', chr(39) + 'c')},"
                " 'scan.partition.lower-bound' = '0', 'scan.partition.upper-bound' = '1'"
            ),
            Condition.OPTION_CONFLICT,
            "no column of t",
        ),
        (f"{_BASE}, 'lookup.cache' = 'FULL'", Condition.NOT_YET, "'PARTIAL'"),
        (f"{_BASE}, 'lookup.cache' = 'PARTIAL'", Condition.OPTION_CONFLICT, "no limit"),
        (
            f"{_BASE}, 'lookup.partial-cache.max-rows' = '9'",
            Condition.OPTION_CONFLICT,
            "without 'lookup.cache' = 'PARTIAL'",
        ),
        (
            (
                f"{_BASE}, 'lookup.cache' = 'PARTIAL', 'lookup.cache.ttl' = '1 s',"
                " 'lookup.cache.max-rows' = '9'"
            ),
            Condition.OPTION_CONFLICT,
            "remove 'lookup.cache.max-rows'",
        ),
        (
            f"{_BASE}, 'lookup.cache.max-rows' = '9'",
            Condition.OPTION_CONFLICT,
            "without 'lookup.cache.ttl'",
        ),
        (f"{_BASE}, 'lookup.max-retries' = '-1'", Condition.INVALID_OPTION, "number from 0 to"),
        (f"{_BASE}, 'connection.max-retry-timeout' = '9 ms'", Condition.INVALID_OPTION, "1 s"),
        (
            f"{_BASE}, 'connection.max-retry-timeout' = '40000 d'",
            Condition.INVALID_OPTION,
            "at most 2147483647 s",
        ),
        (f"{_BASE}, 'compatible-mode' = 'oracle'", Condition.NOT_YET, "compatible-mode"),
        (f"{_BASE}, 'scan.partition.number' = '2'", Condition.UNKNOWN_OPTION, "did you mean"),
    ],
)
def test_options_are_refused(options: str, condition: Condition, words: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _found(_table(options))
    assert refused.value.condition is condition
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("url", "columns", "reads"),
    [
        ("jdbc:postgresql://h/d", "a ARRAY<INT>", True),
        ("jdbc:mysql://h/d", "a ARRAY<INT>", False),
        ("jdbc:postgresql://h/d", "a TIMESTAMP_LTZ(3)", False),
        ("jdbc:mariadb://h/d", "a MAP<STRING, INT>", False),
        ("jdbc:sqlite:/d", "a ROW<x INT>", False),
        ("jdbc:postgresql://h/d", "a ARRAY<ROW<x INT>>", False),
        ("jdbc:sqlite:/d", "a TIME, b DECIMAL(10, 2), c TIMESTAMP(6), d BYTES", True),
    ],
)
def test_types(url: str, columns: str, reads: bool) -> None:
    sql = _table(f"'url' = '{url}', 'table-name' = 'x'", columns)
    if reads:
        assert _found(sql)
        return
    with pytest.raises(StreamtableError) as refused:
        _found(sql)
    assert refused.value.condition is Condition.UNSUPPORTED_TYPE


def test_arrays_are_not_written() -> None:
    sql = _table(_BASE, "a ARRAY<INT>") + "INSERT INTO t SELECT a FROM t;"
    with pytest.raises(StreamtableError, match="reads arrays and does not write them"):
        Session().load(sql, "job.sql")


def test_both_generations_of_cache_options() -> None:
    old = f"{_BASE}, 'lookup.cache.max-rows' = '9', 'lookup.cache.ttl' = '10 s'"
    assert _found(_table(old)).cache == Cache(9, parse_duration("10 s"), None, True)
    off = f"{_BASE}, 'lookup.cache.max-rows' = '-1', 'lookup.cache.ttl' = '10 s'"
    assert _found(_table(off)).cache is None
    new = (
        f"{_BASE}, 'lookup.cache' = 'partial', 'lookup.partial-cache.expire-after-access' = '1 s',"
        " 'lookup.partial-cache.caching-missing-key' = 'false'"
    )
    assert _found(_table(new)).cache == Cache(None, None, parse_duration("1 s"), False)


def test_partitions_of_a_scan() -> None:
    bounds = "'scan.partition.lower-bound' = '-5', 'scan.partition.upper-bound' = '10'"
    found = _found(_table(f"{_BASE}, {_PARTS}, {bounds}"))
    assert found.scanning.partitioning == Partitioning("a", 2, -5, 10)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("jdbc:mysql://u1:word-one@h1,u2:word-two@h2:3306/d", "jdbc:mysql://h1,h2:3306/d"),
        ("jdbc:mysql://(host=h,port=3306,user=bob,password=word-one)/d", "jdbc:mysql:"),
        ("jdbc:mysql://address=(host=h)(user=bob)(password=word-one)/d", "jdbc:mysql:"),
        ("jdbc:mysql://bob:hun@word-one@h/d", "jdbc:mysql:"),
        ("jdbc:mysql://bob:hun/word-one@h/d", "jdbc:mysql:"),
        ("jdbc:mysql://bob:12345?word-one@h/d", "jdbc:mysql:"),
        ("jdbc:mysql://bob:word-one", "jdbc:mysql:"),
        (
            "jdbc:mysql:replication://h/d?user=me@h&password=word-one",
            "jdbc:mysql:replication://h/d",
        ),
        ("jdbc:postgresql://[::1]:5432/d", "jdbc:postgresql://[::1]:5432/d"),
        ("jdbc:postgresql:shop?password=word-one", "jdbc:postgresql:shop"),
        ("jdbc:sqlite:/tmp/a b@c.db?busy_timeout=1", "jdbc:sqlite:/tmp/a b@c.db"),
    ],
)
def test_urls_are_shown_without_logins(url: str, shown: str) -> None:
    session = Session()
    session.load(_table(f"'url' = '{url}', 'table-name' = 'x'") + "SHOW CREATE TABLE t;", "job.sql")
    table = session.catalog.find(("t",), None)
    assert isinstance(table, Table)
    assert isinstance(table.connector, JdbcTable)
    assert table.connector.access.shown_url == shown
    written = str(session.answers[0].rows)
    assert "jdbc:" in written
    error = str(StreamtableError(Condition.SYNTAX, expected=url, found=""))
    for word in ("word-one", "word-two", "hun", "12345"):
        assert word not in f"{written} {error}"


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:postgresql://me:word-one@localhost:5432/shop?user=me&password=word-two",
        "jdbc:mysql://localhost:5432/shop?password=word-two&trustCertificateKeyStorePassword=word-one",
    ],
)
def test_secrets_stay_secret(url: str) -> None:
    sql = _table(
        f"'url' = '{url}', 'table-name' = 'x', 'username' = 'me', 'password' = 'word-three',"
        " 'properties.sslpassword' = 'word-four'"
    )
    found = _found(sql)
    assert found.access.shown_url.endswith("://localhost:5432/shop")
    shown = f"{found!r} {found.describe()} {found.fingerprint()}"
    error = StreamtableError(Condition.SYNTAX, expected=sql, found="")
    for word in ("word-one", "word-two", "word-three", "word-four"):
        assert word not in shown
        assert word not in str(error)
