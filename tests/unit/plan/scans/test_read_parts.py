"""Fields of ROW columns that a scan reads."""

from __future__ import annotations

import pytest

from streamtable.api.connect import connect

_TABLES = """
CREATE TABLE t (id INT, r ROW<a INT, b STRING, deep ROW<x INT, y INT>, `c.d` INT>,
  s ROW<at TIMESTAMP(3), v INT>, l ARRAY<ROW<a INT, b INT>>, ts AS s.at,
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('connector' = 'kafka', 'topic' = 't',
  'properties.bootstrap.servers' = 's:9092', 'format' = 'json');
CREATE TABLE u (id INT, r ROW<a INT, b STRING>, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json');
"""
_HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '3' SECOND)"

#: Query -> columns and fields that its scan reads.
_READS = {
    "SELECT r.a FROM t": "r<a>",
    "SELECT r.a + 1, UPPER(r.b) FROM t WHERE r.deep.x > 1": "r<a, b, deep<x>>",
    "SELECT r.`c.d` FROM t": "r<c.d>",
    "SELECT r.deep FROM t WHERE r.deep.x > 1": "r<deep<x, y>>",
    "SELECT r['a'] FROM t": "r<a>",
    "SELECT r.a, r FROM t": "r",
    "SELECT r.a, r.b, r.deep.x, r.deep.y, r.`c.d` FROM t": "r",
    "SELECT id FROM t WHERE r IS NULL": "id, r",
    "SELECT CAST(r AS STRING) FROM t": "r",
    "SELECT q.r.a FROM (SELECT r, id FROM t WHERE id > 1) AS q": "id, r<a>",
    "SELECT q.w.deep.y FROM (SELECT r AS w FROM t) AS q WHERE q.w.a = 1": "r<a, deep<y>>",
    "SELECT l[1].a, s.v FROM t": "s<v>, l",
    "SELECT COUNT(*) FROM t GROUP BY r.a": "r<a>",
    "SELECT COUNT(*) FROM t GROUP BY r": "r",
    "SELECT DISTINCT r FROM t": "r",
    f"SELECT window_start, MAX(r.a) FROM {_HOP} GROUP BY window_start, window_end": "r<a>, s<at>",
    "SELECT r.a FROM u": "id, r",
    "SELECT r.a FROM u WHERE r.b = 'x'": "id, r",
    "SELECT SUM(r.a) FROM u": "id, r",
}


@pytest.mark.parametrize(("query", "reads"), _READS.items())
def test_fields_read_by_a_scan(query: str, reads: str) -> None:
    with connect() as session:
        session.execute_sql(_TABLES)
        found = session.explain_sql(query)
    assert f"reads ({reads})" in found


def test_a_shared_scan_reads_the_fields_of_all_inserts() -> None:
    sinks = "".join(
        f"""CREATE TABLE {name} (v INT) WITH ('connector' = 'kafka', 'topic' = '{name}',
        'properties.bootstrap.servers' = 's:9092', 'format' = 'json');"""
        for name in "xy"
    )
    with connect() as session:
        session.execute_sql(_TABLES + sinks)
        inserts = session.create_statement_set()
        inserts.add_insert_sql("INSERT INTO x SELECT r.a FROM t")
        inserts.add_insert_sql("INSERT INTO y SELECT r.deep.x FROM t WHERE s.v > 0")
        found = inserts.explain()
    assert "reads (r<a, deep<x>>, s<v>)" in found.rpartition("One query writes x, y")[2]
