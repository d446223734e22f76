"""Conversion of table changes to records: JSON, keys, tombstones, columns, DDL statements."""

from __future__ import annotations

import json
import pickle
import traceback
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import pytest

from streamtable.connectors.mysql_cdc.reader import (
    Change,
    Column,
    MySqlType,
    SchemaChange,
    TableId,
    TableSchema,
)
from streamtable.core.errors import StreamtableError
from streamtable.ingest.file.job_file import read_job
from streamtable.ingest.records.encoding import RowEncoder
from streamtable.ingest.records.inputs import ComputedRow, ComputedSide
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.planning import plan_programs
from streamtable.ingest.records.records import RecordMaker
from streamtable.ingest.records.rules import shared_topics
from streamtable.ingest.records.shape import shape_of
from streamtable.ingest.records.unplanned import unplanned_table
from streamtable.ingest.run.kept import keep_tables, known_tables, with_tables
from streamtable.ingest.spec import ingest_spec
from streamtable.jvm.faults import forwarded_fault

ORDERS = TableId("shop", "orders")
INT = MySqlType("int")
TEXT = MySqlType("varchar", length=20, charset="utf8mb4")
TABLE = TableSchema(
    ORDERS,
    (Column("id", INT, nullable=False), Column("who", TEXT), Column("n", INT)),
    ("id",),
    "InnoDB",
)
JOB = """\
source: {{type: mysql, hostname: h, username: u, password: word-9, tables: 'shop.\\.*'{source}}}
sink: {{type: upsert-kafka, properties.bootstrap.servers: 'b:9092'{sink}}}
{rest}"""


def maker(source="", sink="", rest="", first=None):
    spec = ingest_spec(read_job(JOB.format(source=source, sink=sink, rest=rest), "job.yaml", {}))
    known = {
        table: KnownTable(columns, ("id",), (f"{table}",))
        for table, columns in (first or {}).items()
    }
    return RecordMaker(spec.with_known(known).records, lambda _: None)


def made(change, **lines):
    return [(r.topic, r.key, r.value) for r in maker(**lines).records(change)]


def row(kind, before, after, table=TABLE):
    return Change(table, kind, before, after, 0, 0)


def statement(kind):
    return SchemaChange(kind, ORDERS, None, f"{kind} TABLE orders", 0, 0)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (MySqlType("tinyint", length=1), 1, "true"),
        (MySqlType("tinyint", length=4), 1, "1"),
        (MySqlType("bigint", unsigned=True), 18446744073709551615, "18446744073709551615"),
        (MySqlType("decimal", precision=20, scale=6), Decimal("1E+3"), "1000"),
        (MySqlType("decimal", precision=60, scale=0), Decimal(10**50), f'"{10**50}"'),
        (MySqlType("float"), 0.10000000149011612, "0.1"),
        (MySqlType("float"), 16777216.0, "16777216.0"),
        (MySqlType("double"), 0.1, "0.1"),
        (MySqlType("bit", length=1), b"\x01", "true"),
        (MySqlType("bit", length=9), b"\x01\x02", '"AgE="'),
        (MySqlType("date"), date(2026, 1, 2), '"2026-01-02"'),
        (MySqlType("time", scale=2), timedelta(hours=10, milliseconds=50), '"10:00:00.05"'),
        (MySqlType("time"), -timedelta(hours=100, seconds=1), '"-100:00:01"'),
        (MySqlType("datetime", scale=6), datetime(2026, 1, 2, 3, 4, 5), '"2026-01-02 03:04:05"'),
        (
            MySqlType("timestamp", scale=3),
            datetime(2026, 1, 2, 3, 4, 5, 120000, tzinfo=UTC),
            '"2026-01-02 03:04:05.12Z"',
        ),
        (TEXT, 'a"ü\n', '"a\\"ü\\n"'),
        (MySqlType("blob"), b"\x00\xff", '"AP8="'),
        (MySqlType("set", values=("a", "b")), ("a", "b"), '["a","b"]'),
        (MySqlType("json", charset="utf8mb4"), '{"a":1}', '"{\\"a\\":1}"'),
        (MySqlType("year"), 2026, "2026"),
        (TEXT, None, "null"),
    ],
)
def test_values_are_written_as_flink_json(kind, value, text):
    table = TableSchema(ORDERS, (Column("c", kind),))
    assert RowEncoder(table, [("c", 0)]).encode((value,)).decode() == f'{{"c":{text}}}'


