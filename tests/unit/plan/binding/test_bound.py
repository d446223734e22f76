"""Bound expressions: SQL text, type, fields, time attribute, determinism and place."""

from __future__ import annotations

import pytest

from streamtable.core.types import BIGINT, INT, Field, row, timestamp, timestamp_ltz
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.functions import AGGREGATES, FUNCTIONS
from streamtable.sql.parse import parse_expression

CLICKS = Input(
    (
        InputField("c", "at", Field("at", timestamp(3)), time_attribute="event"),
        InputField("c", "n", Field("n_1", INT)),
        InputField("c", "place", Field("place", row(Field("x", INT)))),
    )
)


def _bind(text: str):
    return Binder(CLICKS).bind(parse_expression(text))


def test_a_column_name_resolves_to_the_field_of_the_input() -> None:
    bound = _bind("c.n")
    assert (bound.sql, bound.fields) == ("`n_1`", {"n_1"})


def test_a_field_of_a_row() -> None:
    assert _bind("place.x").sql == _bind("c.place.x").sql == "`place`.`x`"


def test_fields_that_are_read() -> None:
    assert _bind("CASE WHEN n > 1 THEN place.x ELSE 0 END").fields == {"n_1", "place"}


@pytest.mark.parametrize(
    ("text", "attribute"),
    [("`at`", "event"), ("CAST(`at` AS STRING)", None), ("PROCTIME()", "proc"), ("n", None)],
)
def test_time_attribute(text: str, attribute: str | None) -> None:
    assert _bind(text).time_attribute == attribute


@pytest.mark.parametrize("text", ["RAND()", "UUID()", "1 + RAND()", "CURRENT_TIMESTAMP"])
def test_not_deterministic(text: str) -> None:
    assert not _bind(text).deterministic


def test_deterministic() -> None:
    assert _bind("n + 1").deterministic


@pytest.mark.parametrize(
    ("text", "cast"),
    [
        ("'7' < n", "BIGINT"),
        ("1.25 >= CAST(n AS STRING)", "DECIMAL(21,2)"),
        ("n IN ('1', '2')", "INT"),
    ],
)
def test_a_string_compared_with_a_number_is_cast(text: str, cast: str) -> None:
    assert f"AS {cast})" in _bind(text).sql


def test_proctime_type() -> None:
    assert _bind("PROCTIME()").type == timestamp_ltz(3).with_nullable(False)


def test_the_place_is_the_start_of_the_expression() -> None:
    bound = _bind("1 +\n  n")
    assert bound.at is not None
    assert (bound.at.line, bound.at.column) == (1, 1)


def test_every_function_has_its_name_and_a_doc() -> None:
    assert all(name == function.name for name, function in FUNCTIONS.items())
    assert all(function.doc for function in FUNCTIONS.values() if function.available)
    assert not set(FUNCTIONS) & set(AGGREGATES)


def test_sums_without_groups_may_be_null() -> None:
    number = (BIGINT.with_nullable(False),)
    assert AGGREGATES["SUM"].result(number, None).nullable is False
    assert AGGREGATES["SUM"].result(number, None, grouped=False).nullable is True
    assert AGGREGATES["COUNT"].result((), None, grouped=False).nullable is False
