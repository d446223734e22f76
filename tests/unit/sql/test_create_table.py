"""CREATE TABLE: columns of all kinds, keys, watermark, options, and errors in them."""

from __future__ import annotations

import pytest
from sqlglot import exp

from streamtable.core import types as t
from streamtable.core.errors import Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.table import ComputedColumn, MetadataColumn, PhysicalColumn
from streamtable.sql.dialect import flink_sql
from streamtable.sql.parse import parse_script
from streamtable.sql.statements.model import CreateTable
from streamtable.sql.statements.tables import NO_BUCKETS


def _table(text: str) -> CreateTable:
    (found,) = parse_script(text, "job.sql")
    assert isinstance(found, CreateTable)
    return found


def _at(line: int, column: int) -> Span:
    return Span("job.sql", line, column)


def test_a_table_with_all_clauses() -> None:
    table = _table(
        """CREATE TEMPORARY TABLE IF NOT EXISTS c.d.`my t` (
  id BIGINT COMMENT 'the key',
  `user name` STRING NOT NULL,
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL COMMENT 'when',
  headers MAP<STRING, BYTES> METADATA,
  cost AS price * 2 COMMENT 'computed',
  price DECIMAL(10, 2),
  CONSTRAINT pk PRIMARY KEY (id, price) NOT ENFORCED,
  WATERMARK FOR cost AS cost - INTERVAL '5' SECOND
) COMMENT 'it''s' WITH ('connector' = 'kafka',
  'topic'='a;b')"""
    )

    assert table.name == ("c", "d", "my t")
    assert (table.at, table.name_at) == (_at(1, 1), _at(1, 38))
    assert (table.temporary, table.if_not_exists, table.comment) == (True, True, "it's")
    assert table.options == {
        "connector": Given("kafka", _at(10, 25)),
        "topic": Given("a;b", _at(11, 3)),
    }
    schema = table.schema
    key = t.BIGINT.with_nullable(nullable=False)
    price = t.decimal(10, 2).with_nullable(nullable=False)
    name = t.STRING.with_nullable(nullable=False)
    computed = schema.computed[0]
    assert (schema.primary_key, schema.key_name) == (("id", "price"), "pk")
    assert schema.columns == (
        PhysicalColumn("id", key, _at(2, 3), "the key"),
        PhysicalColumn("user name", name, _at(3, 3)),
        MetadataColumn(
            "ts", t.timestamp(3), "timestamp", virtual=True, at=_at(4, 3), comment="when"
        ),
        MetadataColumn("headers", t.map_of(t.STRING, t.BYTES), "headers", at=_at(5, 3)),
        ComputedColumn("cost", computed.expression, _at(6, 3), "computed"),
        PhysicalColumn("price", price, _at(7, 3)),
    )
    assert flink_sql(computed.expression) == "price * 2"
    assert schema.watermark is not None
    assert (schema.watermark.column, schema.watermark.at) == ("cost", _at(9, 17))
    assert flink_sql(schema.watermark.expression) == "cost - INTERVAL '5' SECOND"


def test_a_primary_key_as_a_column_constraint() -> None:
    schema = _table("CREATE TABLE t (a INT, b INT CONSTRAINT k PRIMARY KEY NOT ENFORCED)").schema

    assert schema.primary_key == ("b",)
    assert [column.type.nullable for column in schema.physical] == [True, False]


def test_names_that_only_flink_reserves_need_no_backticks() -> None:
    schema = _table("CREATE TABLE t (id BIGINT, value STRING, `timestamp` DATE, user INT)").schema

    assert [column.name for column in schema.columns] == ["id", "value", "timestamp", "user"]


def test_computed_columns_are_trees() -> None:
    (column,) = _table("CREATE TABLE t (a INT, p AS PROCTIME())").schema.computed

    assert isinstance(column.expression, exp.Expr)


PRIMARY_KEY = "INVALID_PRIMARY_KEY: primary key of t: "
UNENFORCED = (
    "it must be NOT ENFORCED, as Flink does not own the data and cannot check it. Hint: write"
    " NOT ENFORCED after it"
)
FAULTS = {
    "a INT, b STRING, a INT": "1:34: DUPLICATE_COLUMN: column 'a' is declared twice in t",
    "a INT PRIMARY KEY": f"1:23: {PRIMARY_KEY}{UNENFORCED}",
    "a INT, PRIMARY KEY (a) ENFORCED": f"1:24: {PRIMARY_KEY}{UNENFORCED}",
    "name INT, PRIMARY KEY (nme) NOT ENFORCED": (
        f"1:40: {PRIMARY_KEY}there is no column 'nme'. Hint: did you mean 'name'?"
    ),
    "a INT, PRIMARY KEY (a, a) NOT ENFORCED": f"1:40: {PRIMARY_KEY}it names column 'a' twice",
    "a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED": (
        f"1:55: {PRIMARY_KEY}it is declared twice"
    ),
    "a INT, b AS a, PRIMARY KEY (b) NOT ENFORCED": (
        f"1:45: {PRIMARY_KEY}column 'b' is not a physical column"
    ),
    "b INT, a INT METADATA, PRIMARY KEY (a) NOT ENFORCED": (
        f"1:53: {PRIMARY_KEY}column 'a' is not a physical column"
    ),
    "ts TIMESTAMP, WATERMARK FOR t AS t": (
        "1:45: INVALID_WATERMARK: watermark of t: there is no column 't'. Hint: did you mean 'ts'?"
    ),
    "ts TIMESTAMP, WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts": (
        "1:55: INVALID_WATERMARK: watermark of t: a table has at most one"
    ),
    "a ROW<b TIMESTAMP>, WATERMARK FOR a.b AS a.b": (
        "1:51: NOT_YET: a watermark on a field of a column is not supported yet"
    ),
    "a INT UNIQUE": "1:23: NOT_YET: a UNIQUE constraint is not supported yet",
    "a INT, UNIQUE (a)": "1:24: NOT_YET: a UNIQUE constraint is not supported yet",
    "a INT,": "1:23: SYNTAX: expected a column, WATERMARK or PRIMARY KEY, found ')'",
    "a INT b INT": "1:23: SYNTAX: expected ',' or ')', found 'b'",
    "a INT NOT ENFORCED": "1:23: SYNTAX: expected ',' or ')', found 'NOT'",
    "a": (
        "1:16: SYNTAX: expected columns with their types, found names alone. Hint: only CREATE"
        " TABLE ... LIKE and ... AS SELECT copy columns"
    ),
    "a, b INT": "1:22: SYNTAX: expected ',' or ')', found 'INT'",
    "a 1": "1:19: SYNTAX: expected a type, found '1'",
    "order INT": (
        "1:17: SYNTAX: expected a column, WATERMARK or PRIMARY KEY, found 'order'."
        " Hint: a keyword needs backticks to be a name"
    ),
    "a INT METADATA FROM x": ("1:37: SYNTAX: expected the metadata key in quotes, found 'x'"),
}


