"""`datagen`, `print` and `blackhole` tables: options and refusals."""

from __future__ import annotations

import pytest
from tests.unit.connectors.support import load, refused

from streamtable.connectors.datagen.factory import DatagenTable
from streamtable.core.errors import Condition
from streamtable.core.table import Table

PRINT = "CREATE TABLE out (a INT, b STRING) WITH ('connector' = 'print');"


def _datagen(options: str = "", columns: str = "a INT, b STRING") -> str:
    return f"CREATE TABLE g ({columns}) WITH ('connector' = 'datagen'{options});"


@pytest.mark.parametrize(
    ("options", "condition", "words"),
    [
        (", 'rows-per-second' = '0'", Condition.INVALID_OPTION, "rows-per-second"),
        (", 'fields.c.kind' = 'random'", Condition.UNKNOWN_OPTION, "fields.c.kind"),
        (", 'fields.a.knd' = 'random'", Condition.UNKNOWN_OPTION, "did you mean 'fields.a.kind'"),
        (", 'fields.a.kind' = 'sequence'", Condition.MISSING_OPTION, "fields.a.start"),
        (
            ", 'fields.a.kind' = 'sequence', 'fields.a.start' = '2', 'fields.a.end' = '1'",
            Condition.OPTION_CONFLICT,
            "a start after its end",
        ),
        (", 'fields.a.start' = '1'", Condition.OPTION_CONFLICT, "'fields.a.start'"),
        (", 'fields.b.min' = '1'", Condition.OPTION_CONFLICT, "'fields.b.min'"),
        (", 'fields.a.length' = '1'", Condition.OPTION_CONFLICT, "'fields.a.length'"),
        (
            ", 'fields.a.min' = '3', 'fields.a.max' = '2'",
            Condition.OPTION_CONFLICT,
            "a min above its max",
        ),
        (", 'fields.a.null-rate' = '2'", Condition.INVALID_OPTION, "between 0 and 1"),
        (", 'fields.a.min' = 'NaN'", Condition.INVALID_OPTION, "fields.a.min"),
        (", 'fields.a.max' = 'Infinity'", Condition.INVALID_OPTION, "fields.a.max"),
        (", 'fields.a.min' = '1.5'", Condition.OPTION_CONFLICT, "a min of 1.5 of column a"),
        (", 'fields.a.max' = '2147483648'", Condition.OPTION_CONFLICT, "a max of 2147483648"),
        (
            ", 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3000000000'",
            Condition.OPTION_CONFLICT,
            "an end of 3000000000",
        ),
        (f", 'rows-per-second' = '{2**63}'", Condition.INVALID_OPTION, "rows-per-second"),
        (f", 'number-of-rows' = '{2**63}'", Condition.INVALID_OPTION, "number-of-rows"),
    ],
)
def test_options_of_datagen(options: str, condition: Condition, words: str) -> None:
    assert refused(_datagen(options), condition, words).at is not None


@pytest.mark.parametrize(
    ("kind", "number", "holds"),
    [
        ("TINYINT", "127", True),
        ("TINYINT", "300", False),
        ("BIGINT", "-9223372036854775808", True),
        ("BIGINT", "9223372036854775808", False),
        ("FLOAT", "1.5", True),
        ("FLOAT", "1e39", False),
        ("DOUBLE", "1e39", True),
        ("DECIMAL(4, 2)", "99.99", True),
        ("DECIMAL(4, 2)", "100", False),
    ],
)
def test_bounds_of_a_type(kind: str, number: str, holds: bool) -> None:
    option = "max" if float(number) > 0 else "min"
    script = _datagen(f", 'fields.a.{option}' = '{number}'", f"a {kind}")
    if holds:
        load(script)
    else:
        refused(script, Condition.OPTION_CONFLICT, f"a {option} of ")


def test_the_shortest_sequence_ends_the_table() -> None:
    options = (
        ", 'number-of-rows' = '9', 'fields.a.kind' = 'sequence', 'fields.a.start' = '3',"
        " 'fields.a.end' = '7'"
    )
    session = load(_datagen(options))
    table = session.catalog.find(("g",), None)
    assert isinstance(table, Table)
    assert isinstance(table.connector, DatagenTable)
    assert table.connector.rows == 5


def test_unsupported_reads_writes_and_metadata_are_refused() -> None:
    refused(PRINT + "INSERT INTO out SELECT a, b FROM out;", Condition.NOT_READABLE)
    refused(_datagen() + "INSERT INTO g VALUES (1, 'a');", Condition.NOT_WRITABLE)
    metadata = "CREATE TABLE p (a INT METADATA FROM 'x') WITH ('connector' = 'print');"
    refused(metadata, Condition.UNKNOWN_METADATA)


def test_print_takes_changes_without_a_key() -> None:
    session = load(
        _datagen()
        + "CREATE TABLE out (b STRING, n BIGINT) WITH ('connector' = 'print');"
        + "INSERT INTO out SELECT b, COUNT(*) FROM g GROUP BY b;"
    )
    assert "emits I,UB,UA" in session.explain()
