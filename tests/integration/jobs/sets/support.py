"""A statement set over one topic. Tests can easily compute the contents of its sinks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from streamtable.testing.topics import records

_TABLES = """
CREATE TABLE t (id BIGINT, v STRING, w STRING, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp') WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE even (id BIGINT, v STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}-even', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json' ${even}
);
CREATE TABLE late (id BIGINT, w STRING, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  h MAP<STRING, BYTES> METADATA FROM 'headers') WITH (
  'connector' = 'kafka', 'topic' = '${source}-late', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json' ${late}
);
CREATE TABLE doubled (id BIGINT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-doubled',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json' ${doubled}
);
"""
SINKS = ("even", "late", "doubled")
EVEN = "INSERT INTO even SELECT id, v FROM t WHERE id % 2 = 0;\n"
LATE = (
    "INSERT INTO late SELECT id, w, at, MAP['k', CAST(w AS BYTES)]"
    " FROM (SELECT *, id + 1 AS x FROM t) WHERE x > 10;\n"
)
DOUBLED = "INSERT INTO doubled SELECT id, id * 2 FROM t;\n"

_EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once',"
    " 'sink.transactional-id-prefix' = '${source}-of-NAME'"
)


def script(*inserts: str, exactly_once: bool = False, more: str = "") -> str:
    """Return a script with a statement set; without INSERTs, the set has all three.

    Args:
        inserts: the INSERTs of the set.
        exactly_once: whether the sinks write in transactions.
        more: options of all sinks.
    """
    tables = _TABLES
    for name in SINKS:
        own = _EXACTLY_ONCE.replace("NAME", name) if exactly_once else ""
        tables = tables.replace(f"${{{name}}}", own + more)
    of_set = "".join(inserts or (EVEN, LATE, DOUBLED))
    return f"{tables}EXECUTE STATEMENT SET BEGIN\n{of_set}END;"


def rows(start: int, end: int) -> list[dict[str, Any]]:
    """Return records of the source."""
    return [{"id": i, "v": f"v{i}", "w": f"w{i}"} for i in range(start, end)]


def values_in(servers: str, source: str, sink: str) -> Counter[bytes]:
    """Count how often each value is in the topic of a sink, for a reader of committed records."""
    return Counter(record.value() for record in records(servers, f"{source}-{sink}"))


def expected(count: int) -> dict[str, Counter[bytes]]:
    """Return the values in the topic of each sink after the first `count` records."""
    ids = range(count)
    return {
        "even": Counter(b'{"id":%d,"v":"v%d"}' % (i, i) for i in ids if i % 2 == 0),
        "late": Counter(b'{"id":%d,"w":"w%d"}' % (i, i) for i in ids if i > 9),
        "doubled": Counter(b'{"id":%d,"n":%d}' % (i, i * 2) for i in ids),
    }


def forget_last_commit(query: Path) -> None:
    """Delete the last commit of a query, as a crash between Kafka's commit and Spark's does."""
    commits = query / "commits"
    last = max((p for p in commits.iterdir() if p.name.isdigit()), key=lambda p: int(p.name))
    last.unlink()
    (commits / f".{last.name}.crc").unlink(missing_ok=True)
