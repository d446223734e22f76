"""The session without Spark: a failed call changes nothing, and errors are of one family."""

from __future__ import annotations

import doctest
import functools
import importlib
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

import streamtable
from streamtable.core.errors import Condition
from streamtable.core.settings.execution import ExecutionMode
from streamtable.udf import udf

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = "CREATE TABLE t (a INT) WITH ('connector' = 'datagen')"


def test_import_lists_the_public_names_and_loads_no_spark() -> None:
    program = (
        "import sys, streamtable; session = streamtable.connect(); "
        "session.execute_sql('CREATE VIEW v AS SELECT 1 AS a; SHOW VIEWS').print(); "
        "print(dir(streamtable)); print('pyspark' in sys.modules, 'py4j' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    *_, names, spark = done.stdout.splitlines()
    assert spark == "False False"
    for name in ("connect", "Session", "Job", "Table", "StreamtableError"):
        assert f"'{name}'" in names
        assert name in str(streamtable.__doc__)
    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        _ = streamtable.conect  # type: ignore[attr-defined]


@pytest.mark.parametrize("module", ["api.row", "api.session", "api.connect", "table.types"])
def test_examples_of_docstrings(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"streamtable.{module}"))
    assert found.attempted
    assert not found.failed


def test_a_failed_call_changes_nothing() -> None:
    session = streamtable.connect()
    session.execute_sql("CREATE DATABASE d")
    wrong = (
        f"SET 'pipeline.name' = 'x'; CREATE CATALOG c WITH ('type' = 'generic_in_memory'); "
        f"CREATE DATABASE e; USE d; {TABLE}; CREATE FUNCTION f AS 'json:dumps' LANGUAGE PYTHON; "
        "CREATE VIEW v AS SELECT nothing FROM t"
    )
    with pytest.raises(streamtable.StreamtableError) as refused:
        session.execute_sql(wrong)
    assert isinstance(refused.value, streamtable.Faults)  # the function and the view
    conditions = [fault.condition for fault in refused.value.faults]
    assert conditions == [Condition.FUNCTION_UNUSABLE, Condition.UNKNOWN_COLUMN]
    assert session.get("pipeline.name") is None
    for statement, rows in {
        "SHOW TABLES": [],
        "SHOW DATABASES": [("d",), ("default_database",)],
        "SHOW CATALOGS": [("default_catalog",)],
        "SHOW CURRENT DATABASE": [("default_database",)],
        "SHOW USER FUNCTIONS": [],
        "SHOW JOBS": [],
    }.items():
        assert list(session.execute_sql(statement).collect()) == rows, statement
    assert repr(session.execute_sql(TABLE)) == "OK"
    assert session.list_tables() == ["t"]


def test_settings_and_their_reset() -> None:
    session = streamtable.connect(
        execution_mode=ExecutionMode.MICRO_BATCH,
        table_exec_state_ttl=timedelta(hours=1),
        parallelism_default=2,
        execution_end_of_input_drain=False,
        **{"pipeline.name": "mine"},
    )
    assert session.get("execution.mode") == "micro-batch"
    assert session.get("table.exec.state.ttl") == "3600000 ms"
    assert session.get("execution.end-of-input.drain") == "false"
    session.execute_sql("SET 'pipeline.name' = 'other'; SET 'parallelism.default' = '3'")
    assert session.get("pipeline.name") == "other"
    session.execute_sql("RESET")
    assert (session.get("pipeline.name"), session.get("parallelism.default")) == ("mine", "2")


@pytest.mark.parametrize(
    ("call", "condition", "words"),
    [
        (lambda _: streamtable.connect(execution_mod="x"), "UNKNOWN_SETTING", "did you mean"),
        (lambda _: streamtable.connect(execution_mode="x"), "INVALID_OPTION", "real-time"),
        (lambda s: s.execute_sql(" -- nothing\n"), "EMPTY_SCRIPT", "write a statement"),
        (lambda s: s.execute_sql("SHOW TABLES; SHOW VIEWS"), "INVALID_CALL", "several results"),
        (lambda s: s.execute_sql("SELECT 1; SELECT 2"), "INVALID_CALL", "several results"),
        (lambda s: s.execute_sql("SELEC 1"), "SYNTAX", "1:1"),
        (lambda s: s.execute_sql("DESCRIBE JOB '1'"), "UNKNOWN_JOB", "1:14"),
        (lambda s: s.execute_sql("STOP JOB '1'"), "UNKNOWN_JOB", "has started no job"),
        (lambda s: s.execute_sql(None), "INVALID_CALL", "pass a str"),
        (lambda s: s.register_function("f", 3, "INT"), "FUNCTION_UNUSABLE", "not a function"),
        (lambda s: s.execute_sql("SHOW VIEWS").stop(), "INVALID_CALL", "call print()"),
        (lambda s: s.sql_query("SHOW TABLES"), "INVALID_CALL", "is not one SELECT"),
        (lambda s: s.sql_query("SELECT a FROM u"), "UNKNOWN_TABLE", "table u"),
        (lambda s: s.create_statement_set().execute(), "INVALID_CALL", "the set is empty"),
        (
            lambda s: s.create_statement_set().add_insert_sql("SELECT 1"),
            "INVALID_CALL",
            "is not one INSERT",
        ),
        (lambda s: s.register_function("f", lambda x: x), "FUNCTION_UNUSABLE", "type hints"),
        (
            lambda s: s.register_function("f", udf(result_type="INT")(abs), "BIGINT"),
            "FUNCTION_UNUSABLE",
            "udf has already declared its types",
        ),
        (lambda s: s.register_function("upper", str.upper, "STRING"), "NOT_YET", "another name"),
        (lambda s: s.set("execution.mode", "x"), "INVALID_OPTION", "'execution.mode'"),
        (lambda s: s.job(3), "UNKNOWN_JOB", "job '3'"),
        (lambda s: (s.close(), s.execute_sql("SHOW TABLES")), "INVALID_CALL", "it is closed"),
    ],
)
def test_each_failing_call_raises_a_streamtable_error(
    call: Callable[[streamtable.Session], object], condition: str, words: str
) -> None:
    session = streamtable.connect()
    with pytest.raises(streamtable.StreamtableError) as refused:
        call(session)
    assert refused.value.condition.name == condition
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_explain_does_not_accumulate_plans() -> None:
    session = streamtable.connect()
    session.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'blackhole')")
    insert = "INSERT INTO t SELECT 1"
    for _ in range(2):
        assert session.explain_sql(insert).count("Sink t") == 1
    both = session.create_statement_set().add_insert_sql(insert).add_insert_sql(insert)
    assert both.explain().count("Sink t") == 2
    with pytest.raises(streamtable.StreamtableError):
        both.add_insert_sql("INSERT INTO u SELECT 1")
    assert both.explain().count("Sink t") == 2


