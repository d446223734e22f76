"""Streaming queries that Flink refuses are refused here, except those of `TAKEN`, which run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.compat.over.over_known import TAKEN

from streamtable.testing.planned import is_refused

_RECORD = Path(__file__).parents[2] / "compat" / "over" / "over.json"
_OPTIONS = "'topic' = 't', 'properties.bootstrap.servers' = 'b:1'"
_TABLES = f"""
CREATE TABLE timed (
  id INT, k STRING, v INT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH ('connector' = 'kafka', {_OPTIONS}, 'format' = 'json');
CREATE TABLE late (id INT, k STRING, v INT, s STRING)
WITH ('connector' = 'kafka', {_OPTIONS}, 'format' = 'json');
CREATE TABLE added (k INT, g STRING, v INT, w INT)
WITH ('connector' = 'kafka', {_OPTIONS}, 'format' = 'json');
CREATE TABLE changes (k INT, g STRING, v INT, w INT)
WITH ('connector' = 'kafka', {_OPTIONS}, 'format' = 'debezium-json');
"""


def test_queries_refused_by_flink_are_refused() -> None:
    answers = json.loads(_RECORD.read_text(encoding="utf-8"))["answers"]
    refused = [query for query, answer in answers.items() if isinstance(answer, str)]
    assert len(refused) > 20
    assert [query for query in refused if not is_refused(f"{_TABLES}{query};")] == list(TAKEN)
