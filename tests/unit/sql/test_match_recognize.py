"""Parsed clauses of MATCH_RECOGNIZE."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.sql.nodes import MatchRecognize, MatchSkip, PatternVariable
from streamtable.sql.parse import parse_script
from streamtable.sql.statements.model import Select

#: Pattern -> (name, least, most, reluctant) of each variable.
PATTERNS = {
    "A": [("A", 1, 1, False)],
    "A B C": [("A", 1, 1, False), ("B", 1, 1, False), ("C", 1, 1, False)],
    "A* B+ C?": [("A", 0, None, False), ("B", 1, None, False), ("C", 0, 1, False)],
    "A*? B+? C??": [("A", 0, None, True), ("B", 1, None, True), ("C", 0, 1, True)],
    "A{2} B{2,} C{2,3}": [("A", 2, 2, False), ("B", 2, None, False), ("C", 2, 3, False)],
    "A{,3} B{0,} C{1}?": [("A", 0, 3, False), ("B", 0, None, False), ("C", 1, 1, True)],
    "A{ 2 , 3 }? `b c`": [("A", 2, 3, True), ("b c", 1, 1, False)],
    "(A B) C": [("A", 1, 1, False), ("B", 1, 1, False), ("C", 1, 1, False)],
    "A ((B)) (C)+": [("A", 1, 1, False), ("B", 1, 1, False), ("C", 1, None, False)],
    "PERMUTE FIRST LAST": [
        ("PERMUTE", 1, 1, False),
        ("FIRST", 1, 1, False),
        ("LAST", 1, 1, False),
    ],
}
#: AFTER MATCH SKIP -> its text and variable.
SKIPS = {
    "PAST LAST ROW": ("PAST LAST ROW", None),
    "TO NEXT ROW": ("TO NEXT ROW", None),
    "TO FIRST A": ("TO FIRST", "A"),
    "TO LAST A": ("TO LAST", "A"),
    "TO A": ("TO LAST", "A"),
    "TO `FIRST`": ("TO LAST", "FIRST"),
}


def _parsed(clauses: str) -> MatchRecognize:
    (statement,) = parse_script(f"SELECT * FROM t MATCH_RECOGNIZE ({clauses}) AS m;", "job.sql")
    assert isinstance(statement, Select)
    found = statement.query.find(MatchRecognize)
    assert found is not None
    assert found.alias == "m"
    return found


def _told(variable: PatternVariable) -> tuple[str, int, int | None, bool]:
    most = variable.args.get("maximum")
    reluctant = bool(variable.args.get("reluctant"))
    return variable.this.name, variable.args["minimum"], most, reluctant


@pytest.mark.parametrize(("pattern", "variables"), PATTERNS.items(), ids=list(PATTERNS))
def test_patterns(pattern: str, variables: list[tuple[str, int, int | None, bool]]) -> None:
    found = _parsed(f"ORDER BY ts PATTERN ({pattern}) DEFINE A AS TRUE")
    assert [_told(variable) for variable in found.args["pattern"]] == variables


@pytest.mark.parametrize(("skip", "expected"), SKIPS.items(), ids=list(SKIPS))
def test_skips(skip: str, expected: tuple[str, str | None]) -> None:
    found = _parsed(f"ORDER BY ts AFTER MATCH SKIP {skip} PATTERN (A) DEFINE A AS TRUE")
    clause = found.args["skip"]
    assert isinstance(clause, MatchSkip)
    variable = clause.args.get("variable")
    assert (clause.this, variable.name if variable else None) == expected


def test_all_clauses() -> None:
    found = _parsed(
        "PARTITION BY a, b ORDER BY ts, c DESC MEASURES A.x AS x, FINAL LAST(B.x) AS y"
        " ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A B)"
        " WITHIN INTERVAL '1' MINUTE DEFINE A AS A.x > 1, B AS B.x > LAST(A.x, 1)"
    )
    assert [key.name for key in found.args["partition_by"]] == ["a", "b"]
    assert len(found.args["order"].expressions) == 2
    assert [measure.alias for measure in found.args["measures"]] == ["x", "y"]
    assert [definition.alias for definition in found.args["define"]] == ["A", "B"]
    assert found.args["within"].args["value"] == 60_000_000


def test_final_and_running_can_be_column_names() -> None:
    with pytest.raises(StreamtableError, match="RUNNING is not supported"):
        _parsed("ORDER BY ts MEASURES RUNNING SUM(x) AS s PATTERN (A) DEFINE A AS TRUE")
    assert parse_script(
        "SELECT final, running FROM t MATCH_RECOGNIZE (ORDER BY ts"
        " MEASURES final AS f, running + 1 AS r PATTERN (A) DEFINE A AS TRUE);"
    )
