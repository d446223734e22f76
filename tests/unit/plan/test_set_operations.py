"""Types of set operations and of VALUES."""

from __future__ import annotations

import pytest

from streamtable.testing.planned import planned
from streamtable.testing.replayed import Replayed, Style

_TABLES = {"a": Replayed(Style.UPSERT, "k INT, v INT", ())}


@pytest.mark.parametrize(
    "operation", ["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"]
)
@pytest.mark.parametrize(
    ("columns", "nullable"),
    [("kk", False), ("kv", True), ("vk", True), ("vv", True)],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_column_is_nullable_if_one_side_is(operation: str, columns: str, nullable: bool) -> None:
    """A column is nullable if it is nullable on one side.

    As in Calcite, the type of a column is the least restrictive type of both sides.
    """
    left, right = columns
    (column,) = planned(f"SELECT {left} FROM a {operation} SELECT {right} FROM a", _TABLES).columns
    assert column.field.type.nullable is nullable


@pytest.mark.parametrize(
    ("rows", "nullable"),
    {
        "(1), (2)": False,
        "(1), (NULL)": True,
        "(NULL), (1)": True,
        "(1), (CAST(NULL AS BIGINT))": True,
    }.items(),
)
def test_a_column_of_values_is_nullable_if_one_row_is(rows: str, nullable: bool) -> None:
    (column,) = planned(f"SELECT x FROM (VALUES {rows}) AS v (x)", {}).columns
    assert column.field.type.nullable is nullable
