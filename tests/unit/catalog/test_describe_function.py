"""DESCRIBE FUNCTION of built-in and of Python functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session

MODULE = """
from streamtable.udf import udf, udtf

def shout(text: str, times: int = 1) -> str:
    return text.upper() + "!" * times

@udf(result_type="INT", input_types="INT", deterministic=False)
def roll(n):
    return n

@udtf(result_types=["STRING"], input_types="STRING")
def words(text):
    yield from text.split()
"""
_FULL = ("kind", "requirements", "is deterministic", "supports constant folding", "signature")
_PLACE = "default_catalog.default_database"

#: CREATE FUNCTION, name in DESCRIBE FUNCTION, and values that the description has.
DESCRIBED = {
    "scalar": (
        "CREATE FUNCTION f AS 'voices:shout' LANGUAGE PYTHON",
        "F",
        {
            "is system function": "false",
            "is temporary": "false",
            "class name": "voices.shout",
            "function language": "PYTHON",
            "kind": "SCALAR",
            "is deterministic": "true",
            "supports constant folding": "false",
            "signature": f"{_PLACE}.f(STRING, [BIGINT])",
        },
    ),
    "of a database": (
        "CREATE DATABASE d; CREATE TEMPORARY FUNCTION d.f AS 'voices:roll' LANGUAGE PYTHON",
        "d.f",
        {
            "is temporary": "true",
            "is deterministic": "false",
            "signature": "default_catalog.d.f(INT)",
        },
    ),
    "table function": (
        "CREATE FUNCTION f AS 'voices:words' LANGUAGE PYTHON",
        f"{_PLACE}.f",
        {"kind": "TABLE", "signature": f"{_PLACE}.f(STRING)"},
    ),
    "system": (
        "CREATE TEMPORARY SYSTEM FUNCTION f AS 'voices:shout' LANGUAGE PYTHON",
        "f",
        {"is system function": "true", "is temporary": "true", "signature": "f(STRING, [BIGINT])"},
    ),
    "built-in keyword": (
        "",
        "upper",
        {"is system function": "true", "is temporary": "false", "signature": "UPPER(a string)"},
    ),
    "built-in aggregate": ("", "`SUM`", {"kind": "AGGREGATE"}),
}


@pytest.fixture
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "voices.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


def _described(session: Session, statement: str) -> dict[str, str]:
    session.load(statement, "job.sql")
    return dict(row[:2] for row in session.answers[-1].rows)  # type: ignore[misc]


@pytest.mark.parametrize(("created", "name", "wanted"), DESCRIBED.values(), ids=list(DESCRIBED))
@pytest.mark.usefixtures("voices")
def test_described(created: str, name: str, wanted: dict[str, str]) -> None:
    session = Session()
    session.load(created, "job.sql")
    full = _described(session, f"DESCRIBE FUNCTION EXTENDED {name}")
    assert wanted.items() <= full.items()
    assert tuple(full)[-len(_FULL) :] == _FULL
    short = _described(session, f"DESC FUNCTION {name}")
    assert short == {key: value for key, value in full.items() if key not in _FULL}
    assert ("class name" in short) is ("system" not in created.lower() and created != "")


@pytest.mark.parametrize("name", ["upr", "d.f", "TUMBLE", "IS_VALID_UTF8", "LEAD"])
def test_unknown(name: str) -> None:
    with pytest.raises(StreamtableError) as unknown:
        Session().load(f"DESCRIBE FUNCTION {name}", "job.sql")
    assert unknown.value.condition is Condition.UNKNOWN_FUNCTION
