"""Queries continue from a checkpoint of an earlier version, or the checkpoint is refused."""

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


def test_a_stored_checkpoint_continues(spark: SparkSession, tmp_path: Path) -> None:
    """The changes of the last batch lead from the batch answer before it to the answer after it.

    If the checkpoint is refused, a state layout or the meaning of a plan has changed. Then write
    "state reset needed" in the changelog, and record the checkpoint again.
    """
    with zipfile.ZipFile(STORED) as stored:
        stored.extractall(tmp_path)
    rename(tmp_path, PLACE, str(tmp_path))
    replay, given = Replay(spark, tables()), cases()
    checkpoint = open_checkpoint(str(tmp_path), plans(replay))
    checkpoint.close()
    lacking = frozenset().union(*(plan.lacking for plan in checkpoint.queries.plans.values()))
    assert lacking == {"AppendJoin", "PairedJoin"}
    answers = list(replay.answers(given))
    wrong = []
    found = replay.changes_in(given, tmp_path, lacking)
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
