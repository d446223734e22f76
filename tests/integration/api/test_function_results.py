"""Results of Python functions are equal with and without Arrow, and have the declared type."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import streamtable
from streamtable.core.errors import Condition
from streamtable.runtime.session import python_functions
from streamtable.udf import udf, udtf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def doubled(x: int) -> float:
    return x * 2


@udf(result_type="DECIMAL(10, 2)")
def price(x: int) -> Any:
    return x if x < 5 else Decimal("0.125")


@udf(result_type="DECIMAL(4, 2)")
def large(x: int) -> Any:
    return x * 100


@udf(result_type="INT")
def wide(x: int) -> Any:
    return x + 3_000_000_000


@udf(result_type="INT")
def cut(x: int) -> Any:
    return x + 0.75


@udf(result_type="STRING")
def text(x: int) -> Any:
    return x


@udf(result_type="ROW<a DOUBLE, b ARRAY<TINYINT>>")
def pair(x: int) -> Any:
    return (x, [x, None])


@udf(result_type="ROW<a DOUBLE, b ARRAY<TINYINT>>")
def wide_pair(x: int) -> Any:
    return (x, [x * 100])


@udtf(result_types=["DOUBLE", "STRING"])
def lines(x: int) -> Any:
    return [(x, "a"), (None, None)]


@udtf(result_types=["DOUBLE", "STRING"])
def wrong_lines(x: int) -> Any:
    return [(x, 7)]


@udtf(result_types=["DOUBLE", "STRING"])
def short_lines(x: int) -> Any:
    return [(x,)]


@udf(result_type="INT")
def failing(x: int) -> Any:
    return int(f"number {x}")


@udf(result_type="DOUBLE")
def fourth(x: int) -> Any:
    return Decimal(x) / 4


@udf(result_type="BOOLEAN")
def odd(x: int) -> Any:
    return x & 1


@udf(result_type="TIMESTAMP(3)")
def wall(x: int) -> Any:
    return datetime(2026, 1, x, 12, tzinfo=timezone(timedelta(hours=5)))


@udf(result_type="DATE")
def day(x: int) -> Any:
    return Day(2026, 1, x)


class Day(date):
    """A subclass of `date`, as libraries define it."""


_FUNCTIONS: dict[str, Any] = {
    "fourth": fourth,
    "odd": odd,
    "wall": wall,
    "day": day,
    "doubled": doubled,
    "price": price,
    "large": large,
    "wide": wide,
    "cut": cut,
    "text": text,
    "pair": pair,
    "wide_pair": wide_pair,
    "lines": lines,
    "wrong_lines": wrong_lines,
    "short_lines": short_lines,
    "failing": failing,
}
_TABLE = "(VALUES (2), (8)) AS v (n)"


@pytest.mark.parametrize("arrow", [True, False])
def test_results_of_another_type_are_converted_or_refused(
    arrow: bool, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_functions, "_has_arrow", lambda: arrow)
    with streamtable.connect(spark) as session:
        for name, function in _FUNCTIONS.items():
            session.register_function(name, function)
        query = f"""SELECT doubled(n), price(n), cut(n), pair(n).a, pair(n).b[1], f0
        FROM {_TABLE}, LATERAL TABLE(lines(n))"""
        assert sorted(session.sql_query(query).execute().collect(), key=repr) == [
            (16.0, Decimal("0.13"), 8, 8.0, 8, 8.0),
            (16.0, Decimal("0.13"), 8, 8.0, 8, None),
            (4.0, Decimal("2.00"), 2, 2.0, 2, 2.0),
            (4.0, Decimal("2.00"), 2, 2.0, 2, None),
        ]
        query = f"SELECT fourth(n), odd(n), wall(n), day(n) FROM {_TABLE} WHERE n = 2"
        assert list(session.sql_query(query).execute().collect()) == [
            (0.5, False, datetime(2026, 1, 2, 12), date(2026, 1, 2))
        ]
        for call, words in {
            "large(n)": "does not fit decimal(4,2): 200 is out of range",
            "wide(n)": "does not fit int: ",
            "text(n)": "does not fit string: 2 is a int",
            "wide_pair(n).a": "does not fit struct<a:double,b:array<tinyint>>: ",
            "wrong_lines(n)": "string>: 7 is a int",
            "short_lines(n)": "a row has 1 values, not 2",
            "failing(n)": "ValueError: invalid literal for int()",
        }.items():
            query = f"SELECT {call} AS x FROM {_TABLE} WHERE n = 2"
            if "lines" in call:
                query = f"SELECT f0 FROM {_TABLE}, LATERAL TABLE({call}) WHERE n = 2"
            with pytest.raises(streamtable.StreamtableError, match=re.escape(words)) as failed:
                list(session.sql_query(query).execute().collect())
            assert failed.value.condition is Condition.FUNCTION_FAILED
            name = call.partition("(")[0]
            assert f"Python function '{name}' failed at {__file__}:" in str(failed.value)
