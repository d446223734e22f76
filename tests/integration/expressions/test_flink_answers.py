"""Every recorded expression gives Flink's type and Flink's value on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tests.compat.functions.functions_answers import (
    Answer,
    binder,
    comparable,
    expression,
    recorded,
    same_type,
    spark_value,
)
from tests.compat.functions.functions_known import DIFFERENT, LENIENT, NOT_YET, ORDERLESS, REFUSED

from streamtable.core.errors import StreamtableError
from streamtable.core.types import Root

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from streamtable.plan.binding.expressions import Bound

ANSWERS = recorded()
_AT_ONCE = 25
_FAILED = object()


@dataclass(frozen=True)
class Ours:
    bound: Bound | None
    refused: StreamtableError | None


def _bind(answer: Answer) -> Ours:
    try:
        return Ours(binder().bind(expression(answer.sql)), None)
    except StreamtableError as error:
        return Ours(None, error)


OURS = [_bind(answer) for answer in ANSWERS]


def _collectable(bound: Bound) -> str:
    """Return SQL that Python can collect. Instants are in UTC: Python's own zone has no effect."""
    if bound.type.root is Root.TIMESTAMP_LTZ:
        return f"timestampadd(MICROSECOND, unix_micros({bound.sql}), TIMESTAMP_NTZ'1970-01-01')"
    if bound.type.root is Root.INTERVAL_YEAR_MONTH:
        return f"CAST({bound.sql} AS STRING)"
    return bound.sql


def _evaluate(row: DataFrame, positions: list[int], found: dict[int, Any]) -> None:
    """Evaluate expressions in one query. If it fails, halve the query down to one expression."""
    texts = [f"{_collectable(OURS[p].bound)} AS c{i}" for i, p in enumerate(positions)]
    try:
        values = row.selectExpr(*texts).collect()[0]
    except Exception as error:
        if len(positions) == 1:
            found[positions[0]] = (_FAILED, str(error))
            return
        middle = len(positions) // 2
        _evaluate(row, positions[:middle], found)
        _evaluate(row, positions[middle:], found)
        return
    found.update({p: spark_value(value) for p, value in zip(positions, values, strict=True)})


@pytest.fixture(scope="module")
def values(row: DataFrame) -> dict[int, Any]:
    """Return Spark's value of each bound expression, by position in `ANSWERS`."""
    found: dict[int, Any] = {}
    spark = row.sparkSession
    before = spark.conf.get("spark.sql.session.timeZone")
    for zone in dict.fromkeys(answer.zone for answer in ANSWERS):
        spark.conf.set("spark.sql.session.timeZone", zone)
        bound = [p for p, a in enumerate(ANSWERS) if a.zone == zone and OURS[p].bound]
        failing = [p for p in bound if ANSWERS[p].kind == "fails"]
        calm = [p for p in bound if p not in set(failing)]
        for start in range(0, len(calm), _AT_ONCE):
            _evaluate(row, calm[start : start + _AT_ONCE], found)
        for position in failing:
            _evaluate(row, [position], found)
    spark.conf.set("spark.sql.session.timeZone", before)
    return found


def _case(position: int) -> Any:
    """Return a test case. A known difference is a strict xfail: remove its mark once it passes."""
    answer = ANSWERS[position]
    reason = DIFFERENT.get(answer.id)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(position, id=answer.id, marks=marks)


@pytest.mark.parametrize("position", [_case(p) for p in range(len(ANSWERS))])
def test_an_expression_equals_flink(values: dict[int, Any], position: int) -> None:
    answer, ours = ANSWERS[position], OURS[position]
    if ours.refused is not None:
        _check_refusal(answer, ours.refused)
        return
    assert ours.bound is not None
    value = values[position]
    failed = isinstance(value, tuple) and value[0] is _FAILED
    if answer.kind == "error":
        assert answer.id in LENIENT, f"Flink refuses it, we give {ours.bound.type} {value}"
    elif answer.kind == "fails":
        assert failed, f"Flink fails, we give {value!r}"
    else:
        assert not failed, f"{value[1][:400]}\n{ours.bound.sql}"
        assert ours.bound.type.sql() == same_type(answer.type), ours.bound.sql
        expected = comparable(answer.value, ours.bound.type.root)
        if answer.id in ORDERLESS:
            value, expected = sorted(value, key=repr), sorted(expected, key=repr)
        assert value == expected, ours.bound.sql


def _check_refusal(answer: Answer, refused: StreamtableError) -> None:
    if answer.kind == "error":
        return
    known = NOT_YET | REFUSED
    assert answer.kind == "fails" or answer.id in known, refused
    if answer.kind == "value":
        pytest.xfail(str(refused))


def test_known_gaps_are_still_refused() -> None:
    """Expressions in the lists of gaps are still refused. Remove them once the gap is closed."""
    refused = {a.id for a, ours in zip(ANSWERS, OURS, strict=True) if ours.refused is not None}
    assert refused >= NOT_YET | REFUSED
