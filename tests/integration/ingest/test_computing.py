"""Expressions of transforms over changes, without a database server and without a broker."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Column,
    MySqlType,
    SchemaChange,
    TableId,
    TableSchema,
)
from streamtable.ingest.file.job_file import read_job
from streamtable.ingest.records.planning import plan_programs
from streamtable.ingest.records.records import RecordMaker
from streamtable.ingest.run.computing import computed
from streamtable.ingest.run.rows import arrow_batches, schema_ddl
from streamtable.ingest.spec import ingest_spec
from streamtable.jvm.bridge import Bridge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

ORDERS, OTHERS = TableId("shop", "orders"), TableId("shop", "others")
INT, TEXT = MySqlType("int"), MySqlType("varchar", length=20, charset="utf8mb4")
COLUMNS = (Column("id", INT, nullable=False), Column("who", TEXT), Column("n", INT))
TABLE = TableSchema(ORDERS, COLUMNS, ("id",), "InnoDB")
PLAIN = TableSchema(OTHERS, COLUMNS, ("id",), "InnoDB")
JOB = """\
source: {{type: mysql, hostname: h, username: u, password: p, tables: 'shop.\\.*'{source}}}
sink: {{type: upsert-kafka, properties.bootstrap.servers: 'b:9092'}}
transform:
- source-table: shop.orders
{lines}"""


def records(
    spark: SparkSession,
    lines: str,
    changes: Sequence[Change | SchemaChange],
    tables: Sequence[TableSchema] = (TABLE,),
    source: str = "",
) -> list[tuple[str, str | None, str | None]]:
    """Return topic, key and value of each record."""
    rules = ingest_spec(read_job(JOB.format(lines=lines, source=source), "job.yaml", {})).records
    programs = plan_programs(tables, rules)
    maker = RecordMaker(replace(rules, programs=programs), lambda _: None)
    schema = StructType.fromDDL(schema_ddl(programs))
    assert isinstance(schema, StructType)
    arrow = to_arrow_schema(schema, timezone="UTC")
    batches = list(arrow_batches(changes, maker, programs, arrow))
    rows = spark.createDataFrame(pa.Table.from_batches(batches), schema)
    bridge = Bridge(spark)
    bridge.register_functions()
    return [
        (row.topic, row.key and row.key.decode(), row.value and row.value.decode())
        for row in computed(rows, programs, bridge).collect()
    ]


def change(
    kind: Any,
    before: tuple[Any, ...] | None,
    after: tuple[Any, ...] | None,
    table: TableSchema = TABLE,
) -> Change:
    return Change(table, kind, before, after, 1_700_000_000_000, 0)


A5, B5, A1, A5_OF_2 = (1, "a", 5), (1, "b", 5), (1, "a", 1), (2, "a", 5)
KEY, VALUE = '{"id":1}', '{"id":1,"n":5,"who":"A"}'


@pytest.mark.parametrize(
    ("kind", "before", "after", "expected"),
    [
        ("r", None, A5, [(KEY, VALUE)]),
        ("c", None, A1, []),
        ("u", A5, B5, [(KEY, VALUE.replace("A", "B"))]),
        ("u", A1, A5, [(KEY, VALUE)]),
        ("u", A5, A1, [(KEY, None)]),
        ("u", A1, (1, "b", 1), []),
        ("u", A5, A5_OF_2, [(KEY, None), ('{"id":2}', VALUE.replace("1", "2"))]),
        ("u", A5, (2, "a", 1), [(KEY, None)]),
        ("d", A5, None, [(KEY, None)]),
        ("d", A1, None, []),
        ("c", None, (1, "a", None), []),
    ],
)
def test_filters_apply_to_the_rows_before_and_after_a_change(
    spark: SparkSession, kind: str, before: Any, after: Any, expected: list[Any]
) -> None:
    lines = "  projection: '*, UPPER(who) AS who'\n  filter: n > 3 AND who >= 'A'\n"
    found = records(spark, lines, [change(kind, before, after)])
    assert found == [("shop.orders", key, value) for key, value in expected]


def test_records_of_other_tables_and_statements_pass_in_order(spark: SparkSession) -> None:
    changes = [
        change("c", None, (7, "x", 1), PLAIN),
        change("c", None, A5),
        SchemaChange("truncate", ORDERS, None, "TRUNCATE orders", 0, 0),
        change("d", (7, "x", 1), None, PLAIN),
    ]
    assert records(spark, "  filter: id = 1\n", changes, (TABLE, PLAIN)) == [
        ("shop.others", '{"id":7}', '{"id":7,"who":"x","n":1}'),
        ("shop.orders", KEY, '{"id":1,"who":"a","n":5}'),
        ("shop.orders", None, None),
        ("shop.others", '{"id":7}', None),
    ]


def test_keys_may_be_computed(spark: SparkSession) -> None:
    lines = "  projection: id, who || '!' AS name\n  primary-keys: name, id\n"
    assert records(spark, lines, [change("u", A5, B5), change("u", A5, A1)]) == [
        ("shop.orders", '{"id":1,"name":"a!"}', None),
        ("shop.orders", '{"id":1,"name":"b!"}', '{"id":1,"name":"b!"}'),
        ("shop.orders", '{"id":1,"name":"a!"}', '{"id":1,"name":"a!"}'),
    ]


def test_metadata_and_computed_columns(spark: SparkSession) -> None:
    lines = (
        "  projection: id + 0 AS id, __data_event_type__ AS op, op_ts AS at,"
        " __schema_name__ || '.' || __table_name__ AS t\n"
    )
    source = ", metadata.list: op_ts"
    assert records(spark, lines, [change("u", A5, B5)], source=source) == [
        (
            "shop.orders",
            KEY,
            '{"id":1,"op":"+U","at":1700000000000,"t":"shop.orders"}',
        )
    ]


@pytest.mark.parametrize(
    ("kind", "value", "expression", "text"),
    [
        (MySqlType("tinyint", length=1), 1, "NOT v", "false"),
        (MySqlType("bigint", unsigned=True), 2**64 - 1, "v", str(2**64 - 1)),
        (MySqlType("decimal", precision=12, scale=2), Decimal("1.50"), "v * 2", "3.00"),
        (MySqlType("double"), 0.5, "v + 1", "1.5"),
        (MySqlType("bit", length=1), b"\x01", "v IS TRUE", "true"),
        (MySqlType("date"), date(2026, 1, 31), "EXTRACT(MONTH FROM v)", "1"),
        (MySqlType("time", scale=0), timedelta(hours=10), "CAST(v AS STRING)", '"10:00:00"'),
        (MySqlType("datetime", scale=3), datetime(2026, 1, 2, 3), "YEAR(v)", "2026"),
        (
            MySqlType("timestamp", scale=3),
            datetime(2026, 1, 2, 3, 4, 5, 120000, tzinfo=UTC),
            "v",
            '"2026-01-02 03:04:05.12Z"',
        ),
        (MySqlType("varbinary", length=9), b"\x00\xff", "v", '"AP8="'),
        (MySqlType("set", values=("a", "b")), ("a", "b"), "CARDINALITY(v)", "2"),
        (MySqlType("json"), '{"a":1}', "JSON_VALUE(v, '$.a')", '"1"'),
        (TEXT, None, "COALESCE(v, 'none')", '"none"'),
    ],
)
def test_expressions_take_every_type(
    spark: SparkSession, kind: MySqlType, value: Any, expression: str, text: str
) -> None:
    table = TableSchema(ORDERS, (Column("id", INT), Column("v", kind)), ("id",))
    lines = f'  projection: "id, ({expression}) AS x"\n'
    (record,) = records(spark, lines, [change("c", None, (1, value), table)], (table,))
    assert record[2] == f'{{"id":1,"x":{text}}}'