def test_rows_deletes_and_changes_of_keys():
    assert made(row("r", None, (1, "a", 2))) == [
        ("shop.orders", b'{"id":1}', b'{"id":1,"who":"a","n":2}')
    ]
    assert made(row("d", (1, "a", 2), None)) == [("shop.orders", b'{"id":1}', None)]
    assert made(row("u", (1, "a", 2), (1, "b", 2))) == [
        ("shop.orders", b'{"id":1}', b'{"id":1,"who":"b","n":2}')
    ]
    assert made(row("u", (1, "a", 2), (7, "a", 2))) == [
        ("shop.orders", b'{"id":1}', None),
        ("shop.orders", b'{"id":7}', b'{"id":7,"who":"a","n":2}'),
    ]


def test_a_record_goes_to_every_route_with_headers_of_its_table():
    rest = (
        "route:\n- {source-table: shop.orders, sink-table: a}\n"
        "- {source-table: 'shop.\\.*', sink-table: b}\n"
    )
    sink = ", sink.add-tableId-to-header-enabled: true"
    found = list(maker(sink=sink, rest=rest).records(row("c", None, (1, None, None))))
    assert [record.topic for record in found] == ["a", "b"]
    assert found[0].headers == (
        ("namespace", b""),
        ("schemaName", b"shop"),
        ("tableName", b"orders"),
    )


def test_a_transform_chooses_columns_and_the_key():
    rest = (
        "transform:\n- source-table: shop.orders\n  projection: who AS name, id,"
        " __table_name__ AS t\n  primary-keys: name\n"
    )
    assert made(row("u", (1, "a", 2), (1, "b", 2)), rest=rest) == [
        ("shop.orders", b'{"name":"a"}', None),
        ("shop.orders", b'{"name":"b"}', b'{"name":"b","id":1,"t":"orders"}'),
    ]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("  projection: who\n", "UNKNOWN_COLUMN: column 'id'"),
        ("  projection: id, nobody\n", "UNKNOWN_COLUMN: column 'nobody'"),
    ],
)
def test_transform_errors_have_the_line_of_the_transform(lines, message):
    rest = "transform:\n- source-table: shop.orders\n" + lines
    with pytest.raises(StreamtableError, match=rf"job\.yaml:4:3: {message}"):
        made(row("r", None, (1, "a", 2)), rest=rest)


def test_expressions_are_bound_once_for_tables_of_the_same_types():
    rest = (
        "transform:\n- source-table: shop.\\.*\n  projection: '*, UPPER(who) AS who, n + 1 AS m'\n"
        "  filter: m > 2 AND __table_name__ <> 'x'\n  primary-keys: id, m\n"
    )
    rules = maker(rest=rest)._rules
    other = TableSchema(TableId("shop", "other"), TABLE.columns, ("id",))
    wide = TableSchema(
        TableId("shop", "wide"), (*TABLE.columns[:2], Column("n", MySqlType("bigint"))), ("id",)
    )
    programs = plan_programs([TABLE, other, wide], rules)
    assert [programs.of[t.id] for t in (TABLE, other, wide)] == [(0,), (0,), (1,)]
    assert [name for name, _ in programs.all[0].reads] == ["__table_name__", "who", "n"]
    assert programs.all[0].key == (1,)
    planned = RecordMaker(replace(rules, programs=programs), lambda _: None)
    (record,) = planned.records(row("u", (1, "a", 2), (1, "b", 3)))
    assert record.computed == ComputedRow(
        0,
        ComputedSide(b'{"id":1,', None, ("orders", "a", 2)),
        ComputedSide(b'{"id":1,', b'{"id":1,"n":3,', ("orders", "b", 3)),
    )


