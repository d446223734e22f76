"""Implicit casts of an INSERT, by type, as EXPLAIN INSERT of Flink 2.2 shows them."""

from __future__ import annotations

import pytest

from streamtable.core import types as t
from streamtable.core.types import DataType, Field
from streamtable.plan.binding.expressions import Bound, implicit_cast

TYPES: dict[str, DataType] = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "BIGINT": t.BIGINT,
    "FLOAT": t.FLOAT,
    "DOUBLE": t.DOUBLE,
    "DECIMAL(10,2)": t.decimal(10, 2),
    "DECIMAL(5,1)": t.decimal(5, 1),
    "STRING": t.STRING,
    "VARCHAR(20)": t.varchar(20),
    "VARCHAR(5)": t.varchar(5),
    "CHAR(5)": t.char(5),
    "CHAR(9)": t.char(9),
    "DATE": t.DATE,
    "TIME": t.time(),
    "TIMESTAMP(6)": t.timestamp(6),
    "TIMESTAMP(3)": t.timestamp(3),
    "LTZ(6)": t.timestamp_ltz(6),
    "LTZ(3)": t.timestamp_ltz(3),
    "BYTES": t.BYTES,
    "VARBINARY(5)": DataType(t.Root.VARBINARY, precision=5),
    "BINARY(3)": DataType(t.Root.BINARY, precision=3),
    "ARRAY<INT>": t.array(t.INT),
    "ARRAY<BIGINT>": t.array(t.BIGINT),
    "ARRAY<STRING>": t.array(t.STRING),
    "MAP<STRING,INT>": t.map_of(t.STRING, t.INT),
    "MAP<STRING,BIGINT>": t.map_of(t.STRING, t.BIGINT),
    "ROW<INT,STRING>": t.row(Field("x", t.INT), Field("y", t.STRING)),
    "ROW<BIGINT,STRING>": t.row(Field("p", t.BIGINT), Field("q", t.STRING)),
}
_DECIMALS = "DECIMAL(10,2) DECIMAL(5,1)"
_TEXTS = "STRING VARCHAR(20) VARCHAR(5)"
_MOMENTS = "TIMESTAMP(6) TIMESTAMP(3) LTZ(6) LTZ(3)"
ALLOWED = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": f"TINYINT SMALLINT INT BIGINT FLOAT DOUBLE {_DECIMALS}",
    "SMALLINT": f"SMALLINT INT BIGINT FLOAT DOUBLE {_DECIMALS}",
    "INT": f"INT BIGINT FLOAT DOUBLE {_DECIMALS}",
    "BIGINT": f"BIGINT FLOAT DOUBLE {_DECIMALS}",
    "FLOAT": f"FLOAT DOUBLE {_DECIMALS}",
    "DOUBLE": f"DOUBLE {_DECIMALS}",
    "DECIMAL(10,2)": f"FLOAT DOUBLE {_DECIMALS}",
    "STRING": _TEXTS,
    "VARCHAR(20)": _TEXTS,
    "CHAR(5)": f"{_TEXTS} CHAR(5) CHAR(9)",
    "DATE": "DATE",
    "TIME": "TIME",
    "TIMESTAMP(6)": f"DATE TIME {_MOMENTS}",
    "TIMESTAMP(3)": f"DATE TIME {_MOMENTS}",
    "LTZ(6)": _MOMENTS,
    "BYTES": "BYTES VARBINARY(5)",
    "ARRAY<INT>": "ARRAY<INT> ARRAY<BIGINT>",
    "MAP<STRING,INT>": "MAP<STRING,INT> MAP<STRING,BIGINT>",
    "ROW<INT,STRING>": "ROW<INT,STRING> ROW<BIGINT,STRING>",
}


@pytest.mark.parametrize("source", ALLOWED)
def test_implicit_casts_of_a_source_type(source: str) -> None:
    bound = Bound("`x`", TYPES[source])
    allowed = {name for name, kind in TYPES.items() if implicit_cast(bound, kind) is not None}
    assert allowed == set(ALLOWED[source].split())


def test_nullability_is_left_to_the_sink() -> None:
    nullable = Bound("`x`", t.INT)
    cast = implicit_cast(nullable, t.BIGINT.with_nullable(False))
    assert cast is not None
    assert (cast.sql, cast.type) == ("CAST(`x` AS BIGINT)", t.BIGINT)


def test_lengths_are_not_enforced() -> None:
    cast = implicit_cast(Bound("`x`", t.STRING), t.varchar(3))
    assert cast is not None
    assert (cast.sql, cast.type) == ("`x`", t.varchar(3))


def test_null_takes_any_type() -> None:
    cast = implicit_cast(Bound("NULL", t.NULL), t.array(t.INT))
    assert cast is not None
    assert cast.sql == "CAST(NULL AS ARRAY<INT>)"
