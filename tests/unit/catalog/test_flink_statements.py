"""Catalog statements compared with the answers of a real Flink: tests/compat/statements."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.compat.statements.known import DIFFERENT

from streamtable.core.errors import Faults, StreamtableError
from streamtable.session import Session

FOLDER = Path(__file__).parents[2] / "compat" / "statements"
ANSWERS = json.loads((FOLDER / "answers.json").read_text())["answers"]
_CASE = re.compile(r"^-- case: (.*)\n((?:(?!-- case: ).*\n)*)", re.MULTILINE)
CASES = dict(_CASE.findall((FOLDER / "cases.sql").read_text()))


def _plain(printed: str) -> str:
    """Return a text of Flink with the spelling of types and the masked secrets of streamtable."""
    text = printed.replace("VARCHAR(2147483647)", "STRING").replace(
        "VARBINARY(2147483647)", "BYTES"
    )
    return text.replace("'hidden'", "'****'").strip()


def _answer(sql: str) -> dict[str, str]:
    session = Session()
    try:
        session.load(sql, "case.sql")
    except (StreamtableError, Faults) as error:
        return {"error": str(error)}
    return {"prints": session.printed[-1] if session.printed else ""}


def test_every_case_has_an_answer() -> None:
    assert set(CASES) == set(ANSWERS)
    assert set(DIFFERENT) <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_answer(name: str) -> None:
    flink, ours = ANSWERS[name], _answer(CASES[name])
    same = flink.keys() - {"statement"} == ours.keys() and (
        "error" in ours or _plain(flink["prints"]) == _plain(ours["prints"])
    )
    if name in DIFFERENT:
        assert not same, "it is no longer different: take the mark away"
        return
    if "error" in flink:
        assert "error" in ours, flink["error"]
    else:
        assert _plain(ours.get("prints", ours.get("error", ""))) == _plain(flink["prints"])