@pytest.mark.parametrize(
    ("columns", "now", "message"),
    [
        ((("id", INT),), None, "column n is not there any more"),
        ((("id", INT), ("n", TEXT)), None, "column n is VARCHAR"),
        ((("id", INT), ("n", MySqlType("bigint"))), None, "does not fit"),
        ((("id", INT),), TABLE, None),
    ],
)
def test_rows_of_other_table_versions_are_read_or_refused(columns, now, message):
    rest = "transform:\n- {source-table: shop.orders, filter: n > 1}\n"
    rules = maker(rest=rest)._rules
    rules = replace(rules, programs=plan_programs([TABLE], rules))
    version = TableSchema(ORDERS, tuple(Column(*c) for c in columns), ("id",))
    values = tuple(1 << 40 for _ in columns)
    made = RecordMaker(rules, lambda _: now).records(row("c", None, values, version))
    if message is None:
        (record,) = made
        assert record.computed.new.inputs == (None,)
    else:
        with pytest.raises(StreamtableError, match=message):
            list(made)


@pytest.mark.parametrize(
    ("kind", "value", "program", "given"),
    [
        (TEXT, "7", 0, "7"),
        (INT, 7, 1, 7),
        (MySqlType("tinyint", length=1), 1, 2, True),
        (MySqlType("double"), 7.5, 0, "7.5"),
    ],
)
def test_rows_use_the_program_of_their_exact_types(kind, value, program, given):
    rest = "transform:\n- {source-table: shop.orders, filter: n IS NOT NULL}\n"
    rules = maker(rest=rest)._rules
    versions = [
        TableSchema(ORDERS, (Column("id", INT, nullable=False), Column("n", other)), ("id",))
        for other in (TEXT, INT, MySqlType("tinyint", length=1), kind)
    ]
    rules = replace(rules, programs=plan_programs(versions[:3], rules))
    change = row("c", None, (1, value), versions[3])
    (record,) = RecordMaker(rules, lambda _: None).records(change)
    assert (record.computed.program, record.computed.new.inputs) == (program, (given,))


def test_a_task_error_carries_the_unplanned_table_version():
    """The binlog lacks the display width of booleans; the job knows them from its first read."""
    rest = "transform:\n- {source-table: shop.orders, filter: n IS NULL AND NOT done}\n"
    known = KnownTable(("id", "done", "n"), ("id",), ("shop.orders",), ("done",))
    rules = replace(maker(rest=rest)._rules, known={ORDERS: known})
    head = (Column("id", INT, nullable=False), Column("done", MySqlType("tinyint")))
    first, second = (
        TableSchema(ORDERS, (*head, Column("n", kind)), ("id",))
        for kind in (INT, MySqlType("enum", values=("a", "b")))
    )
    changes = [row("c", None, (1, 0, 7), first), row("c", None, (1, 0, "a"), second)]
    versions = []
    for change in changes:
        planned = replace(rules, programs=plan_programs(versions, rules))
        with pytest.raises(StreamtableError, match="cannot be read") as raised:
            list(RecordMaker(planned, lambda _: None).records(change))
        text = "".join(traceback.format_exception(raised.value))
        fault = forwarded_fault(f"PythonException: {text}\n\tat java.lang.Thread.run")
        assert str(fault) == str(raised.value)
        versions.append(unplanned_table(fault))
    assert versions == [first, second]
    rows = RecordMaker(replace(rules, programs=plan_programs(versions, rules)), lambda _: None)
    computed = [record.computed for change in changes for record in rows.records(change)]
    assert [(c.program, c.new.inputs) for c in computed] == [(0, (False, 7)), (1, (False, "a"))]


