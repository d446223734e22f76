"""Spark's batch results, the oracle of differential tests, tuned for tables of few rows."""

# ruff: noqa: S608 - the queries are ours

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamtable.core.types import quote
from streamtable.testing.replayed import Row

#: Settings that skip code generation and plan descriptions, which do not pay off for few rows.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.maxPlanStringLength": "0",
}
#: Settings that skip adaptive planning at run time.
PLANNED_ONCE = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "1",
}


@contextmanager
def set_for_a_while(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set session settings, and restore them at the end."""
    before = {key: spark.conf.get(key, None) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


def answer(
    spark: SparkSession, queries: Sequence[str], tables: Mapping[str, tuple[str, Sequence[Row]]]
) -> dict[int, list[Any]]:
    """Return the rows of Spark's batch result for each query.

    Args:
        spark: any session.
        queries: queries in Spark's SQL.
        tables: name -> columns in SQL, and rows.
    """
    for name, (columns, rows) in tables.items():
        frame_of(spark, columns, rows).createOrReplaceTempView(name)
    answers = []
    for i, query in enumerate(queries):
        names = [f"c{n}" for n in range(len(spark.sql(query).columns))]
        named = f"({query}) AS answer({', '.join(names)})"
        answers.append(f"SELECT {i} AS case, {as_json(names)} AS text FROM {named}")
    found: dict[int, list[Any]] = {i: [] for i in range(len(queries))}
    with set_for_a_while(spark, PLANNED_ONCE):
        answered = spark.sql(" UNION ALL ".join(answers)).collect()
    for case_number, text in answered:
        found[case_number].append(json.loads(text, parse_float=rounded))
    return found


def frame_of(spark: SparkSession, columns: str, rows: Iterable[Row]) -> DataFrame:
    """Create a DataFrame from JSON values in one partition, so that no row is shuffled."""
    text = f"SELECT inline(from_json(:rows, 'ARRAY<STRUCT<{columns}>>'))"
    return spark.sql(text, {"rows": json.dumps(list(rows))})


def as_json(names: Iterable[str]) -> str:
    """Return a SQL expression of the columns as a JSON array, for any types."""
    options = "map('ignoreNullFields', 'false')"
    objects = [f"to_json(struct({quote(name)} AS v), {options})" for name in names]
    values = [f"substring({text}, 6, length({text}) - 6)" for text in objects]
    return f"concat('[', concat_ws(',', {', '.join(values)}), ']')"


def rounded(text: str) -> float:
    """Round a number, so that sums in different orders are equal."""
    return float(f"{float(text):.9g}")
