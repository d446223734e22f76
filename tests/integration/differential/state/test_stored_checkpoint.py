"""A checkpoint that an earlier version wrote goes on where it stopped, or is refused by name."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from tests.compat.checkpoints.cases import PLACE, SEEN, STORED, cases, plans, rename, tables

from streamtable.core.changelog import RowKind
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.testing.folding import Fold, bag
from streamtable.testing.replay import Replay

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


def test_it_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """What the last batch changes is what the batch answers before and after it differ by.

    Where it is refused, a layout of state or what a plan means has changed: "state reset needed"
    in the changelog, and the checkpoint is to be recorded anew.
    """
    with zipfile.ZipFile(STORED) as stored:
        stored.extractall(tmp_path)
    rename(tmp_path, PLACE, str(tmp_path))
    replay, given = Replay(spark, tables()), cases()
    open_checkpoint(str(tmp_path), plans(replay)).close()
    answers = list(replay.answers(given))
    wrong = []
    found = replay.changes_in(given, tmp_path)
    for number, (case, (changes,)) in enumerate(zip(given, found, strict=True)):
        fold = Fold(case.key)
        for row in answers[SEEN - 1][number]:
            fold.add(RowKind.INSERT, row)
        for kind, row in changes:
            fold.add(kind, row)
        expected = bag(answers[SEEN][number])
        if fold.rows() != expected:
            wrong.append(f"{case.flink}: {fold.rows()}, not {expected}")
    assert not wrong, "\n".join(wrong)