def test_excluded_columns_are_not_written():
    source = ", debezium.column.exclude.list: 'shop\\.orders\\.n'"
    assert made(row("r", None, (1, "a", 2)), source=source)[0][2] == b'{"id":1,"who":"a"}'


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            MySqlType("uuid"),
            r"shop\.orders cannot be read: column n is UUID, which has no SQL type",
        ),
        (MySqlType("varchar", charset="swe7"), "column n has the character set swe7"),
    ],
)
def test_unreadable_columns_are_refused_unless_excluded(kind, words):
    table = TableSchema(ORDERS, (*TABLE.columns[:2], Column("n", kind)), ("id",))
    with pytest.raises(StreamtableError, match=words):
        made(row("r", None, (1, "a", None), table))
    source = r", debezium.column.exclude.list: 'shop\.orders\.n'"
    assert made(row("r", None, (1, "a", None), table), source=source)[0][2] == b'{"id":1,"who":"a"}'
    job = read_job(JOB.format(source=source, sink="", rest=""), "job.yaml", {})
    reads = pickle.loads(pickle.dumps(ingest_spec(job).source)).reads  # noqa: S301 - our own
    assert [name for name in ("id", "who", "n") if reads(ORDERS, name, ("id",))] == ["id", "who"]


def test_tables_without_a_key_are_refused_or_ignored():
    keyless = TableSchema(ORDERS, TABLE.columns)
    with pytest.raises(StreamtableError, match=r"PRIMARY_KEY_REQUIRED: table shop\.orders"):
        made(row("r", None, (1, "a", 2), keyless))
    source = ", ignore-no-primary-key-table: true"
    assert made(row("r", None, (1, "a", 2), keyless), source=source) == []
    rest = "transform:\n- {source-table: shop.orders, primary-keys: 'n, id'}\n"
    assert made(row("r", None, (1, "a", 2), keyless), rest=rest)[0][1] == b'{"n":2,"id":1}'


def test_a_key_with_the_name_of_the_table_separates_shards():
    projection = "\\*, __schema_name__ AS db, __table_name__ AS shard"
    rest = (
        f"transform:\n- source-table: shop.\\.*\n  projection: {projection}\n"
        "  primary-keys: db, shard, id\n"
        "route:\n- {source-table: 'shop.\\.*', sink-table: all}\n"
    )
    other = replace(TABLE, id=TableId("shop", "orders_2"))
    (written,) = made(row("r", None, (1, "a", 2)), rest=rest)
    key = b'{"db":"shop","shard":"orders","id":1}'
    assert written == ("all", key, b'{"id":1,"who":"a","n":2,"db":"shop","shard":"orders"}')
    (deleted,) = made(row("d", (1, "a", 2), None, other), rest=rest)
    assert deleted == ("all", b'{"db":"shop","shard":"orders_2","id":1}', None)


@pytest.mark.parametrize(
    ("left_out", "projection", "keys", "own", "words"),
    [
        ("n", "'*'", "id, n", ("id",), "primary-keys of the transform of 'shop.*' has column 'n'"),
        ("n", "'*'", "n", (), "primary-keys of the transform of 'shop.*' has column 'n'"),
        ("n", "'*, id + 1 AS n'", "n", (), "primary-keys of the transform of 'shop.*' has column"),
        ("id", "'*'", None, ("id",), "its key has column 'id' of shop.orders"),
        ("n", "'*, id + 1 AS n'", "n", ("id",), None),
        ("who", "'*'", "n", (), None),
    ],
)
def test_a_key_with_an_excluded_column(left_out, projection, keys, own, words):
    source = f", debezium.column.exclude.list: 'shop.orders.{left_out}'"
    primary_keys = f", primary-keys: '{keys}'" if keys else ""
    rest = "transform:\n- {source-table: 'shop.\\.*', projection: %s%s}\n"
    rules = maker(source=source, rest=rest % (projection, primary_keys))._rules
    table = replace(TABLE, primary_key=own)
    if words is None:
        assert shape_of(table, rules) is not None
    else:
        with pytest.raises(StreamtableError, match=r"OPTION_CONFLICT.*column list") as refused:
            shape_of(table, rules)
        assert words.replace("shop.*", "shop.\\.*") in str(refused.value)


