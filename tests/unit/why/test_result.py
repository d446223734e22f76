"""Answers of `streamtable why` as lines and as one JSON object."""

from __future__ import annotations

import json

from streamtable.runtime.why.result import (
    FoundRow,
    OperatorLine,
    QueryAnswer,
    Reason,
    Record,
    WhyAnswer,
)

_RECORD = Record("sales", 1, 7, "2026-01-31 12:00:00.000", '{"id":9,"amount":1.10}')
_GONE = Record("sales", 0, 8, None, '{"id":9}', "-D", "rank 3")
_ROW = FoundRow('{"id":9,"total":12345678901234567890.10}', '{"total":1.10}', (_RECORD,), more=True)
_SCAN = OperatorLine("Scan sales", (1,), 1, is_scan=True)
_FILTER = OperatorLine(
    "Calc a > 1", (1,), 0, ("`a > 1` is false for 1",), Reason.FILTERED, (_GONE,)
)


def _answer(*queries: QueryAnswer) -> WhyAnswer:
    return WhyAnswer("totals", '{"id": 9}', "id = 9", queries)


def test_lines_of_a_row_and_of_a_missing_row() -> None:
    found = QueryAnswer("job.sql:3:1", None, (_ROW,), (), ("a note",))
    assert list(_answer(found).lines()) == [
        'totals (id = 9): {"total":1.10} from more than 1 record',
        '  sales  partition 1  offset 7  2026-01-31 12:00:00.000  {"id":9,"amount":1.10}',
        "  note: a note",
    ]
    missing = QueryAnswer("job.sql:5:1", 4, (), (_SCAN, _FILTER))
    assert list(_answer(missing).lines()) == [
        "totals (id = 9) at batch 4: no row: filtered",
        "  Scan sales: 1 record",
        "  Calc a > 1: 1 row in, 0 out: `a > 1` is false for 1",
        '    sales  partition 0  offset 8  no time  -D  {"id":9}  rank 3',
    ]
    both = list(_answer(found, missing).lines())
    assert both[0].startswith("totals (id = 9) of the INSERT at job.sql:3:1: ")
    assert both[3].startswith("totals (id = 9) of the INSERT at job.sql:5:1 at batch 4: ")


def test_scans_and_joins_show_their_counts() -> None:
    folded = OperatorLine("Scan orders", (3,), 2, is_scan=True)
    assert folded.line == "Scan orders: 3 records, 2 rows left"
    assert OperatorLine("Join on a = b", (1, 0), 0).line == "Join on a = b: 1 and 0 rows in, 0 out"


def test_json_keeps_all_digits() -> None:
    text = _answer(QueryAnswer("", None, (_ROW,)), QueryAnswer("", 4, (), (_SCAN, _FILTER))).json()
    assert '"total":12345678901234567890.10' in text
    found, missing = json.loads(text)["queries"]
    assert (found["reason"], found["rows"][0]["more"]) == (None, True)
    assert found["rows"][0]["records"] == [
        {
            "table": "sales",
            "partition": 1,
            "offset": 7,
            "time": "2026-01-31 12:00:00.000",
            "columns": {"id": 9, "amount": 1.1},
        }
    ]
    assert (missing["batch"], missing["reason"], missing["rows"]) == (4, "filtered", [])
    last = missing["operators"][-1]
    assert (last["in"], last["out"], last["reason"]) == ([1], 0, "filtered")
    assert last["records"][0]["why"] == "rank 3"
