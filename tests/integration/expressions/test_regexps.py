"""Regular expressions over texts and patterns that alternate: the last search is kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXTS = ["ab=12&c", "ab=3", "", "none", "ab=12&c"]
_PATTERNS = [r"(\w+)=(\d+)", r"=(\d)(\d)?", "("]
_CALLS = [
    "flink_regexp_extract({}, {}, 1)",
    "flink_regexp_extract({}, {}, 2)",
    "flink_regexp_extract({}, {}, 3)",
    "flink_regexp_matches({}, {})",
    "flink_regexp_instr({}, {})",
    "flink_regexp_substr({}, {})",
]


def test_a_text_is_searched_again_when_text_or_pattern_changes(row: DataFrame) -> None:
    cases = [(t, u, p, q) for t in _TEXTS for u in _TEXTS for p in _PATTERNS for q in _PATTERNS]
    asked = [("t", "p"), ("t", "p"), ("u", "p"), ("u", "q"), ("t", "q"), ("t", "p")]
    columns = [call.format(*names) for names in asked for call in _CALLS]
    schema = "t STRING, u STRING, p STRING, q STRING"
    found = row.sparkSession.createDataFrame(cases, schema).selectExpr(*columns)
    assert [tuple(values) for values in found.collect()] == [
        tuple(
            value
            for text, pattern in ((t, p), (t, p), (u, p), (u, q), (t, q), (t, p))
            for value in _expected(text, pattern)
        )
        for t, u, p, q in cases
    ]


def _expected(text: str, pattern: str) -> tuple[object, ...]:
    """Return the results of the calls; an invalid pattern gives NULL, but no match."""
    try:
        match = re.search(pattern, text)
    except re.error:
        return (None, None, None, False, None, None)
    if match is None:
        return (None, None, None, False, 0, None)
    return (match[1], match[2], None, True, match.start() + 1, match[0])
