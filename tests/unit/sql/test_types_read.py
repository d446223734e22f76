"""Every type of Flink: its spelling in SQL, and the type of the column."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.core.table import PhysicalColumn
from streamtable.sql.parse import parse_expression, parse_script
from streamtable.sql.statements.model import CreateTable

CASES = {
    "CHAR": "CHAR(1)",
    "CHAR(3)": "CHAR(3)",
    "CHARACTER VARYING(3)": "VARCHAR(3)",
    "VARCHAR(10)": "VARCHAR(10)",
    "VARCHAR": "STRING",
    "STRING": "STRING",
    "string not null": "STRING NOT NULL",
    "BOOLEAN NULL": "BOOLEAN",
    "BINARY(4)": "BINARY(4)",
    "VARBINARY(4)": "VARBINARY(4)",
    "BYTES": "BYTES",
    "DECIMAL": "DECIMAL(10, 0)",
    "DEC(5)": "DECIMAL(5, 0)",
    "NUMERIC(38, 18)": "DECIMAL(38, 18)",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
    "FLOAT": "FLOAT",
    "DOUBLE PRECISION": "DOUBLE",
    "DATE": "DATE",
    "TIME": "TIME(0)",
    "TIME(3) WITHOUT TIME ZONE": "TIME(3)",
    "TIMESTAMP": "TIMESTAMP(6)",
    "TIMESTAMP(3)": "TIMESTAMP(3)",
    "TIMESTAMP(3) WITHOUT TIME ZONE NOT NULL": "TIMESTAMP(3) NOT NULL",
    "TIMESTAMP_LTZ(3)": "TIMESTAMP_LTZ(3)",
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": "TIMESTAMP_LTZ(3)",
    "INTERVAL DAY(3) TO SECOND(3)": "INTERVAL DAY TO SECOND",
    "CHARACTER(3)": "CHAR(3)",
    "CHAR(2147483647)": "CHAR(2147483647)",
    "BINARY": "BINARY(1)",
    "VARBINARY": "BYTES",
    "VARBINARY(2147483647)": "BYTES",
    "DECIMAL(1, 1)": "DECIMAL(1, 1)",
    "DECIMAL(38, 38)": "DECIMAL(38, 38)",
    "TIME(0)": "TIME(0)",
    "TIMESTAMP(0)": "TIMESTAMP(0)",
    "TIMESTAMP(9)": "TIMESTAMP(9)",
    "TIMESTAMP(7) WITH LOCAL TIME ZONE": "TIMESTAMP_LTZ(7)",
    "TIME(9)": "TIME(9)",
    "TIMESTAMP_LTZ": "TIMESTAMP_LTZ(6)",
    "TIMESTAMP_LTZ(0) NOT NULL": "TIMESTAMP_LTZ(0) NOT NULL",
    "INTERVAL YEAR": "INTERVAL YEAR TO MONTH",
    "INTERVAL MONTH": "INTERVAL YEAR TO MONTH",
    "INTERVAL YEAR(10) TO MONTH": "INTERVAL YEAR TO MONTH",
    "INTERVAL HOUR TO MINUTE": "INTERVAL DAY TO SECOND",
    "INTERVAL SECOND(3, 9)": "INTERVAL DAY TO SECOND",
    "INT MULTISET": "MULTISET<INT>",
    "MAP<INT NOT NULL, ROW<a INT>> NOT NULL": "MAP<INT NOT NULL, ROW<`a` INT>> NOT NULL",
    "ROW<a INT NOT NULL> NULL": "ROW<`a` INT NOT NULL>",
    "ARRAY<INT>": "ARRAY<INT>",
    "INT ARRAY": "ARRAY<INT>",
    "INT NOT NULL ARRAY NOT NULL": "ARRAY<INT NOT NULL> NOT NULL",
    "MULTISET<STRING>": "MULTISET<STRING>",
    "MAP<STRING, ARRAY<BIGINT NOT NULL>>": "MAP<STRING, ARRAY<BIGINT NOT NULL>>",
    "ROW<a INT, `b c` STRING NOT NULL 'a comment'>": "ROW<`a` INT, `b c` STRING NOT NULL>",
    "ROW(a ROW<b INT>)": "ROW<`a` ROW<`b` INT>>",
    "ROW<>": "ROW<>",
}
REFUSED = {
    "TIME(12)": "type TIME(12) cannot be used here: precision ranges from 0 to 9",
    "TIMESTAMP WITH TIME ZONE": (
        "type TIMESTAMP WITH TIME ZONE cannot be used here: "
        "Flink has TIMESTAMP and TIMESTAMP_LTZ only"
    ),
    "TIMESTAMP(10)": "type TIMESTAMP(10) cannot be used here: precision ranges from 0 to 9",
    "TIMESTAMP_LTZ(10)": (
        "type TIMESTAMP_LTZ(10) cannot be used here: precision ranges from 0 to 9"
    ),
    "VARCHAR(0)": "type VARCHAR(0) cannot be used here: lengths range from 1 to 2147483647",
    "BINARY(0)": "type BINARY(0) cannot be used here: lengths range from 1 to 2147483647",
    "VARBINARY(2147483648)": (
        "type VARBINARY(2147483648) cannot be used here: lengths range from 1 to 2147483647"
    ),
    "DECIMAL(0)": (
        "type DECIMAL(0, 0) cannot be used here: precision ranges from 1 to 38, scale from 0 to"
        " precision"
    ),
    "STRUCTURED<'a.B', x INT>": "type STRUCTURED cannot be used here: its values are Java objects",
    "VARIANT": "type VARIANT cannot be used here: the formats do not carry it",
    "REAL": "type REAL cannot be used here: Flink has FLOAT and DOUBLE",
    "RAW('a', 'b')": "type RAW cannot be used here: its values are Java objects",
    "CHAR(0)": "type CHAR(0) cannot be used here: lengths range from 1 to 2147483647",
    "DECIMAL(39)": (
        "type DECIMAL(39, 0) cannot be used here: precision ranges from 1 to 38, scale from 0"
        " to precision"
    ),
    "DECIMAL(2, 3)": (
        "type DECIMAL(2, 3) cannot be used here: precision ranges from 1 to 38, scale from 0 to"
        " precision"
    ),
    "STRNG": (
        "type STRNG cannot be used here: Flink has no such type. Hint: did you mean 'STRING'?"
    ),
}


def _type(text: str) -> str:
    (table,) = parse_script(f"CREATE TABLE t (c {text})", "job.sql")
    assert isinstance(table, CreateTable)
    (column,) = table.schema.columns
    assert isinstance(column, PhysicalColumn)
    return column.type.sql()


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_read(text: str, expected: str) -> None:
    assert _type(text) == expected


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_refused(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        _type(text)
    assert str(caught.value) == f"job.sql:1:19: UNSUPPORTED_TYPE: {expected}"


#: Flink 2.2 refuses these types in a CAST as well. Its documentation allows 0 to 9 digits of
#: fractional seconds, but Flink refuses 0.
INTERVALS = {
    "YEAR(0)": "INTERVAL YEAR(0) cannot be used here: precision ranges from 1 to 10",
    "DAY(11)": "INTERVAL DAY(11) cannot be used here: precision ranges from 1 to 10",
    "SECOND(3, 10)": "INTERVAL SECOND(10) cannot be used here: precision ranges from 1 to 9",
    "DAY TO SECOND(10)": "INTERVAL SECOND(10) cannot be used here: precision ranges from 1 to 9",
    "DAY TO SECOND(0)": "INTERVAL SECOND(0) cannot be used here: precision ranges from 1 to 9",
}


@pytest.mark.parametrize(("text", "expected"), INTERVALS.items())
def test_digits_of_intervals(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError, match="UNSUPPORTED_TYPE") as caught:
        _type(f"INTERVAL {text}")
    assert str(caught.value).endswith(f"type {expected}")


@pytest.mark.parametrize("text", [*CASES, *REFUSED])
def test_a_cast_reads_the_same_types(text: str) -> None:
    """A CAST reads the same types as a column, without nullability.

    The nullability of a CAST is that of its operand.
    """
    kind = text.removesuffix(" NULL").removesuffix(" NOT").removesuffix(" not null")
    if text in REFUSED:
        with pytest.raises(StreamtableError, match="UNSUPPORTED_TYPE"):
            parse_expression(f"CAST(x AS {kind})", "job.sql")
    else:
        found = parse_expression(f"CAST(x AS {kind})", "job.sql").args["to"].data_type
        assert found.sql() == CASES[text].removesuffix(" NOT NULL")


def test_duplicate_fields_of_a_row_are_refused() -> None:
    with pytest.raises(StreamtableError, match="field 'a' is declared twice"):
        _type("ROW<a INT, a STRING>")
