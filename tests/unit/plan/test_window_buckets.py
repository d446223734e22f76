"""Window aggregates that keep their groups in buckets, and the record of it in a checkpoint."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamtable.plan.rules.tree import every
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest import WINDOW_BUCKETS_LAYOUT, Manifest
from streamtable.session import Session

_TABLE = """
CREATE TABLE {name} (k INT, v INT, b BYTES, r ROW<x INT>, ts TIMESTAMP(3), p AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = '{name}',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = '{format}');
"""
_TABLES = _TABLE.format(name="e", format="json") + _TABLE.format(name="c", format="debezium-json")
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


def test_the_checkpoint_decides_whether_a_query_has_buckets() -> None:
    """A query continues with buckets, or without buckets, as in its checkpoint."""
    plans = query_names(_session(_query()).plans)
    new = assign(plans, Manifest("", {}))
    assert new.records["o"].window_buckets
    assert new.plans["o"].window_buckets
    assert Manifest("", new.records).to_json()["layout"] == WINDOW_BUCKETS_LAYOUT
    older = {"o": replace(new.records["o"], state=(("WindowAggregate", 1),))}
    assert Manifest("", older).to_json()["layout"] < WINDOW_BUCKETS_LAYOUT
    continued = assign(plans, Manifest("", older))
    assert not continued.changed
    assert not continued.records["o"].window_buckets
    assert not continued.plans["o"].window_buckets
    read = Manifest.from_json(Manifest("", new.records).to_json(), "")
    assert read.queries["o"].window_buckets


def test_a_query_without_buckets_keeps_the_earlier_layout() -> None:
    plans = query_names(_session(_query("COUNT(DISTINCT v) AS n")).plans)
    new = assign(plans, Manifest("", {}))
    assert not new.records["o"].window_buckets
    assert Manifest("", new.records).to_json()["layout"] < WINDOW_BUCKETS_LAYOUT
