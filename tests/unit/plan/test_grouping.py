"""FLOAT and DOUBLE as grouping keys have one zero and one NaN below each operator that groups."""

from __future__ import annotations

import pytest

from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.tree import every
from streamtable.session import Session

_TABLES = """
CREATE TABLE e (k INT, d DOUBLE, f FLOAT, r ROW<x INT, d DOUBLE>, a ARRAY<FLOAT>,
  m MAP<STRING, DOUBLE>, ts TIMESTAMP(3), proc AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = 'e',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE u (d DOUBLE, k INT, PRIMARY KEY (d) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
  'topic' = 'u', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json',
  'value.format' = 'json');
"""
_D = "if(isnan(`d`), CAST('NaN' AS DOUBLE), `d` + CAST(0 AS DOUBLE))"
_F = "if(isnan(`f`), CAST('NaN' AS FLOAT), `f` + CAST(0 AS FLOAT))"
_ROW = (
    "if(`group0` IS NULL, NULL, named_struct('x', `group0`.`x`, 'd',"
    " if(isnan(`group0`.`d`), CAST('NaN' AS DOUBLE), `group0`.`d` + CAST(0 AS DOUBLE))))"
)
_ARRAY = "transform(`a`, e0 -> if(isnan(e0), CAST('NaN' AS FLOAT), e0 + CAST(0 AS FLOAT)))"
_MAP = (
    "map_from_entries(array_sort(transform(map_entries(`m`), e0 -> named_struct('key', e0.key,"
    " 'value', if(isnan(e0.value), CAST('NaN' AS DOUBLE), e0.value + CAST(0 AS DOUBLE)))),"
    " (l0, r0) -> CASE WHEN l0.key < r0.key THEN -1 ELSE 1 END))"
)
_RANKED = "SELECT d, k FROM (SELECT *, ROW_NUMBER() OVER ({}) AS n FROM {}) WHERE n <= {}"
_TUMBLE = "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_CUMULATE = "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '20' SECOND)"
_SESSION = "SESSION(TABLE e PARTITION BY d, DESCRIPTOR(ts), INTERVAL '2' SECOND)"
_WINDOW = "window_start, window_end, d"
_MATCH = (
    "SELECT * FROM e MATCH_RECOGNIZE (PARTITION BY d ORDER BY {} MEASURES LAST(A.k) AS k"
    " PATTERN (A) DEFINE A AS A.k > 1)"
)

#: Query, and the computed key values of each operator that groups, from the sink down.
_CASES = {
    "group by": ("SELECT d, f, COUNT(*) FROM e GROUP BY d, f", [(_D, _F)]),
    "nested": ("SELECT r, a, m, COUNT(*) FROM e GROUP BY r, a, m", [(_ROW, _ARRAY, _MAP)]),
    "an expression": (
        "SELECT COUNT(*) FROM e GROUP BY d * 2",
        [("if(isnan(`group0`), CAST('NaN' AS DOUBLE), `group0` + CAST(0 AS DOUBLE))",)],
    ),
    "distinct": ("SELECT DISTINCT d, k FROM e", [(_D,)]),
    "union": ("SELECT d FROM e UNION SELECT d FROM e", [(_D,)]),
    "intersect": ("SELECT d FROM e INTERSECT SELECT d FROM e", [(_D,)]),
    "except all": ("SELECT d FROM e EXCEPT ALL SELECT d FROM e", [(_D,)]),
    "top n": (_RANKED.format("PARTITION BY d ORDER BY k", "e", 3), [(_D,)]),
    "first row": (_RANKED.format("PARTITION BY d ORDER BY ts", "e", 1), [(_D,)]),
    "last to arrive": (_RANKED.format("PARTITION BY d ORDER BY proc DESC", "e", 1), [(_D,)]),
    "over": ("SELECT SUM(k) OVER (PARTITION BY d ORDER BY ts) FROM e", [(_D,)]),
    "processing-time over": ("SELECT SUM(k) OVER (PARTITION BY d ORDER BY proc) FROM e", [(_D,)]),
    "sorted over": ("SELECT SUM(k) OVER (PARTITION BY d ORDER BY f) FROM e", [(_D,)]),
    "match": (_MATCH.format("ts"), [(_D,)]),
    "processing-time match": (_MATCH.format("proc"), [(_D,)]),
    "window": (f"SELECT d, COUNT(*) FROM TABLE({_TUMBLE}) GROUP BY {_WINDOW}", [(_D,)]),
    "slices": (
        f"SELECT d, COUNT(*) FROM TABLE({_CUMULATE}) GROUP BY {_WINDOW}",
        [(_D,)],
    ),
    "sessions": (f"SELECT d, COUNT(*) FROM TABLE({_SESSION}) GROUP BY {_WINDOW}", [(_D,)]),
    "rows of sessions": (f"SELECT * FROM TABLE({_SESSION})", [(_D,)]),
    "window top n": (
        _RANKED.format(f"PARTITION BY {_WINDOW} ORDER BY k", f"TABLE({_TUMBLE})", 3),
        [(_D,)],
    ),
    "grouped twice": (
        "SELECT DISTINCT d, n FROM (SELECT d, COUNT(*) AS n FROM e GROUP BY d)",
        [(), (_D,)],
    ),
    "conflicts": ("INSERT INTO u SELECT d, k FROM e ON CONFLICT DO NOTHING", [(_D,)]),
    "other keys": ("SELECT k, SUM(d), MAX(f) FROM e GROUP BY k", [()]),
    "no keys": ("SELECT SUM(d) FROM e", [()]),
}


@pytest.mark.parametrize(("query", "wanted"), _CASES.values(), ids=_CASES)
def test_keys_have_one_zero_and_one_nan(query: str, wanted: list[tuple[str, ...]]) -> None:
    session = Session()
    session.load(f"{_TABLES}{query};", "job.sql")
    (plan,) = (*session.selects, *session.plans)
    assert [_values(node) for node in every(plan.input) if _groups(node)] == wanted


def _groups(node: Node) -> bool:
    return isinstance(node, UnaryNode) and node.grouping is not None


def _values(node: Node) -> tuple[str, ...]:
    """Return the values that a projection just below an operator computes for its keys."""
    (below,) = node.inputs
    keys = node.grouping if isinstance(node, UnaryNode) else None
    columns = below.projections if isinstance(below, Calc) else ()
    return tuple(c.sql for c in columns if c.field.name in (keys or ()) and c.source is None)
