"""SHOW CREATE prints a statement that creates the same table or view again."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.table import Table
from streamtable.session import Session

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
MORE = """
CREATE TEMPORARY TABLE `odd ``name` (
  `the key` BIGINT, r ROW<a INT, `b c` ARRAY<STRING>> COMMENT 'it''s', n AS `the key` * 2,
  m AS CASE WHEN r.a > 1 THEN 'x' ELSE CAST(r.a AS STRING) END,
  ts TIMESTAMP(3) METADATA FROM 'timestamp', `partition` INT METADATA VIRTUAL,
  CONSTRAINT c PRIMARY KEY (`the key`) NOT ENFORCED,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) COMMENT 'all' WITH ('connector' = 'upsert-kafka', 'topic' = 'x',
  'properties.bootstrap.servers' = 'b:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE DATABASE d;
CREATE TABLE d.t LIKE `odd ``name`;
CREATE VIEW v (x) AS SELECT r.a + 1 FROM d.t;
"""


def _session() -> Session:
    session = Session()
    session.load(TABLES + MORE, "tables.sql")
    return session


NAMES = [*_session().catalog.names((), None), "d.t"]


@pytest.mark.parametrize("name", NAMES)
def test_the_script_makes_the_same_table(name: str) -> None:
    session = _session()
    quoted = name if name == "d.t" else "`" + name.replace("`", "``") + "`"
    kind = "VIEW" if name == "v" else "TABLE"
    session.load(f"SHOW CREATE {kind} {quoted};", "a.sql")
    script = session.printed[-1]
    again = _session()
    temporary = "TEMPORARY " if name.startswith("odd") else ""
    again.load(f"DROP {temporary}{kind} {quoted};{script};SHOW CREATE {kind} {quoted};", "b.sql")
    assert again.printed[-1] == script
    path = ("d", "t") if name == "d.t" else (name,)
    one, other = (s.catalog.find(path, None) for s in (session, again))
    if isinstance(one, Table) and isinstance(other, Table):
        assert [(c.name, c.comment) for c in one.schema.columns] == [
            (c.name, c.comment) for c in other.schema.columns
        ]
        assert one.schema.stored == other.schema.stored
        assert one.connector.fingerprint() == other.connector.fingerprint()


def test_secrets_are_masked() -> None:
    session = _session()
    session.load(
        """CREATE TABLE s (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'format' = 'json',
          'properties.bootstrap.servers' = 'b:1', 'properties.ssl.key.password' = 'hidden');
        SHOW CREATE TABLE s""",
        "a.sql",
    )
    assert "hidden" not in session.printed[-1]
    assert "'properties.ssl.key.password' = '****'" in session.printed[-1]
