"""Temporal joins whose left rows are updated and deleted, compared with a join of all versions.

The updates come before and after the watermark has passed a row. An update keeps the time of the
row, or moves the row to a time that the watermark has not passed.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.compat.ttl.ttl_queries import TIMED

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.folding import Fold, bag
from streamtable.testing.histories import Change, Values, pieces, random_cuts
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BATCHES, _KEYS = 7, 40
_LEFT = "k INT, g INT, h INT, v INT, s BIGINT"
_VERSIONS = "k INT, v INT, s BIGINT"
#: Only deletes have no g, so their divisor is 0: the division must not run for them.
_DIVIDED = TIMED.replace("s * 1000", "0 / COALESCE(g + 1, 0) + s * 1000")
_AS_OF = "FOR SYSTEM_TIME AS OF o.ts"
#: The version of left rows at their time, by one of their columns, from the table of all versions.
_AT = (
    "(SELECT y.k AS k, max_by(h.v, h.s) AS v FROM {0} AS y JOIN h ON y.{1} = h.k AND h.s <= y.s"
    " GROUP BY y.k)"
)

#: Queries in Flink's and in Spark's SQL over a table of upserts.
_BY_KEY = (
    (
        f"SELECT o.k, o.v, p.v FROM {{0}} AS o JOIN p {_AS_OF} ON o.g = p.k",
        "SELECT o.k, o.v, a.v FROM {0} AS o JOIN {at_g} AS a ON o.k = a.k",
    ),
    # With the inner join first, a row whose condition becomes true after the watermark would be
    # emitted late.
    (
        (
            f"SELECT o.k, a.v, b.v FROM {{0}} AS o LEFT JOIN p {_AS_OF} AS a"
            f" ON o.g = a.k AND o.v <> a.v JOIN p {_AS_OF} AS b ON MOD(o.h + 1, 3) = b.k"
        ),
        (
            "SELECT o.k, a.v, b.v FROM {0} AS o LEFT JOIN {at_g} AS a"
            " ON o.k = a.k AND o.v <> a.v JOIN {at_h} AS b ON o.k = b.k"
        ),
    ),
)
#: The same over change events. An update of a row may change whether the row has a match.
_CHANGES = (
    (
        f"SELECT o.k, o.v, p.v FROM {{0}} AS o LEFT JOIN p {_AS_OF} ON o.g = p.k AND o.v < p.v",
        "SELECT o.k, o.v, a.v FROM {0} AS o LEFT JOIN {at_g} AS a ON o.k = a.k AND o.v < a.v",
    ),
    (
        (
            f"SELECT p.v, COUNT(*), SUM(o.v) FROM {{0}} AS o LEFT JOIN p {_AS_OF} ON o.g = p.k"
            " GROUP BY p.v"
        ),
        (
            "SELECT a.v, COUNT(*), SUM(o.v) FROM {0} AS o LEFT JOIN {at_g} AS a ON o.k = a.k"
            " GROUP BY a.v"
        ),
    ),
)


def _tables(seed: int) -> dict[str, Replayed]:
    dice = random.Random(seed)
    left, versions = [], []
    live: dict[int, Values] = {}
    clock = 60
    for _ in range(240):
        clock += dice.choice([0, 1, 2, 5])
        if dice.random() < 0.3:
            clock += 1
            versions.append(Change(dice.randrange(3), {"v": dice.randrange(6), "s": clock}))
            continue
        key, chance = dice.randrange(_KEYS), dice.random()
        known = live.pop(key, None)
        if known is not None and chance < 0.2:
            left.append(Change(key, None))
            continue
        if known is None or chance < 0.5:
            known = {"g": dice.randrange(4), "h": dice.randrange(4), "s": clock}
        live[key] = {**known, "v": dice.randrange(6)}
        left.append(Change(key, live[key]))
    cut = pieces(left, random_cuts(seed, len(left), _BATCHES))
    cut_versions = pieces(versions, random_cuts(seed, len(versions), _BATCHES))
    return {
        "u": Replayed(Style.UPSERT, _LEFT, cut, _DIVIDED),
        "c": Replayed(Style.CHANGES, _LEFT, cut, TIMED),
        "p": Replayed(Style.UPSERT, _VERSIONS, cut_versions, TIMED),
        "h": Replayed(Style.APPEND, _VERSIONS, cut_versions),
    }


def _cases(tables: dict[str, Replayed]) -> list[Case]:
    """Return the cases: upserts go to a sink with their key, change events to a full changelog."""
    found = []
    for left, key, queries in (("u", (0,), _BY_KEY), ("c", None, _CHANGES)):
        ways = {
            "at_g": _AT.format(left, "g"),
            "at_h": _AT.format(left, "h").replace("y.h", "MOD(y.h + 1, 3)"),
        }
        for flink, spark in queries:
            query = flink.format(left)
            fields = [column.field for column in planned(query, tables).columns]
            found.append(Case(sink(fields, key), query, spark.format(left, **ways), key))
    return found


@pytest.mark.parametrize(
    "seed", [21, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(22, 42))]
)
def test_folded_output_equals_a_join_of_all_versions(seed: int, spark: SparkSession) -> None:
    tables = _tables(seed)
    cases = _cases(tables)
    replay = Replay(spark, tables, in_memory=True)
    *_, answers = replay.answers(cases)
    for number, (case, batches) in enumerate(zip(cases, replay.changes(cases), strict=True)):
        table, kinds = Fold(case.key), Counter[RowKind]()
        for kind, row in (change for batch in batches for change in batch):
            table.add(kind, row)
            kinds[kind] += 1
        assert table.rows() == bag(answers[number]), f"{case.flink}, seed {seed}"
        # Emitted rows have been updated and deleted.
        assert kinds[RowKind.DELETE] + kinds[RowKind.UPDATE_AFTER] > 5, case.flink
