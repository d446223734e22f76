"""Several INSERTs into one topic: a changed INSERT is compared together with the other INSERTs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.upgrade.support import (
    COUNTS,
    GUARANTEES,
    Jobs,
    LossOfPower,
    events,
    power_lost,
)

from streamtable.core.errors import StreamtableError
from streamtable.runtime.upgrade import steps
from streamtable.runtime.upgrade.shadow import Shadow

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

ODD = COUNTS.replace(" GROUP", " WHERE MOD(g, 2) = 1 GROUP")
EVEN = COUNTS.replace(" GROUP", " WHERE MOD(g, 2) = 0 GROUP")
#: Stateless queries. Their keys are ids, not the groups of `ODD`.
EVEN_IDS = "INSERT INTO counts SELECT id, g FROM t WHERE MOD(id, 2) = 0;"
LATER_IDS = "INSERT INTO counts SELECT id + 100, g FROM t;"
#: The rows of this query depend on the clock.
BY_CLOCK = (
    "INSERT INTO counts SELECT g, COUNT(*) OVER (PARTITION BY g ORDER BY p)"
    " FROM (SELECT g, PROCTIME() AS p FROM t WHERE MOD(g, 2) = 0);"
)


def _more(insert: str) -> str:
    return insert.replace("COUNT(*)", "COUNT(*) + 100")


def _counted(end: int, extra: Callable[[int], int]) -> dict[int, dict[str, int]]:
    """Return the rows of `counts` after `end` events, plus `extra` for the count of each group."""
    found = Counter(event["g"] for event in events(0, end))
    return {g: {"g": g, "n": n + extra(g)} for g, n in found.items()}


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_keys_of_the_other_insert_are_kept(
    guarantee: str,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = Jobs(spark, broker.bootstrap_servers, topic("upgrade"), tmp_path / "c", guarantee)
    jobs.send(events(0, 20))
    jobs.run(ODD, EVEN)
    before = jobs.written("counts")
    planned = jobs.upgrade(_more(ODD), EVEN, plan=True)
    assert any(line.startswith("counts: extended: ") for line in planned), planned
    target = f"topic '{jobs.source}-counts'"
    reason = f"counts-2: extended: writes to {target}, as counts does, which was changed"
    assert reason in planned

    places = (Shadow, "restore", 2), (steps, "compare", 1), (steps, "write", 1)
    for owner, name, calls in places:
        lost = power_lost(monkeypatch, owner, name, afterwards=True, calls=calls)
        with lost, pytest.raises(LossOfPower):
            jobs.upgrade(_more(ODD), EVEN)
    jobs.upgrade(_more(ODD), EVEN)
    # One record for each odd group.
    assert sorted(key["g"] for key, _ in jobs.written("counts")[len(before) :]) == [1, 3]
    assert jobs.folded("counts") == _counted(20, lambda g: 100 * (g % 2))
    jobs.upgrade(ODD, EVEN, rollback=True)
    assert jobs.folded("counts") == _counted(20, lambda _: 0)
    jobs.send(events(20, 30))
    jobs.run(ODD, EVEN)
    assert jobs.folded("counts") == _counted(30, lambda _: 0)

    # Now both INSERTs are changed, then one is removed, and one is added.
    jobs.upgrade(_more(ODD), _more(EVEN))
    jobs.send(events(30, 40))
    jobs.run(_more(ODD), _more(EVEN))
    assert jobs.folded("counts") == _counted(40, lambda _: 100)
    jobs.upgrade(ODD)
    odd = {g: row for g, row in _counted(40, lambda _: 0).items() if g % 2}
    assert jobs.folded("counts") == odd
    jobs.upgrade(ODD, EVEN_IDS)
    ids = {e["id"]: {"g": e["id"], "n": e["g"]} for e in events(0, 40) if e["id"] % 2 == 0}
    assert jobs.folded("counts") == odd | ids
    jobs.upgrade(_more(ODD), EVEN_IDS, LATER_IDS)
    odd = {g: {"g": g, "n": row["n"] + 100} for g, row in odd.items()}
    assert jobs.folded("counts") == odd | ids
    jobs.run(_more(ODD), EVEN_IDS, LATER_IDS)
    later = {e["id"] + 100: {"g": e["id"] + 100, "n": e["g"]} for e in events(0, 40)}
    assert jobs.folded("counts") == odd | ids | later


def test_rows_of_the_same_key(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """The topic keeps its row of a key if one of the INSERTs still produces this row."""
    source = topic("upgrade")
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "at-least-once")
    jobs.send(events(0, 20))
    both = COUNTS, COUNTS.replace("COUNT(*)", "COUNT(*) + 7")
    jobs.run(*both)
    before = jobs.folded("counts")
    changed = both[0].replace(" GROUP", " WHERE g < 9 GROUP"), both[1]
    said = jobs.upgrade(*changed)
    assert any("counts and counts-2: of 5 keys" in line and ", 0 get" in line for line in said)
    assert jobs.folded("counts") == before
    jobs.upgrade(changed[0], both[1].replace("7", "8"))
    rows: dict[Any, dict[str, Any]] = jobs.folded("counts")
    assert all(row["n"] in (4, 12) for row in rows.values()), rows


def test_the_other_insert_cannot_be_rebuilt(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("upgrade")
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "at-least-once")
    jobs.send(events(0, 20))
    odd = ODD.replace("COUNT(*)", "MAX(v)")
    jobs.run(ODD, BY_CLOCK)
    planned = jobs.upgrade(odd, BY_CLOCK, plan=True)
    why = f"counts-2 writes to topic '{source}-counts', too, and the results of"
    assert any(line.startswith("counts: impossible: ") and why in line for line in planned), planned
    with pytest.raises(StreamtableError, match="counts-2 writes to topic"):
        jobs.upgrade(odd, BY_CLOCK)
    before = jobs.written("counts")
    said = jobs.upgrade(odd, BY_CLOCK, from_now=True)
    assert "counts-2: kept: continues" in said
    assert jobs.written("counts") == before
