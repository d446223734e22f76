"""State that history leaves in operators that wait for the watermark or use the clock.

Each history ends with a row of a later day. Operators that wait for the watermark must then have no
state. Operators that use the clock must have the same state as if that row were the only one.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.compat.ttl.ttl_queries import TIMED, TIMED_COLUMNS, VERSIONS_COLUMNS

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

_DAY_S = 86_400
_OVER = "SELECT k, SUM(v) OVER (PARTITION BY g ORDER BY {}) FROM t"
_RANKED = (
    "SELECT k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS n FROM {})"
    " WHERE n = 1"
)
_TUMBLE = "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_BOUNDS = "window_start, window_end"

#: Queries whose state ends by event time.
_PASSING = (
    f"SELECT g, COUNT(DISTINCT v), MIN(v) FROM {_TUMBLE.format('t')} GROUP BY {_BOUNDS}, g",
    (
        "SELECT g, LISTAGG(g) FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL"
        f" '10' SECOND)) GROUP BY {_BOUNDS}, g"
    ),
    (
        "SELECT SUM(v) FROM TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL"
        f" '10' SECOND)) GROUP BY {_BOUNDS}"
    ),
    (
        "SELECT g, COUNT(*) FROM TABLE(SESSION(TABLE t PARTITION BY g, DESCRIPTOR(ts), INTERVAL '2'"
        f" SECOND)) GROUP BY {_BOUNDS}, g"
    ),
    "SELECT k FROM TABLE(SESSION(TABLE t PARTITION BY g, DESCRIPTOR(ts), INTERVAL '2' SECOND))",
    _RANKED.format(_BOUNDS, "v", _TUMBLE.format("t")),
    (
        f"SELECT x.k FROM (SELECT * FROM {_TUMBLE.format('t')}) AS x FULL JOIN (SELECT * FROM"
        f" {_TUMBLE.format('t')}) AS y ON x.window_start = y.window_start AND x.window_end ="
        " y.window_end AND x.v = y.v"
    ),
    (
        "SELECT x.k FROM t AS x FULL JOIN t AS y ON x.g = y.g AND x.ts BETWEEN y.ts - INTERVAL '2'"
        " SECOND AND y.ts"
    ),
    _OVER.format("ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW"),
    # At the end, all versions of u and all rows of d are deleted.
    "SELECT t.k, u.v FROM t LEFT JOIN u FOR SYSTEM_TIME AS OF t.ts ON t.g = u.k",
    "SELECT d.k, u.v FROM d LEFT JOIN u FOR SYSTEM_TIME AS OF d.ts ON d.g = u.k",
)
#: Queries whose state ends by the clock only.
_EXPIRING = (
    _OVER.format("ts"),
    _OVER.format("ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    _OVER.format("v"),
    _OVER.format("PROCTIME()"),
    _OVER.format("PROCTIME() ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    _RANKED.format("g", "ts", "t"),
    _RANKED.format("g", "ts DESC", "t"),
    _RANKED.format("g", "PROCTIME()", "t"),
    _RANKED.format("g", "PROCTIME() DESC", "t"),
    "SELECT t.k, w.v FROM t LEFT JOIN w FOR SYSTEM_TIME AS OF t.ts ON t.g = w.k",
    "SELECT c.k, w.v FROM c LEFT JOIN w FOR SYSTEM_TIME AS OF c.ts ON c.g = w.k",
)
#: The pause after each batch is longer than the TTL, so state expires in one batch without rows.
_PAUSE_S, _TTL = 1.5, "1 s"


def _tables(length: int) -> dict[str, Recorded]:
    """Return tables of rows (t, c, d) and of versions (w, u); rows of d and u are deleted."""
    dice = random.Random(5)
    rows = [(i, dice.choice("abc"), dice.randrange(4), i) for i in range(length)]
    last = [(-1, "z", 0, _DAY_S)]
    versions = [(row[1], row[2], row[3]) for row in rows]
    newest = [("z", 0, _DAY_S)]
    deleted = [(key, None, None) for key in "abcz"]

    def upserts(*batches: list[Any]) -> list[list[tuple[RowKind, Any]]]:
        return [
            [(RowKind.DELETE if row[2] is None else RowKind.UPDATE_AFTER, row) for row in batch]
            for batch in batches
        ]

    added = [[(RowKind.INSERT, row) for row in batch] for batch in (rows, [], last, [], [])]
    gone = [[(RowKind.DELETE, row) for row in batch] for batch in (rows, last)]
    changed = [added[0], [], [*gone[0], *added[2]], gone[1], []]
    return {
        "t": Recorded(Style.APPEND, TIMED_COLUMNS, added, computed=TIMED),
        "c": Recorded(Style.CHANGES, TIMED_COLUMNS, added, computed=TIMED),
        "d": Recorded(Style.CHANGES, TIMED_COLUMNS, changed, computed=TIMED),
        "w": Recorded(
            Style.UPSERT, VERSIONS_COLUMNS, upserts(versions, [], newest, [], []), computed=TIMED
        ),
        "u": Recorded(
            Style.UPSERT,
            VERSIONS_COLUMNS,
            upserts(versions, deleted, newest, deleted, []),
            computed=TIMED,
        ),
    }


def _case(query: str) -> Case:
    fields = [column.field for column in planned(query, _tables(1)).columns]
    return Case(sink(fields), query, query)


def _left(spark: SparkSession, queries: Sequence[str], length: int, ttl: str) -> int:
    settings = {"table.exec.state.ttl": ttl, "table.local-time-zone": "UTC"}
    replay = Replay(spark, _tables(length), settings, _PAUSE_S, in_memory=True)
    return replay.state_size([_case(query) for query in queries])[0]


def test_state_behind_the_watermark_is_removed(spark: SparkSession) -> None:
    assert _left(spark, _PASSING, 40, "0 s") == 0


def test_expired_state_is_removed(spark: SparkSession) -> None:
    left, alone = (_left(spark, _EXPIRING, length, _TTL) for length in (40, 0))
    assert left == alone, {q: [_left(spark, [q], n, _TTL) for n in (40, 0)] for q in _EXPIRING}
    # Without a TTL, each query keeps state of every partition.
    assert _left(spark, _EXPIRING, 40, "0 s") >= left + 3 * len(_EXPIRING)
