"""Python aggregate functions: types, calls and refusals."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from streamtable.catalog.python_hints import signature_of
from streamtable.common import Row
from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session
from streamtable.udf import AggregateFunction, udaf

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
MODULE = """
from streamtable.common import Row
from streamtable.table import AggregateFunction, DataTypes
from streamtable.table.udf import udaf

class WeightedAvg(AggregateFunction):
    def create_accumulator(self):
        return Row(0, 0)
    def get_value(self, accumulator):
        return accumulator[0] / accumulator[1]
    def accumulate(self, accumulator, value, weight):
        accumulator[0] += value * weight
        accumulator[1] += weight
    def get_result_type(self):
        return DataTypes.BIGINT()
    def get_accumulator_type(self):
        return DataTypes.ROW([
            DataTypes.FIELD("f0", DataTypes.BIGINT()), DataTypes.FIELD("f1", DataTypes.BIGINT())])

class Retracting(WeightedAvg):
    def retract(self, accumulator, value, weight):
        pass

weighted_avg = udaf(WeightedAvg(), input_types=["BIGINT", "BIGINT"])
retracting = Retracting()
"""
CREATED = """
CREATE FUNCTION weighted_avg AS 'aggregates_of_a_test.weighted_avg' LANGUAGE PYTHON;
CREATE FUNCTION retracting AS 'aggregates_of_a_test.retracting' LANGUAGE PYTHON;
"""


class Last(AggregateFunction):
    def create_accumulator(self) -> list[str]:
        return []

    def accumulate(self, accumulator: list[str], value: str, *others: Any) -> None:
        accumulator[:] = [value, *others]

    def get_value(self, accumulator: list[str]) -> str:
        return accumulator[0]


class Typed(Last):
    def get_result_type(self) -> str:
        return "STRING"

    def get_accumulator_type(self) -> str:
        return "ARRAY<STRING>"

    def retract(self, accumulator: list[str], *args: Any) -> None:
        pass


def test_types_of_an_aggregate_function() -> None:
    signature = signature_of(udaf(Last(), None, "STRING NOT NULL", "ARRAY<STRING>"))
    assert (signature.usage(), str(signature.result)) == ("(STRING, ...)", "STRING NOT NULL")
    assert (str(signature.accumulator), signature.retracts) == ("ARRAY<STRING>", False)
    assert signature_of(Typed()).retracts


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (Last(), r"Last does not implement get_result_type\(\)"),
        (Last, r"it is a class; create an object: udaf\(Last\(\)\)"),
        (
            udaf(Typed(), input_types=["INT", "INT"]),
            "it takes 1 arguments, input_types names 2",
        ),
    ],
)
def test_no_signature(function: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        signature_of(function)


def test_declarations_that_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="pandas"):
        udaf(Typed(), func_type="pandas")
    with pytest.raises(ValueError, match="func_type is 'arrow'"):
        udaf(Typed(), func_type="arrow")
    with pytest.raises(TypeError, match="an object of a subclass of AggregateFunction"):
        udaf(len, result_type="INT", accumulator_type="INT")


def test_rows_of_accumulators() -> None:
    row = Row(total=1, n=2)
    row[0] += 1
    row["n"] += 1
    row.n += 1
    assert (list(row), row.total, row.as_dict()) == ([2, 4], 2, {"total": 2, "n": 4})
    assert pickle.loads(pickle.dumps(row)) == row != Row(2, 4)  # noqa: S301
    assert repr((row, Row(1, "a"))) == "(Row(total=2, n=4), Row(1, 'a'))"
    assert "n" in row
    assert 4 not in row
    with pytest.raises(ValueError, match="either all with names"):
        Row(1, n=2)
    with pytest.raises(AttributeError, match="no field 'm'"):
        row.m = 1


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "aggregates_of_a_test.py").write_text(MODULE)
    session = Session()
    session.load(f"{TABLES} SET 'python.files' = '{tmp_path}'; {CREATED}", "tables.sql")
    return session


COUNTED = "(SELECT user_region, COUNT(*) AS n FROM pageviews GROUP BY user_region)"


def test_a_call_is_planned(session: Session) -> None:
    query = f"SELECT n, retracting(n, n) FROM {COUNTED} GROUP BY n"
    session.load(f"EXPLAIN {query};", "job.sql")
    assert "retracting(" in session.printed[-1]
    assert "Python aggregate functions run in micro-batches only" in session.printed[-1]
    session.load("DESCRIBE FUNCTION EXTENDED weighted_avg;", "describe.sql")
    assert "AGGREGATE" in session.printed[-1]


@pytest.mark.parametrize(
    ("query", "condition", "message"),
    [
        (
            f"SELECT n, weighted_avg(n, n) FROM {COUNTED} GROUP BY n",
            Condition.RETRACT_REQUIRED,
            "weighted_avg requires retraction, because the aggregation by user_region updates or",
        ),
        (
            "SELECT weighted_avg(user_id) FROM pageviews",
            Condition.ARGUMENT_MISMATCH,
            r"weighted_avg takes \(BIGINT, BIGINT\), found \(BIGINT\)",
        ),
        (
            "SELECT weighted_avg(user_region, 1) FROM pageviews",
            Condition.ARGUMENT_MISMATCH,
            "found",
        ),
        (
            "SELECT user_id FROM pageviews WHERE weighted_avg(user_id, 1) > 1",
            Condition.AGGREGATE_MISPLACED,
            "WEIGHTED_AVG is an aggregate and cannot be used in an expression",
        ),
        (
            "SELECT x FROM pageviews, LATERAL TABLE(weighted_avg(user_id, 1)) AS t (x)",
            Condition.AGGREGATE_MISPLACED,
            "weighted_avg is an aggregate and cannot be used in FROM",
        ),
        (
            "SELECT weighted_avg(user_id, 1) OVER (ORDER BY PROCTIME()) FROM pageviews",
            Condition.INVALID_WINDOW,
            "a Python aggregate function cannot be used with OVER",
        ),
    ],
)
def test_calls_that_are_refused(
    session: Session, query: str, condition: Condition, message: str
) -> None:
    with pytest.raises(StreamtableError, match=message) as refused:
        session.load(f"EXPLAIN {query};", "job.sql")
    assert refused.value.condition is condition
