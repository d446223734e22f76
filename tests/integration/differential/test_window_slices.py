"""Windows that share slices, and merged sessions, over out-of-order, equal and late rows."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from streamtable.plan.rules.tree import every
from streamtable.plan.window.window_aggregate import MergedWindowAggregate
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold, bag
from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Changes, Replay
from streamtable.testing.replayed import Replayed, Style
from streamtable.testing.timed_queries import BOUNDS, COMPUTED, EPOCH_MS, Window, windows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_PHASES = "table.optimizer.agg-phase-strategy"
_CALLS = (
    "COUNT(*), COUNT(v), SUM(v), MIN(g), MAX(v), SUM(v) FILTER (WHERE v > 3),"
    " ROUND(VAR_POP(CAST(v AS DOUBLE)), 6), ROUND(VAR_SAMP(CAST(v AS DOUBLE)), 6),"
    " SUM(CAST(v AS DECIMAL(9, 2))), {}"
)
_TIME = ", MAX(ts)"
#: Windows with distinct values are not merged.
_DISTINCT = f"{_TIME}, COUNT(DISTINCT v)"
_WATERMARK_MS = 2_000


def _table(seed: int, batches: int) -> Replayed:
    """Generate batches; `passed` is the watermark in milliseconds before a row's batch."""
    dice = random.Random(seed)
    clock, history = EPOCH_MS + 60_000, list[Change]()
    for i in range(90):
        clock += dice.choice([0, 100, 900, 3_000])
        moment = clock - dice.randrange(30_000 if i > 10 and dice.random() < 0.3 else 1_500)
        value = dice.choice([None, *range(9)])
        values = {"t": moment, "g": dice.choice(["a", "b", None]), "v": value}
        history.append(Change(i if i < 2 else dice.randrange(20), values))
    cut = pieces(history, [2, *(2 + end for end in random_cuts(seed, 88, batches))])
    # All windows end before the last rows.
    cut.append([Change(k, {"t": clock + 10**6, "g": "a", "v": 1}) for k in range(2)])
    latest: dict[int, int] = {}
    told = []
    for piece in cut:
        passed = min(latest.values()) - _WATERMARK_MS if latest else 0
        told.append([Change(c.key, {**(c.values or {}), "passed": passed}) for c in piece])
        for change in piece:
            moment = (change.values or {})["t"]
            latest[change.key % 2] = max(moment, latest.get(change.key % 2, 0))
    columns = "k INT, t BIGINT, g STRING, v INT, passed BIGINT"
    return Replayed(Style.APPEND, columns, told, COMPUTED)


def _case(table: Replayed, window: Window, keys: str, more: str = "") -> Case:
    flink, spark = window.of("w")
    average = ("AVG(v)", "SUM(v) DIV COUNT(v)")
    items = [keys + _CALLS.format(call) + more for call in average]
    query = (
        f"SELECT {', '.join(BOUNDS.flink)}, {items[0]} FROM TABLE({flink})"
        f" GROUP BY {keys}window_start, window_end"
    )
    node = planned(query, {"w": table})
    fields = [column.field for column in node.columns]
    batch = (
        f"SELECT {', '.join(BOUNDS.spark)}, {items[1]} FROM {spark}"
        f" WHERE we - 1 > passed GROUP BY {keys}ws, we"
    )
    return Case(sink(fields), query, batch)


def _merges(replay: Replay, case: Case) -> bool:
    nodes = every(replay.plan(case).input)
    return any(isinstance(node, MergedWindowAggregate) for node in nodes)


@pytest.mark.parametrize("reached", [False, True])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 40))]
)
def test_slices_equal_the_batch_answer(seed: int, reached: bool, spark: SparkSession) -> None:
    """In Spark's answer, a row is in each of its windows that the watermark had not passed."""
    dice = random.Random(seed)
    table = _table(seed, dice.choice([4, 12, 30]))
    phases = dice.choice(["ONE_PHASE", "TWO_PHASE"])
    settings = {"table.local-time-zone": "UTC", _PHASES: phases}
    replay = Replay(spark, {"w": table}, settings, in_memory=True, reached=reached)
    whole = replace(table, batches=[[change for batch in table.batches for change in batch]])
    cases = [
        _case(table, windows(size, step)[name], keys)
        for size, step in ((10, 5), (12, 3))
        for name in ("HOP", "CUMULATE")
        for keys in ("g, ", "")
    ]
    assert all(_merges(replay, case) for case in cases)
    assert _late_rows(table) > 1
    (answers,) = Replay(spark, {"w": whole}, settings).answers(cases)
    for number, (case, changes) in enumerate(zip(cases, replay.changes(cases), strict=True)):
        fold = Fold(case.key)
        for kind, row in (change for batch in changes for change in batch):
            fold.add(kind, row)
        assert fold.rows() == bag(answers[number]), f"seed {seed}, {phases}: {case.flink}"


@pytest.mark.parametrize(
    "seed", [51, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(52, 60))]
)
def test_windows_with_and_without_distinct_values_are_equal(
    seed: int, spark: SparkSession, tmp_path: Path
) -> None:
    """Both kinds of windows are equal, over a restart.

    With distinct values, windows share no slices, and sessions keep their rows.
    """
    dice = random.Random(seed)
    table = _table(seed, 4)
    found = windows(10, 5)
    names = ("HOP", "CUMULATE", "SESSION")
    cases = [_case(table, found[n], "g, ", more) for n in names for more in (_TIME, _DISTINCT)]
    settings = {"table.local-time-zone": "UTC"}
    replay = Replay(spark, {"w": table}, settings)
    assert [_merges(replay, case) for case in cases] == [True, False] * len(names)
    first = replace(table, batches=table.batches[: dice.randrange(2, 5)])
    changes = Replay(spark, {"w": first}, settings).changes_in(cases, tmp_path)
    shutil.rmtree(tmp_path / "w")
    after = replay.changes_in(cases, tmp_path)
    both = [_rows(before) + _rows(rest) for before, rest in zip(changes, after, strict=True)]
    for name, merged, other in zip(names, both[::2], both[1::2], strict=True):
        assert merged == Counter({row[:-1]: n for row, n in other.items()}), f"{name}, seed {seed}"
        assert merged.total() > 10, name
        assert set(merged.values()) == {1}, f"each window once: {name}"


def _rows(changes: list[Changes]) -> Counter[tuple[object, ...]]:
    return Counter((kind, *row) for batch in changes for kind, row in batch)


def _late_rows(table: Replayed) -> int:
    """Return the number of rows that are late for a window of six seconds."""
    rows = [change.values or {} for batch in table.batches for change in batch]
    return sum(v["t"] - v["t"] % 6_000 + 6_000 - 1 <= v["passed"] for v in rows)
