"""A changelog folded into the rows that are left."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from streamtable.api.fold import Folded
from streamtable.core.changelog import RowKind

_KINDS = {"+I": RowKind.INSERT, "-U": RowKind.UPDATE_BEFORE, "+U": RowKind.UPDATE_AFTER}
_KINDS["-D"] = RowKind.DELETE

#: Two instants in the hour that the end of daylight saving time repeats.
_FIRST = datetime.datetime(2025, 10, 26, 2, 30)
_AGAIN = _FIRST.replace(fold=1)


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ([], []),
        ([("+I", 1), ("+I", 1), ("+I", 2), ("-D", 1)], [1, 2]),
        ([("+I", 1), ("-U", 1), ("+U", 2)], [2]),
        # An update-before may arrive before the insert of an equal row.
        ([("-U", 1), ("+U", 2), ("+I", 1)], [2]),
        ([("+I", math.nan), ("-D", math.nan)], []),
        ([("+I", 0.0), ("+I", [0.0]), ("-D", -0.0), ("-D", [0.0])], [0.0]),
        ([("+I", {"a": [1]}), ("+I", {"a": [2]}), ("-D", {"a": [1]})], [{"a": [2]}]),
        ([("+I", bytearray(b"x")), ("-D", bytearray(b"x"))], []),
        ([("+I", [_FIRST]), ("+I", [_AGAIN]), ("-D", [_FIRST])], [[_AGAIN]]),
        ([("+I", None), ("+I", (1, None)), ("-D", None)], [(1, None)]),
    ],
)
def test_folded_changes_give_the_final_rows(
    changes: list[tuple[str, Any]], rows: list[Any]
) -> None:
    folded = Folded()
    for kind, value in changes:
        folded.add(_KINDS[kind], (value,))
    assert [value for (value,) in folded.rows()] == rows
