"""No format and no generator accepts a column of type BITMAP, alone or inside another type."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.formats.registry import FORMATS
from streamtable.session import Session

_TOPIC = "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b'"
_PROTOBUF = (
    ", 'protobuf.message-class-name' = 'M', 'protobuf.schema' = "
    """'syntax = "proto3"; message M { int32 a = 1; bytes b = 2; }'"""
)
_KINDS = ("BITMAP", "ROW<x BITMAP>", "ARRAY<BITMAP>", "MAP<STRING, BITMAP>")


def _refusal(kind: str, options: str) -> StreamtableError:
    with pytest.raises(StreamtableError) as refused:
        Session().load(f"CREATE TABLE t (a INT, b {kind}) WITH ({options});", "job.sql")
    return refused.value


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("format_", [name for name in FORMATS if "confluent" not in name])
def test_formats(format_: str, kind: str) -> None:
    more = _PROTOBUF if format_ == "protobuf" else ""
    kind = "BITMAP" if format_ == "raw" else kind
    columns = f"b {kind}" if format_ == "raw" else f"a INT, b {kind}"
    with pytest.raises(StreamtableError) as refused:
        Session().load(
            f"CREATE TABLE t ({columns}) WITH ({_TOPIC}, 'format' = '{format_}'{more});", "job.sql"
        )
    assert refused.value.condition is Condition.UNSUPPORTED_TYPE
    assert "BITMAP" in str(refused.value)


@pytest.mark.parametrize("format_", ["avro-confluent", "json-confluent", "protobuf-confluent"])
def test_formats_with_a_registry(format_: str) -> None:
    found = _refusal("BITMAP", f"{_TOPIC}, 'format' = '{format_}', '{format_}.url' = 'http://x:1'")
    assert found.condition is Condition.UNSUPPORTED_TYPE


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ("'connector' = 'datagen'", Condition.UNSUPPORTED_TYPE),
        (
            "'connector' = 'filesystem', 'path' = '/tmp/x', 'format' = 'parquet'",
            Condition.UNSUPPORTED_TYPE,
        ),
        (
            "'connector' = 'jdbc', 'url' = 'jdbc:sqlite:x', 'table-name' = 't'",
            Condition.UNSUPPORTED_TYPE,
        ),
    ],
)
def test_connectors(options: str, condition: Condition) -> None:
    assert _refusal("BITMAP", options).condition is condition


def test_print_refuses_nested_bitmaps() -> None:
    Session().load("CREATE TABLE t (b BITMAP) WITH ('connector' = 'print');", "job.sql")
    assert _refusal("ARRAY<BITMAP>", "'connector' = 'print'").condition is Condition.NOT_YET


_FUNCTIONS = """
CREATE FUNCTION own AS 'tests.integration.differential.own_aggregates:total' LANGUAGE PYTHON;
CREATE TABLE s (a INT, b AS BITMAP_BUILD(ARRAY[a])) WITH ('connector' = 'datagen');
CREATE TABLE o (b {0}) WITH ('connector' = 'blackhole');
"""


def test_columns_of_other_connectors_and_of_queries() -> None:
    session = Session()
    session.load(_FUNCTIONS.format("BITMAP") + "INSERT INTO o SELECT b FROM s;", "job.sql")
    assert session.explain().startswith("Sink o: blackhole")


@pytest.mark.parametrize(("kind", "value"), [("BYTES", "b"), ("STRING", "b"), ("BITMAP", "x''")])
def test_no_implicit_casts(kind: str, value: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(_FUNCTIONS.format(kind) + f"INSERT INTO o SELECT {value} FROM s;", "job.sql")
    assert refused.value.condition is Condition.COLUMN_TYPE_MISMATCH


def test_user_functions_do_not_accept_bitmaps() -> None:
    with pytest.raises(StreamtableError) as refused:
        Session().load(
            _FUNCTIONS.format("BIGINT") + "INSERT INTO o SELECT own(b) FROM s;", "job.sql"
        )
    assert refused.value.condition is Condition.NOT_YET
    assert "BITMAP_TO_BYTES" in str(refused.value.hint)


@pytest.mark.parametrize("name", ["BITMAP_CARDINALITY", "BITMAP_BUILD_AGG"])
def test_a_function_of_the_user_keeps_its_name(name: str) -> None:
    """Scripts for Flink 2.2 may create functions with names that Flink 2.3 has added."""
    session = Session()
    script = (
        f"CREATE FUNCTION {name} AS 'tests.compat.inventory.example:twice' LANGUAGE PYTHON;"
        "CREATE TABLE s (a INT) WITH ('connector' = 'datagen');"
        "CREATE TABLE o (b BIGINT) WITH ('connector' = 'blackhole');"
        f"INSERT INTO o SELECT {name}(a) FROM s;"
    )
    session.load(script, "job.sql")
    assert "GroupAggregate" not in session.explain()
    assert "streamtable_udf_" in session.explain()
