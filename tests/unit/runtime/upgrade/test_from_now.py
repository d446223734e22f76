"""What a query that continues from now lacks."""

from __future__ import annotations

import pytest

from streamtable.runtime.checkpoint.from_now import FromNow, Lacks
from streamtable.runtime.checkpoint.recorded_query import RecordedQuery
from streamtable.runtime.upgrade import from_now
from streamtable.runtime.upgrade.decisions import Action

_NOTHING, _VALUES = FromNow(Lacks.NOTHING), FromNow(Lacks.VALUES)
_ROWS = FromNow(Lacks.ROWS, {"t/0": 3})


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        (None, Action.CONTINUED, _NOTHING),
        (None, Action.EXTENDED_NOW, _VALUES),
        (None, Action.ANEW, FromNow(Lacks.ROWS)),
        (None, Action.REBUILT, None),
        (_NOTHING, Action.EXTENDED, None),
        (_VALUES, Action.EXTENDED, _VALUES),
        (_VALUES, Action.REBUILT, None),
        (_VALUES, Action.CONTINUED, _VALUES),
        (_ROWS, Action.CONTINUED, FromNow(Lacks.ROWS)),
        (_ROWS, Action.ANEW, FromNow(Lacks.ROWS)),
        (_ROWS, Action.REBUILT, None),
    ],
)
def test_what_the_state_lacks(
    before: FromNow | None, action: Action, after: FromNow | None
) -> None:
    noted = from_now.noted(RecordedQuery((), "", (), from_now=before), action)
    assert noted.from_now == after
    assert RecordedQuery.from_json(noted.to_json()).from_now == after
