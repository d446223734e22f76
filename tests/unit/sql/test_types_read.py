"""Every type of Flink's, as SQL spells it and as the tables know it."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.core.table import PhysicalColumn
from streamtable.sql.parse import parse_script
from streamtable.sql.statements import CreateTable

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
    "INTERVAL YEAR": "INTERVAL YEAR TO MONTH",
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
    "TIMESTAMP(9)": "type TIMESTAMP(9) cannot be used here: Spark keeps microseconds",
    "TIMESTAMP_LTZ(7)": "type TIMESTAMP_LTZ(7) cannot be used here: Spark keeps microseconds",
    "TIME(12)": "type TIME(12) cannot be used here: precision goes from 0 to 9",
    "TIMESTAMP WITH TIME ZONE": (
        "type TIMESTAMP WITH TIME ZONE cannot be used here: "
        "Flink has TIMESTAMP and TIMESTAMP_LTZ only"
    ),
    "RAW('a', 'b')": "type RAW cannot be used here: its values are Java objects",
    "CHAR(0)": "type CHAR(0) cannot be used here: lengths go from 1 to 2147483647",
    "DECIMAL(39)": (
        "type DECIMAL(39, 0) cannot be used here: "
        "precision goes from 1 to 38, scale from 0 to precision"
    ),
    "DECIMAL(2, 3)": (
        "type DECIMAL(2, 3) cannot be used here: "
        "precision goes from 1 to 38, scale from 0 to precision"
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


def test_a_row_names_each_field_once() -> None:
    with pytest.raises(StreamtableError, match="field 'a' is declared twice"):
        _type("ROW<a INT, a STRING>")
