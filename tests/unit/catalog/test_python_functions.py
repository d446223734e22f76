"""CREATE FUNCTION ... LANGUAGE PYTHON: types, names and refusals."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pytest

from streamtable.catalog.python_hints import signature_of
from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.rules.real_time import obstacle
from streamtable.session import Session
from streamtable.udf import udf, udtf

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
MODULE = """
from streamtable.udf import udf

def shout(text: str, times: int = 1) -> str:
    return (text or "").upper() + "!" * times

@udf(result_type="DECIMAL(10, 2) NOT NULL", input_types=["DECIMAL(10, 2)", "DOUBLE"])
def net(gross, rate):
    return gross

@udf(result_type="NO_TYPE")
def odd(x):
    return x

def untyped(x):
    return x

number = 7
"""


def hinted(
    a: int,
    b: str | None,
    c: float,
    d: bool,
    e: bytes,
    f: decimal.Decimal,
    g: datetime.date,
    h: datetime.datetime,
    i: list[int],
    j: dict[str, list[str]],
    k: Any,
    *rest: int,
) -> list[str]:
    raise NotImplementedError


def by_name(a: int, *, b: int) -> int:
    raise NotImplementedError


def max_of_two(a: int, b: int) -> int:
    raise NotImplementedError


def of_a_set(a: set[int]) -> int:
    raise NotImplementedError


def test_types_of_hints() -> None:
    signature = signature_of(hinted)
    assert signature.usage() == (
        "(BIGINT, STRING, DOUBLE, BOOLEAN, BYTES, DECIMAL(38, 18), DATE, TIMESTAMP(6),"
        " ARRAY<BIGINT>, MAP<STRING, ARRAY<STRING>>, any type, ...)"
    )
    assert str(signature.result) == "ARRAY<STRING>"


def test_types_of_the_decorator() -> None:
    @udf(result_type="INT NOT NULL", input_types="BIGINT", deterministic=False)
    def f(x: Any) -> Any:
        return x

    signature = signature_of(f)
    assert (signature.usage(), str(signature.result)) == ("(BIGINT)", "INT NOT NULL")
    assert not signature.deterministic
    assert f(3) == 3


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (by_name, "its argument 'b' can only be given by name"),
        (of_a_set, "type hint set has no Flink SQL type"),
        (7, "it is not a function"),
        (Session, "it is not a function"),
        (udf(input_types=["INT"])(max_of_two), "it takes 2 arguments, input_types names 1"),
        (udf(lambda: 1), "its result type is unknown"),
        (udf(lambda a: a, func_type="pandas"), "has func_type=.pandas. and no result_type"),
        (udf(lambda: 1, result_type="INT", func_type="pandas"), "and no argument, whose length"),
    ],
)
def test_no_signature(function: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        signature_of(function)


def test_a_function_over_pandas() -> None:
    @udf(result_type="INT", func_type="pandas")
    def f(x: list, *others: set) -> set:  # type: ignore[type-arg]  # hints name no types of SQL
        return set(x).union(*others)

    signature = signature_of(f)
    assert (signature.usage(), str(signature.result)) == ("(any type, ...)", "INT")
    assert signature.vectorised
    assert not signature_of(udf(max_of_two)).vectorised


def test_an_unknown_kind_of_function() -> None:
    with pytest.raises(
        ValueError, match="func_type is 'arrow', and must be one of general, pandas"
    ):
        udf(max_of_two, func_type="arrow")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "my_functions.py").write_text(MODULE)
    session = Session()
    session.load(TABLES + f"SET 'python.files' = '{tmp_path}';", "tables.sql")
    return session


MAKE = "CREATE FUNCTION shout AS 'my_functions:shout' LANGUAGE PYTHON;\n"


def test_a_call_is_planned(session: Session) -> None:
    session.load(
        MAKE + "INSERT INTO events SELECT user_id, SHOUT(user_region, 2) FROM pageviews", "job.sql"
    )
    (plan,) = session.explain().split("\n\n")
    assert "streamtable_udf_shout_" in plan
    again = Session()
    again.load(TABLES, "tables.sql")
    again.load(MAKE + "INSERT INTO events SELECT 1, shout('x') FROM pageviews;", "job.sql")
    name = again.catalog.functions.made[0].spark_name
    assert name in plan, "a checkpoint knows the function by it"
    assert obstacle(session.plans[0].input) == "Spark hands rows to Python functions in batches"


def test_a_view_keeps_its_function(session: Session) -> None:
    session.load(
        MAKE
        + """CREATE VIEW v AS SELECT user_id, shout(user_region) AS s FROM pageviews;
        DROP FUNCTION shout;
        CREATE TABLE t (a STRING, b AS UPPER(a)) WITH ('connector' = 'kafka', 'topic' = 'x',
          'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
        INSERT INTO events SELECT * FROM v;
        SHOW CREATE VIEW v; DESCRIBE v""",
        "job.sql",
    )
    assert "streamtable_udf_shout_" in session.explain()
    assert "SHOUT(" in session.printed[0]


def test_computed_columns_call_functions(session: Session) -> None:
    session.load(
        MAKE
        + """CREATE TABLE t (a STRING, b AS shout(a)) WITH ('connector' = 'kafka', 'topic' = 'x',
          'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
        INSERT INTO events SELECT 1, b FROM t""",
        "job.sql",
    )
    assert "streamtable_udf_shout_" in session.explain()


def test_names_and_databases(session: Session) -> None:
    session.load(
        """CREATE FUNCTION Net AS 'my_functions.net' LANGUAGE PYTHON;
        CREATE DATABASE d;
        CREATE FUNCTION d.shout AS 'my_functions:shout' LANGUAGE PYTHON;
        CREATE TEMPORARY SYSTEM FUNCTION sys AS 'my_functions:shout' LANGUAGE PYTHON;
        SHOW USER FUNCTIONS; SHOW USER FUNCTIONS FROM d LIKE 'sh%';
        DROP FUNCTION IF EXISTS nothing; DROP TEMPORARY SYSTEM FUNCTION sys; SHOW USER FUNCTIONS""",
        "job.sql",
    )
    names = [[line.strip("| ") for line in text.splitlines()[3:-2]] for text in session.printed]
    assert names == [["net", "sys"], ["shout"], ["net"]]


CREATE = "CREATE FUNCTION f AS '{}' LANGUAGE PYTHON"
JOINED = (
    f"{MAKE}INSERT INTO users_copy SELECT a.id, b.score FROM users a JOIN users b"
    " ON a.id = b.id AND shout(CAST(a.score + b.score AS STRING)) > 'x'"
)
REFUSED = [
    (CREATE.format("shout"), "its name does not have the form 'module:function'"),
    (CREATE.format("no_such_module:f"), "there is no module 'no_such_module'"),
    (CREATE.format("my_functions:shuot"), "has no 'shuot'. Hint: did you mean 'shout'?"),
    (CREATE.format("my_functions:untyped"), "its result type is unknown. Hint: give"),
    (CREATE.format("my_functions:number"), "it is not a function"),
    (CREATE.format("my_functions:odd"), "its decorator names an invalid type"),
    (f"{MAKE}{MAKE}", "ALREADY_EXISTS: function shout already exists"),
    ("DROP FUNCTION f", "UNKNOWN_FUNCTION: function f does not exist"),
    (
        "CREATE TEMPORARY SYSTEM FUNCTION upper AS 'my_functions:shout' LANGUAGE PYTHON",
        "a function that replaces the built-in UPPER is not supported yet",
    ),
    (
        f"{MAKE}INSERT INTO events SELECT user_id, shout() FROM pageviews",
        "ARGUMENT_MISMATCH: shout takes (STRING, [BIGINT]), found ()",
    ),
    (
        f"{MAKE}INSERT INTO events SELECT user_id, shout('x', TRUE) FROM pageviews",
        "ARGUMENT_MISMATCH: shout takes (STRING, [BIGINT]), found (CHAR(1) NOT NULL, BOOLEAN",
    ),
    (
        f"{MAKE}INSERT INTO events SELECT user_id, shut('x') FROM pageviews",
        "UNKNOWN_FUNCTION: function SHUT does not exist",
    ),
    (
        JOINED,
        "a Python function in a join condition over both inputs is not supported yet",
    ),
]


@pytest.mark.parametrize(("sql", "expected"), REFUSED)
def test_refused(sql: str, expected: str, session: Session) -> None:
    with pytest.raises(StreamtableError) as refused:
        session.load(sql, "job.sql")
    assert expected in str(refused.value)
    assert refused.value.at is not None
    assert refused.value.condition is not Condition.SYNTAX


def words(text: str) -> Any:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("columns", "rows"),
    [
        (["STRING", "INT"], "ARRAY<ROW<`f0` STRING, `f1` INT> NOT NULL>"),
        ("BIGINT", "ARRAY<ROW<`f0` BIGINT> NOT NULL>"),
        ("ROW<word STRING>", "ARRAY<ROW<`word` STRING> NOT NULL>"),
        (["ROW<word STRING>"], "ARRAY<ROW<`f0` ROW<`word` STRING>> NOT NULL>"),
    ],
)
def test_columns_of_a_table_function(columns: str | list[str], rows: str) -> None:
    signature = signature_of(udtf(words, result_types=columns))
    assert (signature.is_table, str(signature.result)) == (True, rows)


def test_a_table_function_without_columns() -> None:
    with pytest.raises(ValueError, match="its result_types are empty"):
        signature_of(udtf(words, result_types=[]))


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT words(region) FROM users",
            "words is a table function and cannot be used in an expression",
        ),
        (
            "SELECT * FROM users, LATERAL TABLE(shout(region)) AS t",
            "shout is a scalar function and cannot be used in FROM",
        ),
    ],
)
def test_functions_in_the_wrong_place(query: str, message: str) -> None:
    def shout(text: str) -> str:
        raise NotImplementedError

    session = Session()
    session.load(TABLES, "tables.sql")
    session.catalog.functions.put(("words",), udtf(words, result_types="STRING"))
    session.catalog.functions.put(("shout",), shout)
    with pytest.raises(StreamtableError, match=message) as refused:
        session.load(f"{query};", "query.sql")
        session.explain()
    assert refused.value.condition is Condition.FUNCTION_MISPLACED
