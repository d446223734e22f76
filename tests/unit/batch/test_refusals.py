"""A query without a batch answer is refused with its operator and the reason, before any read."""

from __future__ import annotations

import pytest

from streamtable.batch.answer import ANSWERS
from streamtable.batch.refusals import UNSUPPORTED, refusal, refused
from streamtable.batch.rounding import rounded_fields
from streamtable.operators.lower import LOWERINGS
from streamtable.plan.node import Node
from streamtable.plan.sink.sink import Sink
from streamtable.session import Session

_OPTIONS = "'properties.bootstrap.servers' = 'localhost:9092'"
_TABLES = f"""
CREATE TABLE e (
  k INT, g STRING, f DOUBLE, m MAP<STRING, INT>, ts TIMESTAMP(3), p AS PROCTIME(),
  WATERMARK FOR ts AS ts
) WITH ('connector' = 'kafka', 'topic' = 'e', 'format' = 'json', {_OPTIONS});
CREATE TABLE u (k INT PRIMARY KEY NOT ENFORCED, g STRING, f DOUBLE) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'key.format' = 'json', 'value.format' = 'json',
  {_OPTIONS}
);
CREATE TABLE o (a STRING, b STRING) WITH (
  'connector' = 'kafka', 'topic' = 'o', 'format' = 'debezium-json', {_OPTIONS}
);
"""


def _plan(query: str, setting: str = "") -> Sink:
    session = Session()
    session.load(f"{setting}\n{_TABLES}\nINSERT INTO o {query};", "job.sql")
    return session.plans[0]


def test_every_operator_has_a_batch_answer_or_is_unsupported() -> None:
    assert set(ANSWERS) | set(UNSUPPORTED) == set(LOWERINGS)
    assert not set(ANSWERS) & set(UNSUPPORTED)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT g, CAST(NOW() AS STRING) FROM e", "it reads the current time"),
        ("SELECT g, UUID() FROM u", "it reads random ids"),
        (
            "SELECT g, 'w' FROM e WHERE ts > CURRENT_WATERMARK(ts)",
            "it reads the watermark of its micro-batches",
        ),
        ("SELECT g, 'rand()' FROM u WHERE RAND() > f", "it reads random numbers"),
        ("SELECT LISTAGG(g), 'x' FROM u", "the order of rows with changes"),
        ("SELECT CAST(PERCENTILE(f, 0.5) AS STRING), 'x' FROM u", "it computes PERCENTILE"),
        (
            "SELECT g, CAST(SUM(k) OVER (PARTITION BY g ORDER BY ts) AS STRING) FROM e",
            "it is not translated to batch yet",
        ),
        (
            (
                "SELECT g, CAST(COUNT(*) AS STRING) FROM"
                " TABLE(TUMBLE(TABLE e, DESCRIPTOR(p), INTERVAL '1' SECOND))"
                " GROUP BY g, window_start, window_end"
            ),
            "it depends on processing time",
        ),
        (
            (
                "SELECT g, 'x' FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY p) AS n"
                " FROM e) WHERE n = 1"
            ),
            "it depends on processing time",
        ),
    ],
)
def test_a_query_without_an_answer_names_the_reason(query: str, reason: str) -> None:
    plan = _plan(query)
    found = refusal(plan.input)
    assert found is not None
    assert found.reason.startswith(reason)
    assert "NO_BATCH_ANSWER: table o has no batch answer" in str(refused(plan, found))


def test_state_that_expires_is_refused() -> None:
    query = "SELECT g, CAST(COUNT(*) AS STRING) FROM e GROUP BY g"
    assert refusal(_plan(query).input) is None
    found = refusal(_plan(query, "SET 'table.exec.state.ttl' = '1 h';").input)
    assert found is not None
    assert "its state expires" in found.reason


@pytest.mark.parametrize(
    ("query", "decides"),
    [
        ("SELECT g, CAST(MAX(f) AS STRING) FROM u GROUP BY g", False),
        ("SELECT g, g FROM u GROUP BY g HAVING COUNT(*) > 1", False),
        ("SELECT g, g FROM u GROUP BY g HAVING SUM(f) > 1", True),
        ("SELECT g, CAST(SUM(f) AS STRING) FROM u GROUP BY g", True),
        ("SELECT g, g FROM (SELECT g, SUM(f) AS s FROM u GROUP BY g) ORDER BY s LIMIT 3", True),
    ],
)
def test_uses_of_floating_point_sums_are_noted(query: str, decides: bool) -> None:
    noted: list[Node] = []
    rounded_fields(_plan(query).input, noted.append)
    assert bool(noted) == decides
