"""Views over rows that a program provides: plans, listings and DROP, without Spark."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, STRING, Field
from streamtable.session import Session
from streamtable.sql.nodes import GivenRows

_TABLES = """
CREATE TABLE clicks (a STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = 'c', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
CREATE TABLE o (name STRING, km BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
"""


def _session() -> Session:
    session = Session()
    fields = (Field("name", STRING.with_nullable(False)), Field("km", BIGINT), Field("x", STRING))
    rows = GivenRows(this="sizes", fields=fields, rows="any DataFrame")
    session.catalog.put_view(("sizes",), rows)
    session.load(_TABLES, "tables.sql")
    return session


def test_views_of_provided_rows_are_looked_up_and_read() -> None:
    session = _session()
    session.load(
        "INSERT INTO o SELECT c.a, s.km FROM clicks AS c"
        " JOIN sizes FOR SYSTEM_TIME AS OF c.p AS s ON s.name = c.a;"
        "INSERT INTO o SELECT name, km FROM sizes WHERE km > 1;",
        "job.sql",
    )
    lookup, read = session.explain().split("\n\n")
    assert "LookupJoin on (`name` = `a`), broadcast" in lookup
    assert "StaticTable sizes: reads (name, km)" in lookup
    assert "not in real-time mode" not in lookup
    assert "not in real-time mode: Spark does not read" in read


def test_views_of_provided_rows_are_listed_described_and_dropped() -> None:
    session = _session()
    session.load("SHOW VIEWS; DESCRIBE sizes;", "job.sql")
    views, columns = session.printed
    assert "sizes" in views
    assert all(text in columns for text in ("name", "STRING", "FALSE", "km", "BIGINT", "TRUE"))
    with pytest.raises(StreamtableError, match="a program has provided its rows") as refused:
        session.load("SHOW CREATE VIEW sizes;", "job.sql")
    assert refused.value.condition is Condition.CHANGE_REFUSED
    session.load("DROP TEMPORARY VIEW sizes;", "job.sql")
    with pytest.raises(StreamtableError, match="sizes does not exist"):
        session.load("SELECT * FROM sizes;", "job.sql")
