"""Scans that serve several places of a query, and the columns that they read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamtable.plan.sink.reused_scan import (
    ReusedScan,
    read_scans,
    reuse_obstacle,
    reused_scans,
)
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.session import Session

_KAFKA = (
    "'connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = 's:9092',"
    " 'format' = 'json'"
)
TABLES = f"""
CREATE TABLE t (kind INT, id INT, v STRING, n ROW<a INT, b STRING>, at TIMESTAMP(3),
  twice AS id * 2, now AS PROCTIME(), WATERMARK FOR at AS at) WITH ({_KAFKA.format(name="t")});
CREATE TABLE u (id INT, v STRING) WITH ({_KAFKA.format(name="u")});
CREATE TABLE c (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'c', 'properties.bootstrap.servers' = 's:9092',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE o (id INT, v STRING) WITH (
  {_KAFKA.format(name="o").replace("'json'", "'debezium-json'")});
CREATE VIEW one AS SELECT id, v, n, at FROM t WHERE kind = 1;
CREATE VIEW two AS SELECT id, v, n, at FROM t WHERE kind = 2;
"""
_JOIN = "SELECT x.id, y.v FROM {one} AS x JOIN {two} AS y ON x.id = y.id"
_BATCHES = "'execution.mode' = 'micro-batch'"
_COUNTS = "(SELECT id, CAST(COUNT(*) AS STRING) AS v FROM {view} GROUP BY id)"


def _reused(query: str, *settings: str) -> tuple[ReusedScan, ...]:
    session = Session()
    script = "".join(f"SET {setting};" for setting in settings)
    session.load(f"{script}{TABLES}INSERT INTO o {query};", "job.sql")
    return reused_scans(session.plans[0])


#: Query -> one pass, stored, condition and columns of its reused scan.
REUSED = {
    _JOIN.format(one="one", two="two"): (
        *(True, False),
        "((`kind` = 1)) OR ((`kind` = 2))",
        ["kind", "id", "v"],
    ),
    _JOIN.format(one="one", two="t"): (True, False, None, ["kind", "id", "v"]),
    # A computed column is computed above the scan, so the scan cannot filter by it.
    _JOIN.format(one="(SELECT * FROM t WHERE twice = 4)", two="two"): (
        *(True, False),
        None,
        ["kind", "id", "v"],
    ),
    "SELECT id, v FROM one UNION ALL SELECT n.a, n.b FROM two": (
        *(True, False),
        "((`kind` = 1)) OR ((`kind` = 2))",
        ["kind", "id", "v", "n"],
    ),
    # One input has state.
    _JOIN.format(one="one", two=_COUNTS.format(view="two")): (
        *(False, True),
        "((`kind` = 1)) OR ((`kind` = 2))",
        ["kind", "id"],
    ),
    # The shuffle below the two equal aggregations is read twice.
    _JOIN.format(one=_COUNTS.format(view="one"), two=_COUNTS.format(view="one")).replace(
        "y.v", "CONCAT(x.v, y.v)"
    ): (
        *(False, False),
        "((`kind` = 1))",
        ["kind", "id"],
    ),
}


@pytest.mark.parametrize("query", REUSED)
def test_reused(query: str) -> None:
    (found,) = _reused(query, _BATCHES)
    columns = [field.name for field in found.scan.fields]
    assert (found.one_pass, found.stored, found.condition, columns) == REUSED[query]
    # A shuffle of real-time mode has one reader, so the mode only reuses scans of one pass.
    assert _reused(query) == ((found,) if found.one_pass else ())


def test_real_time_mode_reuses_all_scans_or_none() -> None:
    """A query that may run in real-time mode reuses all of its scans, or none.

    One pass is enough for `t`, but no shuffle of real-time mode serves two places of `u`.
    """
    counts = "(SELECT id, CAST(COUNT(*) AS STRING) AS v FROM u GROUP BY id)"
    query = (
        f"SELECT a.id, a.v FROM (SELECT id, v FROM one UNION ALL SELECT id, v FROM two) AS a"
        f" JOIN {counts} AS b ON a.id = b.id JOIN u ON u.id = b.id"
    )
    assert [found.scan.table.name for found in _reused(query, _BATCHES)] == ["t", "u"]
    assert _reused(query) == ()


@pytest.mark.parametrize(
    "query",
    {
        "one place": "SELECT id, v FROM t",
        "other tables": _JOIN.format(one="t", two="u"),
        "other options": _JOIN.format(
            one="t", two="t /*+ OPTIONS('scan.startup.mode' = 'latest-offset') */"
        ),
        # No operator shuffles the rows of the first input.
        "rows and an aggregate": f"SELECT id, v FROM one UNION ALL SELECT * FROM"
        f" {_COUNTS.format(view='two')}",
        "a table of upserts": _JOIN.format(one="c", two="c"),
        "a table and its aggregate, of upserts": _JOIN.format(
            one="c", two=_COUNTS.format(view="c")
        ),
    }.values(),
)
def test_not_reused(query: str) -> None:
    assert _reused(query, _BATCHES) == ()


@pytest.mark.parametrize(
    "option", ["table.optimizer.reuse-source-enabled", "table.optimizer.reuse-sub-plan-enabled"]
)
def test_options_of_flink_disable_reused_scans(option: str) -> None:
    query = _JOIN.format(one="one", two="two")
    assert _reused(query)
    assert _reused(query, f"'{option}' = 'false'") == ()


def test_a_query_of_several_tables_runs_each_source_once() -> None:
    session = Session()
    query = (
        "SELECT x.id, y.v FROM one AS x JOIN u AS y ON x.id = y.id JOIN"
        f" {_COUNTS.format(view='two')} AS z ON x.id = z.id"
    )
    session.load(f"SET {_BATCHES};{TABLES}INSERT INTO o {query};", "job.sql")
    assert [scan.table.name for scan in read_scans(session.plans[0])] == ["t", "u"]


def test_explain_shows_reused_scans() -> None:
    session = Session()
    session.load(f"{TABLES}INSERT INTO o {_JOIN.format(one='one', two='two')};", "job.sql")
    _, told = session.explain().split("\n\n")
    assert told.startswith("The query reads once:\n  Scan t: kafka, t, json, reads (kind, id, v)")


def test_explain_shows_scans_reused_only_in_micro_batches() -> None:
    session = Session()
    query = _JOIN.format(one="one", two=_COUNTS.format(view="two"))
    session.load(f"{TABLES}INSERT INTO o {query};", "job.sql")
    _, told = session.explain().split("\n\n")
    assert told.startswith("The query reads once, if it only runs in micro-batches:\n  Scan t: ")


def test_plan_and_record_of_a_query_agree() -> None:
    """The plan of a query reuses scans if the record of the query says so.

    `assign` returns both to every command that assigns plans to queries, such as `adopt`.
    """
    session = Session()
    session.load(f"{TABLES}INSERT INTO o {_JOIN.format(one='one', two='two')};", "job.sql")
    plans = query_names(session.plans)
    new = assign(plans, Manifest("", {}))
    assert new.records["o"].reuses_scans
    assert reused_scans(new.plans["o"])
    apart = replace(new.records["o"], reuses_scans=False)
    continued = assign(plans, Manifest("", {"o": apart}))
    assert not continued.records["o"].reuses_scans
    assert reused_scans(continued.plans["o"]) == ()


def test_a_query_continues_with_the_reused_scan_of_its_checkpoint() -> None:
    """A query continues with the reused scan of its checkpoint.

    Checkpoints of earlier versions have it as well, because real-time mode refused such queries.
    """
    session = Session()
    query = _JOIN.format(one="one", two=_COUNTS.format(view="two"))
    session.load(f"{TABLES}INSERT INTO o {query};", "job.sql")
    plans = query_names(session.plans)
    new = assign(plans, Manifest("", {}))
    assert not new.records["o"].reuses_scans
    assert reuse_obstacle(new.plans["o"]) is None
    once = replace(new.records["o"], reuses_scans=True)
    continued = assign(plans, Manifest("", {"o": once}))
    assert continued.records["o"].reuses_scans
    assert reused_scans(continued.plans["o"])
    assert reuse_obstacle(continued.plans["o"]) == "one scan of t has served several places so far"
