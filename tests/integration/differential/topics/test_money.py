"""Transfers only move money: all balances add up to zero after every micro-batch."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold
from streamtable.testing.histories import Change, pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ACCOUNTS = 10
_BALANCES = (
    "SELECT account, SUM(amount) AS balance FROM ("
    "SELECT payee AS account, amount FROM transfers"
    " UNION ALL SELECT payer, -amount FROM transfers) AS both_sides GROUP BY account"
)
_TOTAL = f"SELECT SUM(balance) AS total, COUNT(*) AS accounts FROM ({_BALANCES}) AS balances"


def _transfers(length: int) -> list[Change]:
    """Return transfers, their corrections and cancellations, some of them of unknown transfers."""
    dice = random.Random(length)
    history = []
    for number in range(length):
        known = number if dice.random() < 0.7 else dice.randrange(max(1, number + 5))
        payer, payee = dice.sample(range(_ACCOUNTS), 2)
        values: dict[str, Any] = {"payer": payer, "payee": payee, "amount": dice.randrange(1, 1000)}
        history.append(Change(known, None if dice.random() < 0.15 else values))
    return history


@pytest.mark.parametrize(
    "length", [20_000, pytest.param(1_000_000, marks=pytest.mark.soak, id="a million")]
)
@pytest.mark.parametrize("style", [Style.UPSERT, Style.CHANGES])
def test_total_is_zero_after_every_batch(length: int, style: Style, spark: SparkSession) -> None:
    history = _transfers(length)
    batches = pieces(history, random_cuts(length, length, 6))
    columns = "k BIGINT, payer INT, payee INT, amount BIGINT"
    tables = {"transfers": Replayed(style, columns, batches)}
    cases = []
    for query, key in ((_BALANCES, (0,)), (_TOTAL, None)):
        fields = [column.field for column in planned(query, tables).columns]
        cases.append(Case(sink(fields, key), query, query, key))
    balances, totals = Fold((0,)), Fold(None)
    changed, counted = Replay(spark, tables).changes(cases)
    assert len(changed) == len(batches)
    for number, (rows, total) in enumerate(zip(changed, counted, strict=True)):
        for fold, changes in ((balances, rows), (totals, total)):
            for kind, row in changes:
                fold.add(kind, row)
        assert sum(balance for _, balance in balances.values()) == 0, f"after batch {number}"
        assert list(totals.values()) == [[0, _ACCOUNTS]], f"after batch {number}"
    assert RowKind.UPDATE_AFTER in {kind for batch in changed for kind, _ in batch}
    assert dict(balances.values()) == _expected(history)


def _expected(history: list[Change]) -> dict[int, int]:
    live = {change.key: change.values for change in history}
    found = dict.fromkeys(range(_ACCOUNTS), 0)
    for values in live.values():
        if values is not None:
            found[values["payee"]] += values["amount"]
            found[values["payer"]] -= values["amount"]
    return found