@pytest.mark.parametrize(
    ("behavior", "value"),
    [
        ("evolve", b'{"id":1,"new":"x"}'),
        ("try_evolve", b'{"id":1,"new":"x"}'),
        ("lenient", b'{"id":1,"who":null,"n":null,"new":"x"}'),
        ("ignore", b'{"id":1,"who":null,"n":null}'),
    ],
)
def test_columns_follow_the_schema_change_behavior(behavior, value):
    changed = TableSchema(ORDERS, (Column("id", INT), Column("new", TEXT)), ("id",))
    rest = f"pipeline: {{schema.change.behavior: {behavior}}}\n"
    rows = maker(rest=rest, first={ORDERS: ("id", "who", "n")})
    (record,) = rows.records(row("c", None, (1, "x"), changed))
    assert record.value == value


def test_behavior_exception_names_the_statement():
    rest = "pipeline: {schema.change.behavior: exception}\n"
    with pytest.raises(StreamtableError, match=r"SCHEMA_CHANGED: table shop\.orders .* alter"):
        made(statement("alter"), rest=rest)


@pytest.mark.parametrize(
    ("kind", "sink", "expected"),
    [
        ("truncate", "", [("shop.orders", None, None)]),
        ("truncate", ", sink.on-truncate: ignore", []),
        ("drop", "", []),
        ("drop", ", sink.on-drop: tombstone", [("shop.orders", None, None)]),
        ("rename", ", sink.on-drop: tombstone", [("shop.orders", None, None)]),
        ("alter", "", []),
        ("create", "", []),
        ("unlogged", "", []),
    ],
)
def test_truncate_and_drop_follow_the_sink_options(kind, sink, expected):
    assert made(statement(kind), sink=sink) == expected


@pytest.mark.parametrize("kind", ["truncate", "drop"])
def test_truncate_and_drop_may_end_the_job(kind):
    with pytest.raises(StreamtableError, match=f"'sink.on-{kind}' says how to go on"):
        made(statement(kind), sink=f", sink.on-{kind}: fail")


@pytest.mark.parametrize(
    ("width", "flag", "value"), [(None, "true", b"true"), (4, "true", b"1"), (None, "false", b"1")]
)
def test_a_boolean_that_was_dropped_after_the_row_stays_a_boolean(width, flag, value):
    source = f", treat-tinyint1-as-boolean.enabled: {flag}"
    rows = maker(source=source)
    known = KnownTable(("id", "done"), ("id",), ("shop.orders",), ("done",))
    rules = replace(rows._rules, known={ORDERS: known})
    columns = (Column("id", INT), Column("done", MySqlType("tinyint", length=width)))
    change = row("c", None, (1, 1), TableSchema(ORDERS, columns, ("id",)))
    (record,) = RecordMaker(rules, lambda _: None).records(change)
    assert record.value == b'{"id":1,"done":' + value + b"}"


def test_a_changed_key_ends_the_job():
    rows = maker(first={ORDERS: ("id", "who", "n")})
    changed = replace(TABLE, primary_key=("id", "n"))
    with pytest.raises(StreamtableError, match=r"the key of shop\.orders was id and is now id, n"):
        list(rows.records(row("c", None, (1, "a", 2), changed)))


def test_booleans_are_kept_in_the_checkpoint(tmp_path):
    def then(known, **widths):
        columns = (Column(n, MySqlType("tinyint", length=w)) for n, w in widths.items())
        table = TableSchema(ORDERS, (Column("id", INT), *columns), ("id",))
        return with_tables(known, [table], maker()._rules, checkpoint)

    write = lambda name, text: (tmp_path / name).write_text(text)  # noqa: E731
    checkpoint = SimpleNamespace(directory=tmp_path, write=write)
    keep_tables(checkpoint, then({}, a=1, b=1, c=4))
    known = known_tables(checkpoint)
    assert known[ORDERS].booleans == ("a", "b")
    now = then(known, b=4, c=1)[ORDERS]
    assert (now.booleans, now.columns) == (("c", "a"), ("id", "a", "b", "c"))
    rows = json.loads((tmp_path / "tables.json").read_text())
    del rows[0][1]["booleans"]
    (tmp_path / "tables.json").write_text(json.dumps(rows))
    assert known_tables(checkpoint)[ORDERS].booleans == ()


