"""CREATE FUNCTION of a Java class: choice of a signature, and the time of reading the class."""

from __future__ import annotations

from typing import Any

import pytest

from streamtable import front_end
from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session


def _overload(result: str, *arguments: str, variadic: bool = False) -> dict[str, Any]:
    return {
        "parameters": [f"class of {kind}" for kind in arguments],
        "spread": variadic,
        "variadic": variadic,
        "arguments": [{"type": kind, "class": None} for kind in arguments],
        "result": {"type": result, "class": None},
    }


#: Descriptions as `jvm.java_classes` returns them.
CLASSES: dict[str, dict[str, Any]] = {
    "a.Scalar": {
        "kind": "SCALAR",
        "deterministic": True,
        "overloads": [
            _overload("DOUBLE", "DOUBLE"),
            _overload("INT NOT NULL", "INT NOT NULL", "INT NOT NULL"),
            _overload("BIGINT", "BIGINT"),
            _overload("STRING", "STRING", "INT", variadic=True),
        ],
    },
    "a.Random": {"kind": "SCALAR", "deterministic": False, "overloads": [_overload("INT")]},
    "a.Table": {"kind": "TABLE", "deterministic": True, "overloads": [_overload("INT", "INT")]},
    "a.Lost": {"error": "class a.Lost is missing", "lacking": "a.Lost"},
}


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    def described(name: str, _: object) -> dict[str, Any]:
        return CLASSES[name]

    monkeypatch.setattr(front_end, "described_class", described)
    session = Session()
    functions = {"f": "a.Scalar", "r": "a.Random", "t": "a.Table", "lost": "a.Lost"}
    script = "".join(f"CREATE FUNCTION {n} AS '{c}';" for n, c in functions.items())
    session.load(script + "CREATE TABLE n (i INT) WITH ('connector' = 'datagen');", "f.sql")
    return session


def _type(session: Session, call: str) -> str:
    session.load(f"CREATE TEMPORARY VIEW v AS SELECT {call} AS c FROM n;", "v.sql")
    session.load("DESCRIBE v;", "d.sql")
    session.load("DROP TEMPORARY VIEW v;", "x.sql")
    return session.answers[-1].rows[0][1] or ""


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("f(CAST(1 AS BIGINT))", "BIGINT"),
        ("f(i)", "DOUBLE"),
        ("f(1, 2)", "INT NOT NULL"),
        ("f('a')", "STRING"),
        ("f('a', 1, i)", "STRING"),
        ("f(NULL)", "DOUBLE"),
    ],
)
def test_signatures(session: Session, call: str, result: str) -> None:
    found = _type(session, call)
    assert found == result.removesuffix(" NOT NULL")


@pytest.mark.parametrize("call", ["f(1, i)", "f()", "f(DATE '2020-01-01')", "r(1)"])
def test_no_signature_fits(session: Session, call: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        session.load(f"SELECT {call} FROM n;", "q.sql")
    assert refused.value.condition is Condition.ARGUMENT_MISMATCH


def test_the_class_of_a_permanent_function_is_read_at_its_call(session: Session) -> None:
    with pytest.raises(StreamtableError) as refused:
        session.load("SELECT lost(1);", "q.sql")
    assert refused.value.condition is Condition.FUNCTION_UNUSABLE
    assert "no jar of the script has its class" in str(refused.value)
    with pytest.raises(StreamtableError, match="FUNCTION_UNUSABLE"):
        session.load("CREATE TEMPORARY FUNCTION g AS 'a.Lost';", "q.sql")


def test_functions_of_the_wrong_kind_are_refused(session: Session) -> None:
    with pytest.raises(StreamtableError, match="FUNCTION_MISPLACED: t is a table function"):
        session.load("SELECT t(1);", "q.sql")
    with pytest.raises(StreamtableError, match="FUNCTION_MISPLACED: f is a scalar function"):
        session.load("SELECT * FROM LATERAL TABLE(f(1));", "q.sql")


def test_show_jars_and_describe_function(session: Session) -> None:
    session.load("ADD JAR 'a.jar'; ADD JAR 'b.jar'; REMOVE JAR 'a.jar'; SHOW JARS;", "j.sql")
    assert session.answers[-1].rows == (("b.jar",),)
    session.load("DESCRIBE FUNCTION EXTENDED f;", "d.sql")
    shown = dict(session.answers[-1].rows)
    assert shown["class name"] == "a.Scalar"
    assert shown["function language"] == "JAVA"
