"""The lists of Flink's features are complete, and their claims about streamtable are true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.compat.inventory.lists import OPTIONS_GONE, factories, unknown_options
from tests.compat.inventory.state import HERE, Case, State, cases, outcome, state, told

from streamtable.catalog.lacking import NOT_YET as CONNECTORS_NOT_YET
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.errors import Condition
from streamtable.formats.registry import FORMATS, OF_FILES
from streamtable.formats.registry import NOT_YET as FORMATS_NOT_YET
from streamtable.plan.functions import AGGREGATES, FUNCTIONS

_COMPAT = Path(__file__).parents[1] / "compat"
_CASES = [*cases("statements"), *cases("clauses")]
_ANSWERS: dict[str, str] = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
#: Classes of Flink's parser that are parts of statements.
_PARTS = {
    "RichSqlInsertKeyword",
    "SqlConstraintEnforcement",
    "SqlTableColumn",
    "SqlTableConstraint",
    "SqlTableOption",
    "SqlUniqueSpec",
    "SqlWatermark",
}
#: Function -> its spelling in SQL, if a call is not written as `NAME(...)`.
_SPELLED = {"IS_JSON": "IS JSON"}


def _named(case: Case) -> str:
    return case.name


def test_every_statement_of_the_parser_has_a_case() -> None:
    classes = set((HERE / "statement_classes.txt").read_text(encoding="utf-8").split())
    cited = {name for case in _CASES for name in case.classes}
    assert sorted(classes - cited - _PARTS) == []
    assert sorted(cited - classes) == []


def test_cases_have_unique_names_and_recorded_answers() -> None:
    names = [case.name for case in _CASES]
    assert len(set(names)) == len(names)
    assert set(_ANSWERS) == {case.name for case in _CASES if case.unrecorded is None}


@pytest.mark.parametrize("case", _CASES, ids=_named)
def test_recorded_flink_answers_match_the_list(case: Case) -> None:
    answer = _ANSWERS.get(case.name, "")
    if case.refused is None:
        assert answer == ""
    elif case.refused.endswith(", too"):
        assert answer != ""


@pytest.mark.parametrize("case", _CASES, ids=_named)
def test_unsupported_statements_are_refused(case: Case) -> None:
    here = state(case)
    assert here is not State.WORKS or case.refused is None
    assert here is not State.NOT_YET or told(case), outcome(case.example)


def test_every_available_function_has_a_flink_answer() -> None:
    """Other tests compare these answers with ours, so every available function is tested."""
    recorded = "".join(
        (_COMPAT / name).read_text(encoding="utf-8")
        for name in (
            "functions/functions.txt",
            "aggregates/aggregates.json",
            "bitmaps/bitmaps.json",
            "over/over.json",
            "windows/answers.json",
            "elsewhere/answers.json",
        )
    )
    works = {name for name, found in FUNCTIONS.items() if found.available}
    works |= {name for name, found in AGGREGATES.items() if found.available}
    called = {name for name in works if re.search(rf"\b{_SPELLED.get(name, name)}\b", recorded)}
    assert sorted(works - called) == []


def test_every_flink_connector_and_format_is_listed() -> None:
    flink = factories()
    assert sorted(flink["connector"].keys() - CONNECTORS.keys() - set(CONNECTORS_NOT_YET)) == []
    formats = {*FORMATS, *FORMATS_NOT_YET, *OF_FILES}
    assert sorted(flink["format"].keys() - formats) == []
    assert not CONNECTORS.keys() & set(CONNECTORS_NOT_YET)
    assert not FORMATS.keys() & set(FORMATS_NOT_YET)


def test_every_option_of_a_connector_or_format_is_known() -> None:
    flink = factories()
    unknown = {
        (owner, key)
        for kind, ours in (("connector", CONNECTORS), ("format", FORMATS))
        for owner in ours.keys() & flink[kind].keys()
        for key in unknown_options(ours, owner, flink[kind][owner])
    }
    assert unknown == OPTIONS_GONE.keys()


@pytest.mark.parametrize("name", CONNECTORS_NOT_YET)
def test_an_unsupported_connector_is_refused(name: str) -> None:
    refused = outcome(f"CREATE TABLE t (a INT) WITH ('connector' = '{name}', 'url' = 'x');")
    assert refused is not None
    assert refused.condition is Condition.NOT_YET
    assert f"connector '{name}' is not supported yet" in str(refused)
    assert "upsert-kafka" in str(refused.hint)
