"""State layouts that operators have besides an earlier one, and their record in a checkpoint.

Window aggregates may keep their groups in buckets. Joins may add rows of append-only inputs without
a search for equal rows, and may keep both inputs in one state.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamtable.plan.join.join import Join
from streamtable.plan.rules.tree import every
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.session import Session

_TABLE = """
CREATE TABLE {name} (k INT, v INT, b BYTES, r ROW<x INT>, ts TIMESTAMP(3), p AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = '{name}',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = '{format}');
"""
_UPSERTS = """
CREATE TABLE {name} (k INT PRIMARY KEY NOT ENFORCED, n BIGINT) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{name}', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092');
"""
_TABLES = (
    _TABLE.format(name="e", format="json")
    + _TABLE.format(name="c", format="debezium-json")
    + _UPSERTS.format(name="u")
    + _UPSERTS.format(name="w")
)
_TUMBLE = "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)"


def _query(items: str = "COUNT(*) AS n", of: str = f"TABLE({_TUMBLE})", keys: str = "k, ") -> str:
    return f"SELECT {items} FROM {of} GROUP BY {keys}window_start, window_end"


def _session(query: str) -> Session:
    session = Session()
    session.load(_TABLES, "tables.sql")
    session.load(
        f"CREATE TEMPORARY VIEW q AS {query};"
        "CREATE TABLE o WITH ('connector' = 'blackhole') AS SELECT * FROM q;",
        "job.sql",
    )
    return session


def _in_buckets(query: str) -> list[bool]:
    """Return `in_buckets` of each window aggregate of a query, from the top."""
    nodes = every(_session(query).plans[0].input)
    return [node.in_buckets for node in nodes if isinstance(node, WindowAggregate)]


@pytest.mark.parametrize(
    "query",
    [
        _query(),
        _query("COUNT(*) FILTER (WHERE v > 1) AS n, SUM(v) AS s, AVG(v) AS a, MAX(v) AS m"),
        _query("k", keys="k, "),
        _query(keys="k, v, "),
        _query(of=f"TABLE({_TUMBLE.replace('(ts)', '(p)')})"),
        # Slices have no window bounds, so the rows of this query have their windows.
        _query(
            "MAX(window_start) AS n",
            of="TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))",
        ),
        "SELECT COUNT(*) AS n FROM e GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND)",
    ],
)
def test_groups_that_share_buckets(query: str) -> None:
    assert _in_buckets(query) == [True]


@pytest.mark.parametrize(
    "query",
    [
        # One group per window.
        _query(keys=""),
        # Aggregates whose state is more than one row, or depends on values.
        _query("COUNT(DISTINCT v) AS n"),
        _query("FIRST_VALUE(v) AS n"),
        # An update or delete may remove rows from a window.
        _query(of=f"TABLE({_TUMBLE.replace('TABLE e', 'TABLE c')})"),
        # Keys that have no equality as Java objects.
        _query(keys="b, "),
        _query(keys="r, "),
        # One timer per group already.
        _query(of="TABLE(HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND))"),
        _query(of="TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND))"),
    ],
)
def test_groups_without_buckets(query: str) -> None:
    assert _in_buckets(query) == [False]


def test_an_aggregate_of_window_results_has_no_buckets() -> None:
    lower = _query("k, COUNT(*) AS n, window_start, window_end")
    assert _in_buckets(_query("MAX(n) AS n", of=f"({lower}) AS q", keys="k, ")) == [False, True]


def _appends(query: str) -> list[tuple[bool, bool]]:
    """Return `appends` of the inputs of each join of a query, from the top."""
    nodes = every(_session(query).plans[0].input)
    return [
        (node.appends(left=True), node.appends(left=False))
        for node in nodes
        if isinstance(node, Join)
    ]


_JOIN = "SELECT e.k, f.v FROM e JOIN e AS f ON e.k = f.k"
_OUTER = "SELECT e.k, f.v FROM e {} JOIN e AS f ON e.k = f.k AND e.v < f.v"


@pytest.mark.parametrize(
    ("query", "appends"),
    [
        (_JOIN, (True, True)),
        (f"{_JOIN} AND e.v < f.v", (True, True)),
        (_JOIN.replace("JOIN", "LEFT JOIN"), (True, True)),
        (_JOIN.replace("JOIN", "FULL JOIN"), (True, True)),
        # An update or delete looks for the row that it removes.
        (_JOIN.replace("e AS f", "c AS f"), (True, False)),
        (_JOIN.replace("FROM e", "FROM c AS e"), (False, True)),
        # The number of matches of a row is kept with the row.
        (_OUTER.format("LEFT"), (False, True)),
        (_OUTER.format("RIGHT"), (True, False)),
        (_OUTER.format("FULL"), (False, False)),
        ("SELECT k FROM e WHERE k IN (SELECT k FROM e AS f)", (True, True)),
        (
            "SELECT k FROM e WHERE EXISTS (SELECT 1 FROM e AS f WHERE e.k = f.k AND e.v < f.v)",
            (False, True),
        ),
        # A row is found by its key.
        (_JOIN.replace("e AS f", "(SELECT k, MAX(v) AS v FROM e GROUP BY k) AS f"), (True, False)),
        # A row that comes again expires later.
        (_JOIN.replace("SELECT", "SELECT /*+ STATE_TTL('e' = '1d') */"), (False, True)),
        (
            _JOIN.replace("SELECT", "SELECT /*+ STATE_TTL('e' = '1d') */").replace(
                " JOIN", " RIGHT JOIN"
            ),
            (False, False),
        ),
    ],
)
def test_inputs_whose_rows_are_only_added(query: str, appends: tuple[bool, bool]) -> None:
    assert _appends(query) == [appends]


_PAIR = "SELECT a.k, b.n FROM u AS a JOIN w AS b ON a.k = b.k"
_COUNTS = "(SELECT k, COUNT(*) AS n FROM e GROUP BY {})"


@pytest.mark.parametrize(
    ("query", "paired"),
    [
        (_PAIR, True),
        (_PAIR.replace("JOIN", "FULL JOIN") + " AND a.n < b.n", True),
        (_PAIR.replace("w AS b", f"{_COUNTS.format('k')} AS b"), True),
        ("SELECT k FROM u WHERE k IN (SELECT k FROM w)", True),
        # Several rows of a join key, with or without a key.
        (_PAIR.replace("w AS b", f"{_COUNTS.format('k, v')} AS b"), False),
        (_PAIR.replace("a.k = b.k", "a.k = b.n"), False),
        (_PAIR.replace("u AS a", "e AS a"), False),
        # Rows that expire one by one.
        (_PAIR.replace("SELECT", "SELECT /*+ STATE_TTL('a' = '1d') */", 1), False),
    ],
)
def test_joins_of_single_rows(query: str, paired: bool) -> None:
    nodes = every(_session(query).plans[0].input)
    assert [node.is_paired for node in nodes if isinstance(node, Join)] == [paired]


@pytest.mark.parametrize(
    ("query", "layout", "before", "version"),
    [
        (_query(), "WindowBuckets", "WindowAggregate", 8),
        (_JOIN, "AppendJoin", "Join", 9),
        (_PAIR, "PairedJoin", "Join", 10),
    ],
    ids=["buckets", "append", "pairs"],
)
def test_the_checkpoint_decides_which_layout_a_query_has(
    query: str, layout: str, before: str, version: int
) -> None:
    """A query continues with the layout of its checkpoint."""
    plans = query_names(_session(query).plans)
    new = assign(plans, Manifest("", {}))
    assert new.records["o"].added_layouts == {layout}
    assert not new.plans["o"].lacking
    assert Manifest("", new.records).to_json()["layout"] == version
    older = {"o": replace(new.records["o"], state=((before, 1),))}
    assert Manifest("", older).to_json()["layout"] < 8
    continued = assign(plans, Manifest("", older))
    assert not continued.changed
    assert not continued.records["o"].added_layouts
    assert continued.plans["o"].lacking == {layout}
    read = Manifest.from_json(Manifest("", new.records).to_json(), "")
    assert read.queries["o"].added_layouts == {layout}


@pytest.mark.parametrize(
    "query", [_query("COUNT(DISTINCT v) AS n"), _OUTER.format("FULL")], ids=["windows", "join"]
)
def test_a_query_without_added_layouts_keeps_the_earlier_one(query: str) -> None:
    plans = query_names(_session(query).plans)
    new = assign(plans, Manifest("", {}))
    assert not new.records["o"].added_layouts
    assert Manifest("", new.records).to_json()["layout"] < 8
