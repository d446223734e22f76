"""Retractions that differ from their rows, because of clock values or partial change events.

If the plan knows a unique key of the rows, such a retraction removes the row with its key.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.compat.ttl.ttl_queries import TIMED

from streamtable.core.changelog import RowKind
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_KEY = "PRIMARY KEY (k) NOT ENFORCED"
_Batches = list[list[tuple[RowKind, Any]]]

#: Joins whose side `a` has one row per join key, or several rows by their key, and other operators
#: that store the rows of `a`.
_BY_KEY = (
    "SELECT a.k, a.v, b.v FROM a JOIN b ON a.k = b.k",
    "SELECT a.k, a.v, b.v FROM a JOIN b ON a.g = b.k",
    "SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON a.g = b.k AND a.v < b.v",
    "SELECT a.k, a.v, -b.v FROM a FULL JOIN b ON a.k = b.k AND a.v < b.v",
    "SELECT a.k, a.v FROM a WHERE a.g IN (SELECT k FROM b)",
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, k) AS n FROM a) WHERE n <= 2",
    "SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v, k) AS n FROM a) WHERE n <= 3",
    (
        "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v) AS n FROM a)"
        " WHERE n = 1"
    ),
    "SELECT k, v, SUM(v) OVER (PARTITION BY g ORDER BY v) FROM a",
    "SELECT k, COUNT(*) OVER (ORDER BY v) FROM a",
)
_TEMPORAL = (
    "SELECT a.k, a.v, b.v FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.g = b.k",
    "SELECT a.k, b.v FROM a JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.g = b.k AND a.v < 50",
)
#: Joins that emit rows of `a` with a NULL join key. They do not store such rows, which never match.
_BY_NULL = (
    "SELECT a.k, a.v, b.v FROM a LEFT JOIN b ON NULLIF(a.g, a.g) = b.k",
    "SELECT a.k, a.v, b.v FROM b RIGHT JOIN a ON NULLIF(a.g, a.g) = b.k AND a.v < b.v",
    "SELECT a.k, a.v, b.v FROM a FULL JOIN b ON NULLIF(a.g, a.g) = b.k",
    "SELECT k, v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = NULLIF(a.g, a.g))",
)
#: Aggregates subtract the values of a retraction. MAX does not have such a value to remove.
_SESSIONS = (
    (
        "SELECT g, COUNT(*), MAX(v) FROM TABLE(SESSION(TABLE a PARTITION BY g, DESCRIPTOR(ts),"
        " INTERVAL '10' SECOND)) GROUP BY g, window_start, window_end"
    ),
)
#: Name -> changes of column v of one row of table a in each batch, and the last v; None: no row.
_INEXACT: dict[str, tuple[list[str], int | None]] = {
    "deleted": (["+I 10", "-D 99"], None),
    "deleted twice": (["+I 10", "-D 10 -D 10"], None),
    "updated": (["+I 10", "-U 99 +U 11"], 11),
    "updated to the same": (["+I 10", "-U 99 +U 10"], 10),
    "updated twice": (["+I 10", "-U 99 +U 11 -U 98 +U 12"], 12),
    "updated and deleted": (["+I 10", "-U 99 +U 11 -D 98"], None),
    "deleted in its batch": (["+I 10 -U 99 +U 11 -D 98"], None),
    "updated in its batch": (["+I 10 -U 99 +U 11"], 11),
    "updated before it is known": (["-U 99 +U 10"], 10),
    "deleted before it is known": (["-D 99", "+I 10"], 10),
}
#: The same as `_INEXACT`, for rows that are retracted and added again.
_RETURNED: dict[str, tuple[list[str], int | None]] = {
    "updated to the same before it is known": (["-U 10 +U 10"], 10),
    "inserted again before it is known": (["-D 10 +I 10", "-U 10 +U 11"], 11),
    "deleted after it": (["-U 10 +U 10 -D 10"], None),
    "deleted later": (["-U 10 +U 10", "-D 10"], None),
    "updated after it": (["-U 10 +U 10 -U 10 +U 11"], 11),
    "updated and back": (["-U 10 +U 11 -U 11 +U 10"], 10),
    "updated to the same": (["+I 10", "-U 10 +U 10"], 10),
    "updated to the same in its batch": (["+I 10 -U 10 +U 10"], 10),
}
#: The same as `_RETURNED`; the retraction differs from the stored row and removes it by its key.
_RETURNED_BY_KEY: dict[str, tuple[list[str], int | None]] = {
    "updated to another": (["+I 10", "-U 99 +U 99"], 99),
    "updated twice": (["+I 10", "-U 99 +U 99 -U 99 +U 12"], 12),
    "updated to another and deleted": (["+I 10", "-U 99 +U 99 -D 98"], None),
}
_ALL_RETURNED = {**_RETURNED, **_RETURNED_BY_KEY}
_KINDS = {kind.short: kind for kind in RowKind}


def _changes(
    *, known: bool = False, cases: Mapping[str, tuple[list[str], int | None]] = _INEXACT
) -> tuple[_Batches, list[tuple[int, int, int]]]:
    """Return the changes of k, g and v in each batch, and the rows that remain.

    Args:
        known: whether to leave out retractions without a row.
        cases: the changes of each row, and the last v.
    """
    changes: _Batches = [[], [], []]
    left = []
    for k, (name, (batches, last)) in enumerate(cases.items()):
        if known and ("before it is known" in name or ("twice" in name and last is None)):
            continue
        for number, batch in enumerate(batches):
            words = batch.split()
            for kind, value in zip(words[::2], words[1::2], strict=True):
                changes[number].append((_KINDS[kind], (k, k, int(value))))
        if last is not None:
            left.append((k, k, last))
    return changes, left


def _cases(queries: tuple[str, ...], tables: dict[str, Recorded]) -> list[Case]:
    return [
        Case(sink([column.field for column in planned(query, tables).columns]), query, query)
        for query in queries
    ]


def _net(
    spark: SparkSession,
    tables: dict[str, Recorded],
    queries: tuple[str, ...],
    settings: dict[str, str],
) -> dict[str, Counter[str]]:
    """Return the rows of each query at the end, with their counts."""
    found = {}
    replay = Replay(spark, tables, settings, in_memory=True)
    for query, batches in zip(queries, replay.changes(_cases(queries, tables)), strict=True):
        net: Counter[str] = Counter()
        for kind, row in (change for batch in batches for change in batch):
            net[json.dumps(row)] += -1 if kind.removes else 1
        found[query] = Counter({row: count for row, count in net.items() if count})
    return found


@pytest.mark.parametrize("ttl", ["0 s", "1 d"])
def test_a_retraction_removes_the_row_with_its_key(ttl: str, spark: SparkSession) -> None:
    """Retractions may differ from the rows that they retract, for example in clock values."""
    settings = {"table.exec.state.ttl": ttl}
    changes, left = _changes()
    keys = range(len(_INEXACT))
    old, new = ([(k, 0, v) for k in keys] for v in (20, 30))
    # The other side changes at the end, so that the join reads all stored rows.
    others = [
        [(RowKind.INSERT, row) for row in old],
        [],
        [(RowKind.UPDATE_BEFORE, row) for row in old]
        + [(RowKind.UPDATE_AFTER, row) for row in new],
    ]

    def net(a: _Batches, b: _Batches) -> dict[str, Counter[str]]:
        tables = {
            name: Recorded(Style.CHANGES, "k INT, g INT, v INT", batches, _KEY)
            for name, batches in (("a", a), ("b", b))
        }
        return _net(spark, tables, _BY_KEY, settings)

    found = net(changes, others)
    expected = net([_inserted(left)], [_inserted(new)])
    for query in _BY_KEY:
        # With a state TTL, an unknown row may have expired, so the operator retracts its output.
        rows = found[query] if ttl == "0 s" else +found[query]
        assert rows == expected[query], query


@pytest.mark.parametrize(
    ("cases", "key"),
    [
        pytest.param(_ALL_RETURNED, _KEY, id="by key"),
        pytest.param(_RETURNED, "", id="without a key"),
    ],
)
def test_unknown_rows_may_be_retracted_and_added(
    cases: Mapping[str, tuple[list[str], int | None]], key: str, spark: SparkSession
) -> None:
    """Change events without a snapshot begin with updates, which may change no used column."""
    changes, left = _changes(cases=cases)
    others = [(RowKind.INSERT, (k, 0, 20)) for k in range(len(cases))]

    def net(a: _Batches) -> dict[str, Counter[str]]:
        tables = {
            "a": Recorded(Style.CHANGES, "k INT, g INT, v INT", a, key),
            "b": Recorded(Style.CHANGES, "k INT, g INT, v INT", [others], _KEY),
        }
        return _net(spark, tables, _BY_KEY, {})

    found, expected = net(changes), net([_inserted(left)])
    for query in _BY_KEY:
        assert found[query] == expected[query], query


@pytest.mark.parametrize("key", [pytest.param(_KEY, id="by key"), pytest.param("", id="no key")])
def test_unknown_rows_with_null_join_keys_may_be_retracted_and_added(
    key: str, spark: SparkSession
) -> None:
    """A consumer of the changes ignores retractions of rows that it does not know."""
    batches, left = _changes(cases=_RETURNED)
    columns = "k INT, g INT, v INT"
    tables = {
        "a": Recorded(Style.CHANGES, columns, batches, key),
        "b": Recorded(Style.CHANGES, columns, [[(RowKind.INSERT, (-1, 0, 20))]], _KEY),
    }
    replay = Replay(spark, tables, {}, in_memory=True)
    for query, found in zip(_BY_NULL, replay.changes(_cases(_BY_NULL, tables)), strict=True):
        rows: Counter[tuple[int, int]] = Counter()
        for kind, row in (change for batch in found for change in batch):
            if row[0] is not None:
                rows[row[0], row[1]] = max(0, rows[row[0], row[1]] + (-1 if kind.removes else 1))
        assert +rows == Counter((k, v) for k, _, v in left), query


@pytest.mark.parametrize(
    ("queries", "waits", "cases", "key"),
    [
        pytest.param(_TEMPORAL, True, _INEXACT, _KEY, id="waiting rows of a temporal join"),
        pytest.param(_TEMPORAL, False, _INEXACT, _KEY, id="emitted rows of a temporal join"),
        pytest.param(_TEMPORAL, True, _ALL_RETURNED, _KEY, id="returned to waiting rows"),
        pytest.param(_TEMPORAL, False, _ALL_RETURNED, _KEY, id="returned to emitted rows"),
        pytest.param(_TEMPORAL, True, _RETURNED, None, id="returned to waiting, without a key"),
        pytest.param(_TEMPORAL, False, _RETURNED, None, id="returned to emitted, without a key"),
        pytest.param(_SESSIONS, True, _INEXACT, _KEY, id="sessions"),
    ],
)
def test_a_retraction_removes_the_row_with_its_time_and_key(
    queries: tuple[str, ...],
    waits: bool,
    cases: Mapping[str, tuple[list[str], int | None]],
    key: str | None,
    spark: SparkSession,
) -> None:
    """The watermark passes the rows in the last batch, or in the batch in which they arrive."""
    changes, left = _changes(known=queries is _SESSIONS, cases=cases)

    def net(rows: _Batches) -> dict[str, Counter[str]]:
        timed = [[(kind, (*row, 100)) for kind, row in batch] for batch in rows]
        last = (RowKind.INSERT, (99, 99, 0, 1000))
        timed[-1 if waits else 0].append(last)
        versions = [(RowKind.UPDATE_AFTER, (k, k, 20, 50)) for k in range(len(cases))]
        ends = [versions, *([] for _ in timed[1:])]
        ends[-1 if waits else 0].append((RowKind.UPDATE_AFTER, last[1]))
        columns = "k INT, g INT, v INT, s BIGINT"
        tables = {
            "a": Recorded(Style.CHANGES, columns, timed, ", ".join(filter(None, (TIMED, key)))),
            "b": Recorded(Style.UPSERT, columns, ends, TIMED),
        }
        return _net(spark, tables, queries, {})

    assert net(changes) == net([_inserted(left), []])


def _inserted(rows: list[tuple[int, int, int]]) -> list[tuple[RowKind, Any]]:
    return [(RowKind.INSERT, row) for row in rows]


#: Aggregate over the values 10, 11 and 99 -> its result; 99 is retracted before it is inserted.
_AGGREGATES = {
    "PERCENTILE(v, 0.5)": 11.0,
    "LISTAGG(CAST(v AS STRING))": "10,11,99",
    "COUNT(DISTINCT v)": 3,
    "MAX(v)": 99,
}


def test_a_retraction_of_an_unknown_value_hides_no_later_value(spark: SparkSession) -> None:
    batches = [
        [(RowKind.INSERT, (1, 1, 10)), (RowKind.INSERT, (2, 1, 11))],
        [(RowKind.DELETE, (3, 1, 99)), (RowKind.INSERT, (4, 1, None))],
        [(RowKind.INSERT, (5, 1, 99)), (RowKind.INSERT, (6, 1, None))],
    ]
    tables = {"a": Recorded(Style.CHANGES, "k INT, g INT, v INT", batches, _KEY)}
    collected = "(SELECT COLLECT(v) AS m FROM a GROUP BY g) AS x CROSS JOIN UNNEST(m)"
    queries = (
        *(f"SELECT {call} FROM a GROUP BY g" for call in _AGGREGATES),
        f"SELECT COUNT(*) FROM {collected}",
    )
    found = _net(spark, tables, queries, {})
    results = [json.loads(row)[0] for query in queries for row in found[query]]
    assert results == [*_AGGREGATES.values(), 3]


#: Name -> changes of v of one group in each batch, and the changes that the group's SUM emits.
_BEGINNINGS: dict[str, tuple[list[str], str]] = {
    "updated before it is known": (["-U 1 +U 2"], "+I 2"),
    "updated twice": (["-U 1 +U 2 -U 2 +U 3"], "+I 3"),
    "updated again": (["-U 1 +U 2", "-U 2 +U 3"], "+I 2 -U 2 +U 3"),
    "deleted and inserted": (["-D 1 +I 3"], "+I 3"),
    "inserted, deleted and updated": (["+I 1 -D 1 -U 4 +U 5"], "+I 5"),
    "known, deleted and updated": (["+I 1", "-D 1 -U 4 +U 5"], "+I 1 -U 1 +U 5"),
    "deleted before it is known": (["-D 1"], ""),
    "deleted twice": (["-D 1", "-D 1 -D 1"], ""),
    "inserted and deleted": (["+I 1 -D 1"], ""),
}
_GROUPED = {
    "raw": "SELECT k, SUM(v) FROM a GROUP BY k",
    "filtered": "SELECT k, SUM(v) FROM (SELECT * FROM a WHERE v < 9) GROUP BY k",
    "united": "SELECT k, SUM(v) FROM (SELECT * FROM a UNION ALL SELECT * FROM b) GROUP BY k",
    "ordered": "SELECT k, SUM(v), LAST_VALUE(v) FROM a GROUP BY k",
    "unmatched": "SELECT a.k, SUM(v) FROM a LEFT JOIN c ON a.n = c.n GROUP BY a.k",
    "distinct": "SELECT k, SUM(DISTINCT v) FROM a GROUP BY k",
}


@pytest.mark.parametrize("ttl", ["0 s", "1 d"])
def test_a_group_without_rows_ignores_retractions(ttl: str, spark: SparkSession) -> None:
    batches: _Batches = [[], []]
    for k, (changes, _) in enumerate(_BEGINNINGS.values()):
        for number, batch in enumerate(changes):
            words = batch.split()
            for kind, value in zip(words[::2], words[1::2], strict=True):
                batches[number].append((_KINDS[kind], (k, None, int(value))))
    tables = {
        "a": Recorded(Style.CHANGES, "k INT, n INT, v INT", batches, _KEY),
        "b": Recorded(Style.CHANGES, "k INT, n INT, v INT", [[], []], _KEY),
        "c": Recorded(Style.UPSERT, "k INT, n INT", [[], []]),
    }
    cases = _cases(tuple(_GROUPED.values()), tables)
    replay = Replay(spark, tables, {"table.exec.state.ttl": ttl}, in_memory=True)
    for name, found in zip(_GROUPED, replay.changes(cases), strict=True):
        emitted = [""] * len(_BEGINNINGS)
        for kind, row in (change for batch in found for change in batch):
            emitted[row[0]] += f" {kind.short} {json.dumps(row[1])}"
        expected = {case: changes for case, (_, changes) in _BEGINNINGS.items()}
        assert dict(zip(_BEGINNINGS, map(str.strip, emitted), strict=True)) == expected, name


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("SELECT v, g FROM a", id="of a topic"),
        pytest.param(
            "WITH d (n, name) AS (SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS d (n, name)),"
            " x AS (SELECT *, PROCTIME() AS p FROM a)"
            " SELECT x.v, x.g FROM x JOIN d FOR SYSTEM_TIME AS OF x.p ON x.g = d.n",
            id="behind a lookup join",
        ),
        pytest.param(
            "WITH d (n, name) AS (SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS d (n, name)),"
            " x AS (SELECT *, PROCTIME() AS p FROM a)"
            " SELECT x.k, x.v FROM x JOIN d FOR SYSTEM_TIME AS OF x.p ON x.g = d.n",
            id="by the key of the rows",
        ),
    ],
)
def test_a_sink_materializer_ignores_retractions_of_unknown_rows(
    query: str, spark: SparkSession
) -> None:
    """The update of key 1 changes no used column; the row of key 2 is deleted and inserted."""
    batch = [("-U", 1, 5), ("+U", 1, 5), ("-D", 2, 6), ("+I", 2, 6), ("-D", 3, 7)]
    changes = [[(_KINDS[kind], (k, k, v)) for kind, k, v in batch]]
    tables = {"a": Recorded(Style.CHANGES, "k INT, g INT, v INT", changes, _KEY)}
    fields = [column.field for column in planned(query, tables).columns]
    replay = Replay(spark, tables, in_memory=True)
    ((emitted,),) = replay.changes([Case(sink(fields, (0,)), query, query)])
    expected = [[1, 5], [2, 6]] if fields[0].name == "k" else [[5, 1], [6, 2]]
    assert sorted(row for kind, row in emitted if not kind.removes) == expected
