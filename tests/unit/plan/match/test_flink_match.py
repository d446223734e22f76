"""MATCH_RECOGNIZE queries are accepted and refused as in Flink, except known differences."""

from __future__ import annotations

import json
from pathlib import Path

from tests.compat.match.match_known import REFUSED, TAKEN
from tests.compat.match.match_queries import COLUMNS, FAILING, MATCHED, RANDOM, WRITTEN

from streamtable.testing.planned import is_refused

_RECORD = Path(__file__).parents[3] / "compat" / "match" / "match.json"
_OPTIONS = (
    "'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1',"
    " 'format' = 'json'"
)
_TABLES = f"""
CREATE TABLE ticks ({COLUMNS}, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '3' SECOND)
WITH ({_OPTIONS});
CREATE TABLE arrivals ({COLUMNS}, pt AS PROCTIME()) WITH ({_OPTIONS});
CREATE VIEW matched AS {MATCHED};
"""


def test_refusals_match_flink_except_known_differences() -> None:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    # Flink's docs have {,m}, but Flink 2.2 fails on it.
    asked = [*WRITTEN, *(query for query in RANDOM if "{," not in query)]
    flink = {query: isinstance(answers[query], str) for query in asked}
    assert sum(flink.values()) > 60
    taken = dict.fromkeys(FAILING, False)
    wrong = {
        query
        for query, refused in {**flink, **taken}.items()
        if is_refused(f"{_TABLES}{query};") != refused
    }
    assert wrong == {*REFUSED, *TAKEN}


def test_every_query_has_an_answer() -> None:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    assert set(answers) == {*WRITTEN, *FAILING, *RANDOM}