@pytest.mark.parametrize("behavior", ["tombstone", "fail"])
def test_tables_that_are_not_copied_are_not_dropped(behavior):
    sink = f", sink.on-drop: {behavior}"
    source = ", tables.exclude: shop.orders"
    change = statement("rename")._replace(new_name=TableId("shop", "other"))
    assert made(change, source=source, sink=sink) == []


@pytest.mark.parametrize(("database", "topics"), [("shop", ["shop.a", "shop.b"]), ("other", [])])
def test_drop_database_drops_its_known_tables(database, topics):
    known = {TableId(*name.split(".")): ("id",) for name in ("shop.a", "shop.b", "elsewhere.c")}
    change = SchemaChange("database", TableId(database, ""), None, "DROP DATABASE", 0, 0)
    found = maker(sink=", sink.on-drop: tombstone", first=known).records(change)
    assert [(r.topic, r.key, r.value) for r in found] == [(t, None, None) for t in topics]


def test_truncate_keeps_rows_of_other_tables_in_the_topic():
    rest = "route:\n- {source-table: 'shop.\\.*', sink-table: all}\n"
    assert made(statement("truncate"), rest=rest) == []
    (line,) = shared_topics([ORDERS], maker(rest=rest)._rules)
    assert "topic 'all' may hold rows of several tables" in line
    sink = ", sink.add-tableId-to-header-enabled: true"
    (record,) = maker(sink=sink, rest=rest).records(statement("truncate"))
    assert record.key is None
    assert dict(record.headers or ())["tableName"] == b"orders"


def shared(tables, routes, table):
    """Return whether TRUNCATE writes nothing, because other tables have rows in the topic."""
    entries = "".join(f"- {{{route}}}\n" for route in routes)
    rest = f"route:\n{entries}" if routes else ""
    text = JOB.replace("'shop.\\.*'", f"'{tables}'").format(source="", sink="", rest=rest)
    rules = ingest_spec(read_job(text, "job.yaml", {})).records
    change = SchemaChange("truncate", table, None, "TRUNCATE TABLE t", 0, 0)
    return not list(RecordMaker(rules, lambda _: None).records(change))


SYMBOL = "sink-table: ods_<>, replace-symbol: <>"


@pytest.mark.parametrize(
    ("tables", "routes", "table", "expected"),
    [
        (r"shop.\.*", [r"source-table: 'shop.\.*', " + SYMBOL], "shop.orders", False),
        (r"shop.\.*", ["source-table: 'shop.a, shop.b', " + SYMBOL], "shop.a", False),
        ("shop.a, old.a", ["source-table: 'shop.a, old.a', " + SYMBOL], "shop.a", True),
        (
            r"shop_[0-9]+.\.*",
            [r"source-table: 'shop_[0-9]+.\.*', " + SYMBOL],
            "shop_1.orders",
            True,
        ),
        (
            "shop_old.orders, shop.orders",
            ["source-table: shop_old.orders, sink-table: shop.orders"],
            "shop_old.orders",
            True,
        ),
        (
            "shop_old.orders, shop.orders",
            ["source-table: shop_old.orders, sink-table: shop.orders"],
            "shop.orders",
            True,
        ),
        (
            "shop_old.orders",
            ["source-table: shop_old.orders, sink-table: shop.orders"],
            "shop_old.orders",
            False,
        ),
        (
            "shop_old.orders, shop.orders",
            [
                "source-table: shop_old.orders, sink-table: shop.orders",
                "source-table: shop.orders, sink-table: other",
            ],
            "shop_old.orders",
            False,
        ),
    ],
)
def test_topics_of_several_tables(tables, routes, table, expected):
    assert shared(tables, routes, TableId(*table.split("."))) is expected


def test_a_shape_returns_the_key_of_a_row():
    shape = shape_of(TABLE, maker()._rules)
    assert shape is not None
    assert shape.key_of((1, "a", 2)) == (1,)
