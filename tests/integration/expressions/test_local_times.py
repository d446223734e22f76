"""Local times as numbers (`LocalTimes`) give the values and texts of Spark's calendar."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.testing.answers import INTERPRETED, set_for_a_while

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RULE = "io.streamtable.query.LocalTimes"
_EXPRESSIONS = (
    "a + i",
    "a - i",
    "a + INTERVAL '1 02:03:04.000005' DAY TO SECOND",
    "a - INTERVAL '4' SECOND",
    "a - b",
    "(a - b) div INTERVAL '0.000001' SECOND",
    "timestampadd(MICROSECOND, n, a)",
    "timestampadd(DAY, 3, a)",
    "a + INTERVAL '1' MONTH",
    "CAST(a AS TIMESTAMP_LTZ) + i",
)

#: Offsets of instants from a clock change, in microseconds.
_NEAR = [hours * 1_800_000_000 for hours in range(-6, 7)]


@pytest.mark.parametrize("settings", [{}, INTERPRETED], ids=["generated", "interpreted"])
def test_equal_values(spark: SparkSession, settings: dict[str, str]) -> None:
    def answers() -> list[Any]:
        texts = [f"CAST({expression} AS STRING)" for expression in _EXPRESSIONS]
        return rows.selectExpr(*texts).collect()

    dice = random.Random(3)
    drawn = [(_time(dice), _time(dice), _number(dice, 10**15)) for _ in range(400)]
    rows = spark.createDataFrame(drawn, "a STRING, b STRING, n BIGINT").selectExpr(
        "CAST(a AS TIMESTAMP_NTZ) AS a",
        "CAST(b AS TIMESTAMP_NTZ) AS b",
        "n",
        "make_dt_interval(0, 0, 0, n / 1000000) AS i",
    )

    with set_for_a_while(spark, settings):
        found = answers()
        assert "subtractExact" in _plan(rows, "a - b")
        with set_for_a_while(spark, {"spark.sql.optimizer.excludedRules": _RULE}):
            assert "subtractExact" not in _plan(rows, "a - b")
            assert found == answers()


@pytest.mark.parametrize("settings", [{}, INTERPRETED], ids=["generated", "interpreted"])
@pytest.mark.parametrize(
    "zone",
    [
        "UTC",
        "+05:30",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Africa/Monrovia",
    ],
)
def test_equal_local_times(spark: SparkSession, settings: dict[str, str], zone: str) -> None:
    dice = random.Random(5)
    #: 26 October 2025, 02:00 in Berlin, and 1 January 1970
    near = [(c + s + f,) for c in (1_761_440_400_000_000, 0) for s in _NEAR for f in (-1, 0, 1)]
    drawn = [(dice.randrange(-62_000_000_000, 250_000_000_000) * 10**6 + 7,) for _ in range(300)]
    rows = spark.createDataFrame([*near, *drawn, *near, (None,)], "n BIGINT").coalesce(1)
    times = rows.selectExpr("timestamp_micros(n) AS t")

    def answers() -> list[Any]:
        return times.selectExpr("CAST(CAST(t AS TIMESTAMP_NTZ) AS STRING)").collect()

    with set_for_a_while(spark, {**settings, "spark.sql.session.timeZone": zone}):
        found = answers()
        with set_for_a_while(spark, {"spark.sql.optimizer.excludedRules": _RULE}):
            assert found == answers()


_TEXTS = (
    "CAST(a AS STRING)",
    "CAST(CAST(a AS TIMESTAMP_LTZ) AS STRING)",
    "substring(CAST(a AS STRING), 1, 10)",
    "substring(CAST(a AS STRING), 12, 5)",
    "substring(CAST(CAST(a AS TIMESTAMP_LTZ) AS STRING), 1, 19)",
    "substring(CAST(a AS STRING), 20, 0)",
    # Parts that Spark takes from the text.
    "substring(CAST(a AS STRING), 12, 9)",
    "substring(CAST(a AS STRING), -3, 3)",
    "substring(CAST(a AS STRING), 1, length(b))",
    "substring(CAST(CAST(a AS DATE) AS STRING), 1, 4)",
)
_YEAR_US = 31_556_952_000_000


@pytest.mark.parametrize("settings", [{}, INTERPRETED], ids=["generated", "interpreted"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_equal_texts(spark: SparkSession, settings: dict[str, str], zone: str) -> None:
    dice = random.Random(7)
    edges = [year * _YEAR_US for year in (-1971, -1970, -1969, 0, 8028, 8029, 8030, 9000)]
    near = [edge + off for edge in edges for off in (-1_000_000, -1, 0, 1, 120_000, 999_999)]
    drawn = [
        dice.randrange(-62 * 10**15, 250 * 10**15) // unit * unit
        for unit in (1, 1_000, 10_000, 1_000_000)
        for _ in range(150)
    ]
    rows = spark.createDataFrame(
        [*((n,) for n in (*near, *drawn)), (None,)], "n BIGINT"
    ).selectExpr("CAST(timestamp_micros(n) AS TIMESTAMP_NTZ) AS a", "CAST(n AS STRING) AS b")

    def answers() -> list[Any]:
        return rows.selectExpr(*_TEXTS).collect()

    with set_for_a_while(spark, {**settings, "spark.sql.session.timeZone": zone}):
        found = answers()
        assert "LocalTexts" in _plan(rows, _TEXTS[2])
        with set_for_a_while(spark, {"spark.sql.optimizer.excludedRules": _RULE}):
            assert "LocalTexts" not in _plan(rows, _TEXTS[2])
            assert found == answers()


def test_a_time_beyond_the_calendar_is_an_error(spark: SparkSession) -> None:
    rows = spark.range(1).selectExpr("TIMESTAMP_NTZ'9999-12-31 00:00:00' AS a", "id")
    with pytest.raises(Exception, match="overflow"):
        rows.selectExpr("timestampadd(MICROSECOND, 9223372036854775807 - id, a)").collect()


def _plan(rows: DataFrame, expression: str) -> str:
    with set_for_a_while(rows.sparkSession, {"spark.sql.maxPlanStringLength": "100000"}):
        query = rows.selectExpr(expression)._jdf.queryExecution()
        return str(query.optimizedPlan().toString())


def _time(dice: random.Random) -> str | None:
    if dice.random() < 0.05:
        return None
    year = dice.choice([1, 1582, 1969, 1970, 2024, 9998, dice.randrange(1, 9999)])
    day = f"{year:04}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
    return f"{day} {dice.randrange(24):02}:{dice.randrange(60):02}:59.{dice.randrange(10**6):06}"


def _number(dice: random.Random, most: int) -> int | None:
    return None if dice.random() < 0.05 else dice.randrange(-most, most)