def test_tables_and_views_of_a_program() -> None:
    session = streamtable.connect()
    table = session.sql_query("SELECT 1 AS a, CAST(NULL AS STRING) AS b;")
    assert table.dtypes == [("a", "INT NOT NULL"), ("b", "STRING")]
    assert repr(table) == "<Table (a INT NOT NULL, b STRING)>"
    other = session.sql_query(f"SELECT a + 1 AS c FROM {table}")
    assert other.columns == ["c"]
    session.create_temporary_view("v", other)
    session.create_temporary_view("v", table)
    assert session.columns_of("v") == [("a", "INT"), ("b", "STRING")]
    assert "COUNT" in session.list_functions()


def test_pyflink_names_are_supported() -> None:
    from streamtable.table import DataTypes, EnvironmentSettings, TableEnvironment
    from streamtable.table.udf import udf

    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    assert environment.get_config().get("execution.runtime-mode") == "batch"
    environment.get_config().set("parallelism.default", "1").set_local_timezone("UTC")
    environment.create_temporary_function(
        "plus", udf(lambda i: i + 1, result_type=DataTypes.BIGINT())
    )
    assert environment.list_user_defined_functions() == ["plus"]
    environment.execute_sql(TABLE)
    assert environment.from_path("t").columns == ["a"]
    environment.create_temporary_view("v", environment.sql_query("SELECT plus(a) AS b FROM t"))
    assert environment.list_views() == ["v"]
    assert environment.drop_temporary_view("v")
    assert not environment.drop_temporary_view("v")
    environment.execute_sql("CREATE DATABASE d")
    environment.use_database("d")
    names = (environment.get_current_catalog(), environment.get_current_database())
    assert names == ("default_catalog", "d")
    assert environment.list_databases() == ["d", "default_database"]
    assert environment.list_catalogs() == ["default_catalog"]


def test_a_table_keeps_the_variables_of_its_query(monkeypatch: pytest.MonkeyPatch) -> None:
    session = streamtable.connect()
    session.execute_sql("CREATE TABLE t (a STRING) WITH ('connector' = 'blackhole')")
    query = session.sql_query("SELECT '${w}' AS a;", {"w": "it's"})
    monkeypatch.setenv("w", "from the environment")
    plans = [
        query.explain(),
        session.explain_sql(f"SELECT a FROM {query}"),
        session.create_statement_set().add_insert("t", query).explain(),
        session.create_statement_set()
        .add_insert("t", query)
        .add_insert_sql("INSERT INTO t SELECT '${w}'", {"w": "it's"})
        .explain(),
        session.explain_sql("SELECT '${w}' AS a", {"w": "it's"}),
    ]
    for plan in plans:
        assert r"Calc 'it\'s' AS " in plan
        assert "environment" not in plan


class Scaled:
    """A callable object. The annotations of its class are not those of `__call__`."""

    by: int

    def __call__(self, n: int) -> float:
        return n * 2.5


def _times(factor: float, n: int) -> float:
    return factor * n


@pytest.mark.parametrize(
    "function", [Scaled(), functools.partial(_times, 2.0), functools.lru_cache(Scaled().__call__)]
)
def test_callable_objects_as_functions(function: Callable[..., object]) -> None:
    session = streamtable.connect()
    session.register_function("f", function)
    assert session.sql_query("SELECT f(1) AS x").dtypes == [("x", "DOUBLE")]


def test_registered_functions_have_unique_spark_names() -> None:
    """Each function has its own name in Spark. A new function of equal types keeps the name."""

    def made(rate: float) -> Callable[[float], float]:
        def tax(x: float) -> float:
            return x * rate

        return tax

    session = streamtable.connect()
    session.execute_sql("CREATE DATABASE a; CREATE DATABASE b")

    def spark_name(name: str, rate: float, result_type: str | None = None) -> str:
        session.register_function(name, made(rate), result_type)
        return session.engine.catalog.functions.made[-1].spark_name

    first, second = spark_name("a.tax", 0.1), spark_name("b.tax", 0.2)
    other = spark_name("a.tax", 0.1, "FLOAT")
    assert len({first, second, other}) == 3
    assert spark_name("a.tax", 0.3) == first
    assert spark_name("b.tax", 0.3) == second


def test_an_internal_error_has_the_statement_position(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError(*"k")

    monkeypatch.setattr("streamtable.front_end.shown", broken)
    with pytest.raises(streamtable.StreamtableError) as caught:
        streamtable.connect().execute_sql("SET 'a' = 'b';\n  SHOW TABLES;")
    assert caught.value.condition is Condition.INTERNAL_ERROR
    assert ":2:3: KeyError: 'k'" in str(caught.value)
