"""Every function of Flink 2.2 and later is available, or refused by name with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.compat.functions.functions_answers import expression

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.functions import AGGREGATES, FUNCTIONS, NEWER, SINCE
from streamtable.session import Session

_RECORDED = Path(__file__).parents[2] / "compat" / "functions" / "function_names-2.2.0.txt"
#: Names that Flink registers for its planner, not for scripts, and names that are grammar.
_INTERNAL = {
    "AGG_DECIMAL_PLUS",
    "AUXILIARY_GROUP",
    "CAST",
    "HIVE_AGG_DECIMAL_PLUS",
    "JSON_ARRAYAGG_ABSENT_ON_NULL",
    "JSON_ARRAYAGG_NULL_ON_NULL",
    "JSON_OBJECTAGG_ABSENT_ON_NULL",
    "JSON_OBJECTAGG_NULL_ON_NULL",
    "PRINT",
    "PROCTIME_MATERIALIZE",
    "SINGLE_VALUE",
    "STREAMRECORD_TIMESTAMP",
    "TRY_CAST",
}
#: Functions on the function page of Flink 2.2. Flink registers them under other names.
_ON_THE_PAGE = {"CEILING", "SUM", "JSON_OBJECTAGG", "JSON_ARRAYAGG", "VARIANCE", "REGEXP"}
#: Functions from the release notes of Flink 2.3 and from the development branch after it.
_LATER = {
    "2.3": "BITMAP_AND BITMAP_ANDNOT BITMAP_AND_AGG BITMAP_AND_CARDINALITY_AGG BITMAP_BUILD"
    " BITMAP_BUILD_AGG BITMAP_BUILD_CARDINALITY_AGG BITMAP_CARDINALITY BITMAP_FROM_BYTES BITMAP_OR"
    " BITMAP_OR_AGG BITMAP_OR_CARDINALITY_AGG BITMAP_TO_ARRAY BITMAP_TO_BYTES BITMAP_TO_STRING"
    " BITMAP_XOR BITMAP_XOR_AGG BITMAP_XOR_CARDINALITY_AGG FROM_CHANGELOG IS_VALID_UTF8"
    " MAKE_VALID_UTF8 TO_CHANGELOG",
    "2.4": "UUID_V4 UUID_V7",
}


_OF_MATCHES = {"FIRST", "LAST", "MATCH_PROCTIME", "MATCH_ROWTIME"}


def _names() -> set[str]:
    lines = _RECORDED.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("#")}


def test_every_name_of_flink_is_known() -> None:
    known = {*FUNCTIONS, *AGGREGATES}
    assert sorted((_names() | _ON_THE_PAGE) - _INTERNAL - known) == []


def test_scalar_and_aggregate_functions_have_different_names() -> None:
    assert sorted(FUNCTIONS.keys() & AGGREGATES.keys()) == []
    assert sorted(_INTERNAL & {*FUNCTIONS, *AGGREGATES}) == []


def test_functions_of_later_flink_versions_have_their_version() -> None:
    later = {name: version for version, names in _LATER.items() for name in names.split()}
    assert {name: SINCE.get(name) for name in later} == later
    assert later.keys() == NEWER
    assert not NEWER & _names()


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS.values() if f.placed])
def test_a_misplaced_function_has_a_hint_with_its_clause(name: str) -> None:
    with pytest.raises(StreamtableError, match="it is not a scalar function") as refused:
        Binder(Input()).bind(expression(f"{name}(1)"))
    assert refused.value.condition is Condition.INVALID_WINDOW
    place = "MATCH_RECOGNIZE" if name in _OF_MATCHES else "GROUP BY TUMBLE"
    place = "in FROM" if name.endswith("_CHANGELOG") else place
    assert place in str(refused.value.hint)


@pytest.mark.parametrize("name", [f.name for f in FUNCTIONS.values() if f.lacking])
def test_missing_functions_are_refused_with_a_hint(name: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        Binder(Input()).bind(expression(f"{name}(1)"))
    assert refused.value.condition is Condition.NOT_YET
    assert refused.value.values == {"what": f"function {name}"}
    assert refused.value.hint


_TABLES = """
CREATE TABLE s (a INT, d AS CURRENT_DATABASE()) WITH (
  'connector' = 'kafka', 'topic' = 's', 'properties.bootstrap.servers' = 'b', 'format' = 'json');
CREATE TABLE o (d STRING NOT NULL) WITH (
  'connector' = 'kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b', 'format' = 'json');
"""


def test_current_database() -> None:
    session = Session()
    script = _TABLES + (
        "INSERT INTO o SELECT CURRENT_DATABASE() FROM s;"
        "CREATE DATABASE other; USE other;"
        "INSERT INTO default_database.o SELECT CURRENT_DATABASE() FROM default_database.s;"
        "INSERT INTO default_database.o SELECT d FROM default_database.s;"
    )
    session.load(script, "job.sql")
    first, second, third = session.explain().split("\n\n")
    assert "default_database" in first
    assert "'other'" in second
    assert "'default_database'" in third


def test_current_database_takes_no_argument() -> None:
    with pytest.raises(StreamtableError) as refused:
        Binder(Input()).bind(expression("CURRENT_DATABASE(1)"))
    assert refused.value.condition is Condition.ARGUMENT_MISMATCH


def test_the_legacy_cast_behaviour_is_refused() -> None:
    session = Session()
    session.load("SET 'table.exec.legacy-cast-behaviour' = 'DISABLED';", "job.sql")
    with pytest.raises(StreamtableError, match="TRY_CAST") as refused:
        session.load("SET 'table.exec.legacy-cast-behaviour' = 'ENABLED';", "job.sql")
    assert refused.value.condition is Condition.NOT_YET
