"""Window aggregations that are `MergedWindowAggregate`, and their checkpoints of older releases."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.rules.shape import shape
from streamtable.plan.rules.tree import every
from streamtable.plan.window.window_aggregate import MergedWindowAggregate, WindowAggregate
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.session import Session

_TABLES = """
CREATE FUNCTION own AS 'tests.integration.differential.own_aggregates:total' LANGUAGE PYTHON;
CREATE TABLE e (k INT, v INT, d DOUBLE, s STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = 'e',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TABLE c (k INT, v INT, d DOUBLE, s STRING, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH ('connector' = 'kafka', 'topic' = 'c',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'debezium-json');
CREATE TABLE counted (s TIMESTAMP(3), k INT, n BIGINT) WITH ('connector' = 'kafka',
  'topic' = 'counted', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
"""
_TUMBLE = "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
_HOP = "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '10' SECOND)"
_CUMULATE = _HOP.replace("HOP", "CUMULATE")
_SESSION = "SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND)"
_MERGED = (_HOP, _CUMULATE, _SESSION)

#: Aggregate function -> calls. The results of parts of a window can be merged for the functions
#: of `_MERGING`, and not for those of `_OTHERS`.
_MERGING = {
    "COUNT": ("COUNT(*)", "COUNT(v)", "COUNT(s) FILTER (WHERE v > 1)"),
    "SUM": ("SUM(v)", "SUM(d)", "SUM(CAST(v AS DECIMAL(10, 2)))"),
    "AVG": ("AVG(v)",),
    "MIN": ("MIN(s)", "MIN(DISTINCT v)"),
    "MAX": ("MAX(v)", "MAX(DISTINCT s) FILTER (WHERE v > 1)"),
    "VAR_POP": ("VAR_POP(d)",),
    "VAR_SAMP": ("VAR_SAMP(d)",),
    "VARIANCE": ("VARIANCE(d)",),
    "STDDEV_POP": ("STDDEV_POP(d)",),
    "STDDEV_SAMP": ("STDDEV_SAMP(v)",),
    "STDDEV": ("STDDEV(v)",),
}
_OTHERS = {
    "APPROX_COUNT_DISTINCT": ("APPROX_COUNT_DISTINCT(v)",),
    "FIRST_VALUE": ("FIRST_VALUE(v)",),
    "LAST_VALUE": ("LAST_VALUE(v)",),
    "LISTAGG": ("LISTAGG(s)", "LISTAGG(DISTINCT s)"),
    "ARRAY_AGG": ("ARRAY_AGG(v)",),
    "PERCENTILE": ("PERCENTILE(v, 0.5)",),
    "COLLECT": ("COLLECT(v)",),
    "BITMAP_BUILD_AGG": ("BITMAP_TO_BYTES(BITMAP_BUILD_AGG(v))",),
    "BITMAP_BUILD_CARDINALITY_AGG": ("BITMAP_BUILD_CARDINALITY_AGG(v)",),
    **{
        f"BITMAP_{operation}{form}_AGG": (f"BITMAP_{operation}{form}_AGG(BITMAP_BUILD(ARRAY[v]))",)
        for operation in ("AND", "OR", "XOR")
        for form in ("", "_CARDINALITY")
    },
    "JSON_ARRAYAGG": ("JSON_ARRAYAGG(v)",),
    "JSON_OBJECTAGG": ("JSON_OBJECTAGG(KEY s VALUE v)",),
}
_DISTINCT = (
    "COUNT(DISTINCT v)",
    "SUM(DISTINCT v)",
    "AVG(DISTINCT v)",
    "VAR_POP(DISTINCT d)",
    "COUNT(DISTINCT v) FILTER (WHERE v > 1)",
)


def _kind(items: str, function: str, more: str = "", where: str = "") -> type[WindowAggregate]:
    """Return the class of the window aggregate of a query."""
    session = Session()
    session.load(_TABLES, "tables.sql")
    query = (
        f"CREATE TEMPORARY VIEW q AS SELECT {items} FROM TABLE({function}) {where}"
        f" GROUP BY window_start, window_end, k{more};"
        "CREATE TABLE o WITH ('connector' = 'blackhole') AS SELECT * FROM q;"
    )
    session.load(query, "query.sql")
    (found,) = [n for n in every(session.plans[0].input) if isinstance(n, WindowAggregate)]
    return type(found)


def test_every_aggregate_function_has_a_case() -> None:
    available = {
        name for name, f in AGGREGATES.items() if f.available and not (f.of_grouping or f.over_only)
    }
    assert {*_MERGING, *_OTHERS} == available


@pytest.mark.parametrize("function", _MERGED, ids=lambda text: text.split("(")[0])
def test_functions_with_mergeable_partial_results(function: str) -> None:
    for calls in _MERGING.values():
        assert _kind(", ".join(f"{c} AS c{i}" for i, c in enumerate(calls)), function) is (
            MergedWindowAggregate
        ), calls


@pytest.mark.parametrize("function", _MERGED, ids=lambda text: text.split("(")[0])
@pytest.mark.parametrize(
    "call", [*(c for calls in _OTHERS.values() for c in calls), *_DISTINCT, "own(v)"]
)
def test_functions_without_mergeable_partial_results(call: str, function: str) -> None:
    assert _kind(f"COUNT(*) AS n, {call} AS x", function) is WindowAggregate


def test_inputs_without_merged_windows() -> None:
    """Parts of windows are not merged for other inputs.

    These have one window per row, updates and deletes, or expressions on window bounds.
    """
    assert _kind("COUNT(*) AS n", _TUMBLE) is WindowAggregate
    for function in _MERGED:
        assert _kind("COUNT(*) AS n", function.replace("TABLE e", "TABLE c")) is WindowAggregate
    for bound in ("window_start", "window_end", "window_time"):
        assert _kind(f"COUNT(*) AS n, MAX({bound}) AS x", _HOP) is WindowAggregate
        assert _kind("COUNT(*) AS n", _HOP, where=f"WHERE {bound} > ts") is WindowAggregate
        assert _kind("COUNT(*) AS n", _HOP, more=f", {bound} < ts") is WindowAggregate
    assert _kind("COUNT(*) AS n", _HOP, where="WHERE v > 1", more=", s") is MergedWindowAggregate


_INSERT = "INSERT INTO counted SELECT window_start, k, COUNT(*) FROM TABLE({}) GROUP BY"
_INSERT += " window_start, window_end, k;"


#: Hash of the CUMULATE query of `windows.sql`, a golden plan, in releases without slices.
_OLDER_HASH = "5076747ed663918ba85f43d236563c8857c27b47736431f3e745c58a20a97c07"


def _hash(data: object) -> str:
    """Return the hash that a manifest has for a shape without secrets."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def test_only_the_name_of_the_operator_differs_from_older_releases() -> None:
    session = Session()
    golden = Path(__file__).parents[3] / "golden"
    for file in (golden / "tables.sql", golden / "plans" / "windows" / "windows.sql"):
        session.load(file.read_text(), file.name)
    shapes = [json.dumps(shape(plan)) for plan in session.plans]
    (merged,) = [text for text in shapes if "MergedWindowAggregate" in text]
    older = merged.replace("MergedWindowAggregate", "WindowAggregate")
    assert _hash(json.loads(older)) == _OLDER_HASH


def _open(folder: Path, function: str) -> None:
    """Open a checkpoint and write its manifest, as the start of a job does."""
    session = Session()
    session.load(_TABLES + _INSERT.format(function), "job.sql")
    checkpoint = open_checkpoint(str(folder), {"counted": session.plans[0]})
    begin(checkpoint, {})
    checkpoint.close()


@pytest.mark.parametrize("function", _MERGED, ids=lambda text: text.split("(")[0])
def test_an_older_checkpoint_is_refused_by_name(function: str, tmp_path: Path) -> None:
    """A checkpoint of an older release is refused: the operator of the window has another state.

    Its manifest names `WindowAggregate`, which has the fields of `MergedWindowAggregate`.
    """
    _open(tmp_path, function)
    _open(tmp_path, function)
    manifest = tmp_path / "streamtable.json"
    older = json.loads(
        manifest.read_text()
        .replace("MergedWindowAggregate", "WindowAggregate")
        .replace(", by shared slices", "")
    )
    assert older["queries"]["counted"]["state"] == [["WindowAggregate", 1]]
    query = older["queries"]["counted"]
    query["hash"] = _hash(query["shape"])
    manifest.write_text(json.dumps(older))
    with pytest.raises(StreamtableError) as refused:
        _open(tmp_path, function)
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
    assert "WindowAggregate, now MergedWindowAggregate" in str(refused.value)
    assert "the query into counted was" in str(refused.value)
    assert "streamtable upgrade" in str(refused.value)