@pytest.mark.parametrize(("columns", "expected"), FAULTS.items())
def test_fault(columns: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        _table(f"CREATE TABLE t ({columns})")
    assert str(caught.value) == f"job.sql:{expected}"


CLAUSES = {
    "WITH ('a'='b', 'a'='c')": "1:39: DUPLICATE_OPTION: option 'a' is given twice",
    "WITH ('password' 'secret')": "1:41: SYNTAX: expected '=', found a string",
    "WITH ('a' = 1)": "1:36: SYNTAX: expected the option's value in quotes, found '1'",
    "WITH (a = 'b')": "1:30: SYNTAX: expected an option as 'key' = 'value', found 'a'",
    "WITH ()": "1:30: SYNTAX: expected an option as 'key' = 'value', found ')'",
    "WITH ('a'='b',)": "1:38: SYNTAX: expected an option as 'key' = 'value', found ')'",
    "PARTITIONED BY (b)": "1:40: INVALID_PARTITIONS: PARTITIONED BY of t: there is no column 'b'",
    "PARTITIONED BY (a, a)": "1:43: INVALID_PARTITIONS: PARTITIONED BY of t:"
    " it names column 'a' twice",
    "PARTITIONED BY (a)": "1:24: INVALID_PARTITIONS: PARTITIONED BY of t: it names every column,"
    " so that no column is left for the files",
    "PARTITIONED (a)": "1:24: SYNTAX: expected the end of the statement, found 'PARTITIONED'",
    "DISTRIBUTED BY (a)": "1:24: NOT_YET: DISTRIBUTED BY in CREATE TABLE is not supported yet."
    f" Hint: {NO_BUCKETS}",
    "LIKE u (OPTIONS)": "1:32: SYNTAX: expected INCLUDING, EXCLUDING, OVERWRITING or ')',"
    " found 'OPTIONS'",
    "LIKE u (INCLUDING x)": "1:42: SYNTAX: expected one of ALL, CONSTRAINTS, DISTRIBUTION,"
    " GENERATED, METADATA, OPTIONS, PARTITIONS, WATERMARKS, found 'x'",
    "LIKE u (OVERWRITING ALL)": "1:32: SYNTAX: expected INCLUDING ALL or EXCLUDING ALL,"
    " found 'OVERWRITING ALL'",
    "LIKE u (INCLUDING ALL EXCLUDING ALL)": "1:46: SYNTAX: expected one clause for ALL,"
    " found 'EXCLUDING ALL' after another",
    "ENGINE x": "1:24: SYNTAX: expected the end of the statement, found 'ENGINE'",
}


@pytest.mark.parametrize(("clause", "expected"), CLAUSES.items())
def test_clause(clause: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        _table(f"CREATE TABLE t (a INT) {clause}")
    assert str(caught.value) == f"job.sql:{expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE TABLE t (a, b) LIKE u", "1:16: SYNTAX: expected columns with their types,"),
        ("CREATE TEMPORARY TABLE t AS SELECT 1", "1:1: SYNTAX: expected CREATE TABLE ... AS,"),
        ("CREATE TABLE a.b.c.d (x INT)", "1:20: SYNTAX: expected a name of at most three parts,"),
    ],
)
def test_syntax_errors_of_create_table(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        _table(text)
    assert str(caught.value).startswith(f"job.sql:{expected}")


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("CREATE TABLE t", 0),
        ("CREATE TABLE t WITH ('a'='b')", 0),
        (
            "CREATE TABLE t (p AS f(), WATERMARK FOR ts AS ts, PRIMARY KEY (a) NOT ENFORCED)",
            3,
        ),
    ],
)
def test_columns_may_be_left_to_the_connector(text: str, declared: int) -> None:
    table = _table(text)
    assert table.elements is not None
    assert (len(table.elements), table.schema.columns) == (declared, ())
