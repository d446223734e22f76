"""What a checkpoint records of a plan: all that state depends on, in a form that json holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.types import INT, Field
from streamtable.plan.explain import explain
from streamtable.plan.nodes import Sink
from streamtable.plan.shape import shape
from streamtable.plan.source_nodes import StaticTable
from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
SCRIPTS = sorted((GOLDEN / "plans").glob("*.sql"))


def _plans(script: Path) -> list[Sink]:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(script.read_text(), script.name)
    return [plan for plan in session.plans if isinstance(plan, Sink)]


def _shape(plan: object) -> str:
    return json.dumps(shape(plan), sort_keys=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_plan_has_the_same_each_time(script: Path) -> None:
    assert [*map(_shape, _plans(script))] == [*map(_shape, _plans(script))]


def test_plans_that_are_told_otherwise_have_another() -> None:
    told: dict[str, str] = {}
    for script in SCRIPTS:
        for plan in _plans(script):
            text = explain(plan, changeable=False)
            assert told.setdefault(_shape(plan), text) == text, script.stem
    assert len(told) > len(SCRIPTS) / 2


def test_rows_that_a_program_has_given_are_no_part() -> None:
    """What holds them is another object in each run."""
    fields = (Field("k", INT),)
    assert _shape(StaticTable("t", fields, object())) == _shape(StaticTable("t", fields, object()))
    assert _shape(StaticTable("t", fields, 1)) != _shape(StaticTable("u", fields, 1))
