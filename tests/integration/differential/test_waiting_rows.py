"""Rows that the watermark has passed on arrival, and windows when daylight saving time ends."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from streamtable.core.changelog import RowKind
from streamtable.testing.answers import set_for_a_while
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Recorded, Style

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ZONE = "America/New_York"
_TIME = "ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


def _table(*batches: list[tuple[datetime, int]]) -> Recorded:
    rows = [
        [(RowKind.INSERT, (1, int(t.timestamp() * 1000), v)) for t, v in batch] for batch in batches
    ]
    return Recorded(Style.APPEND, "k INT, t BIGINT, v INT", rows, _TIME)


def _rows(spark: SparkSession, tables: Mapping[str, Recorded], queries: list[str]) -> list[Any]:
    """Return the rows of append-only queries, sorted."""
    cases = [Case(sink([c.field for c in planned(q, tables).columns]), q, q) for q in queries]
    settings = {"table.local-time-zone": _ZONE}
    with set_for_a_while(spark, {"spark.sql.session.timeZone": _ZONE}):
        found = Replay(spark, tables, settings, in_memory=True).changes(cases)
    return [
        sorted([row for changes in batches for _, row in changes], key=str) for batches in found
    ]


#: The start of the hour that occurs twice: 01:00:00 EST follows 01:59:59 EDT.
_NIGHT = datetime(2026, 11, 1, 1, tzinfo=ZoneInfo(_ZONE))


def _summer(minute: int) -> datetime:
    return _NIGHT.replace(minute=minute)


def _winter(minute: int) -> datetime:
    return _NIGHT.replace(minute=minute, fold=1)


_COUNTS = (
    "SELECT DATE_FORMAT(window_start, 'HH:mm'), {} FROM TABLE({}) GROUP BY window_start, window_end"
)
_WINDOWS = {
    "TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTE)": {"01:00": 2, "01:20": 1, "03:00": 1},
    "HOP(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)": {
        "01:00": 2,
        "01:05": 2,
        "01:15": 1,
        "01:20": 1,
        "02:55": 1,
        "03:00": 1,
    },
    "CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL '10' MINUTE, INTERVAL '10' MINUTE)": {
        "01:00": 2,
        "01:20": 1,
        "03:00": 1,
    },
    "SESSION(TABLE e, DESCRIPTOR(ts), INTERVAL '5' MINUTE)": {"01:05": 2, "01:20": 1, "03:00": 1},
}


def test_windows_when_daylight_saving_time_ends(spark: SparkSession) -> None:
    """As in Flink, a window in the hour that occurs twice has the rows of both hours."""
    later = _NIGHT.replace(hour=3)
    batches = ([(_summer(5), 1)], [(_summer(20), 2)], [(_winter(5), 3)], [(later, 4)])
    queries = [_COUNTS.format(n, w) for w in _WINDOWS for n in ("COUNT(*)", "COUNT(DISTINCT v)")]
    found = _rows(spark, {"e": _table(*batches)}, queries)
    for query, rows in zip(queries, found, strict=True):
        wanted = next(counts for window, counts in _WINDOWS.items() if window in query)
        assert rows == [[start, count] for start, count in wanted.items()], query


_SUMS = "SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS v FROM {}"
_EARLY = datetime(2026, 3, 1, 10, tzinfo=ZoneInfo(_ZONE))


def _after(*seconds: int) -> list[tuple[datetime, int]]:
    return [(_EARLY + timedelta(seconds=s), s) for s in seconds]


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_interval_joins_of_rows_behind_the_watermark(cut: int, spark: SparkSession) -> None:
    """An interval join of OVER queries, whose rows arrive after the watermark has passed them."""
    events = _after(0, 10, 60, 200)
    tables = {
        "a": _table(events[:cut], events[cut:]),
        "b": _table(events[: cut - 1], events[cut - 1 :]),
    }
    sums = f"({_SUMS.format('a')}) AS a {{}} JOIN ({_SUMS.format('b')}) AS b"
    on = "ON a.k = b.k AND a.ts BETWEEN b.ts AND b.ts + INTERVAL '1' MINUTE"
    queries = [f"SELECT a.v, b.v FROM {sums.format(kind)} {on}" for kind in ("", "LEFT", "FULL")]
    pairs = [[0, 0], [10, 0], [10, 10], [70, 0], [70, 10], [70, 70], [270, 270]]
    assert _rows(spark, tables, queries) == [sorted(pairs, key=str)] * 3


_MINUTES = (
    "(SELECT k, window_time AS t, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts),"
    " INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end, window_time)"
)


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_results_of_windows_are_joined_by_their_times(cut: int, spark: SparkSession) -> None:
    events = _after(0, 10, 60, 200)
    tables = {
        "a": _table(events[:cut], events[cut:]),
        "b": _table(events[: cut - 1], events[cut - 1 :]),
    }
    counts = f"{_MINUTES.format('a')} AS a {{}} JOIN {_MINUTES.format('b')} AS b ON a.k = b.k AND"
    near = f"SELECT a.n, b.n FROM {counts} a.t BETWEEN b.t AND b.t + INTERVAL '1' MINUTE"
    same = f"SELECT a.n, b.n FROM {counts} a.t = b.t"
    queries = [query.format(kind) for query in (near, same) for kind in ("", "LEFT", "FULL")]
    pairs = [[[2, 2], [1, 2], [1, 1], [1, 1]], [[2, 2], [1, 1], [1, 1]]]
    wanted = [sorted(rows, key=str) for rows in pairs for _ in range(3)]
    assert _rows(spark, tables, queries) == wanted


_TUMBLE = (
    "SELECT {} FROM TABLE(TUMBLE({}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
    " GROUP BY window_start, window_end"
)


def test_windows_over_deduplication_and_temporal_joins(spark: SparkSession) -> None:
    """A late row does not fire a window again."""
    batches = (_after(0, 10, 60), _after(200), _after(20, 400), _after(1000))
    versions = [(0, 5), (30, 7), (1000, 9)]
    rates = [
        (RowKind.UPDATE_AFTER, (1, int((_EARLY.timestamp() + s) * 1000), v)) for s, v in versions
    ]
    tables = {
        "a": _table(*batches),
        "r": Recorded(Style.UPSERT, "k INT, t BIGINT, v INT", [rates], _TIME),
    }
    first = (
        "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY MOD(v, 60) ORDER BY ts) AS n"
        " FROM a) WHERE n = 1)"
    )
    rated = (
        "(SELECT a.ts, r.v FROM a LEFT JOIN r FOR SYSTEM_TIME AS OF a.ts AS r ON a.k = r.k"
        " WHERE a.v < 1000)"
    )
    numbered = "(SELECT *, ROW_NUMBER() OVER (ORDER BY ts) AS n FROM a)"
    queries = [
        _TUMBLE.format("COUNT(*), SUM(v)", first),
        _TUMBLE.format("COUNT(*), SUM(v)", rated),
        _TUMBLE.format("COUNT(*), MAX(n)", numbered),
    ]
    assert _rows(spark, tables, queries) == [
        [[1, 200], [1, 400], [2, 10]],
        [[1, 7], [1, 7], [1, 7], [2, 10]],
        [[1, 3], [1, 4], [1, 5], [1, 6], [2, 2]],
    ]


_HOPS = {
    (40, 60): [["00:00", 2], ["00:40", 1], ["02:40", 1], ["03:20", 1], ["59:20", 2]],
    (60, 20): [["00:00", 2], ["01:00", 1]],
}


@pytest.mark.parametrize("hop", _HOPS)
def test_hops_whose_size_is_no_multiple_of_the_slide(
    hop: tuple[int, int], spark: SparkSession
) -> None:
    """Windows of GROUP BY may overlap by any length, or have gaps that leave rows out."""
    window = "(ts, INTERVAL '{}' SECOND, INTERVAL '{}' SECOND)".format(*hop)
    query = f"SELECT DATE_FORMAT(HOP_START{window}, 'mm:ss'), {{}} FROM a GROUP BY HOP{window}"
    queries = [query.format(call) for call in ("COUNT(*)", "COUNT(DISTINCT v)")]
    tables = {"a": _table(_after(0, 10), _after(60, 200))}
    assert _rows(spark, tables, queries) == [_HOPS[hop]] * 2


def test_epoch_numbers_out_of_range_are_null(spark: SparkSession) -> None:
    """As in Flink, years are 0 to 9999. Other numbers are NULL and do not advance the watermark."""
    early = int(_EARLY.timestamp() * 1000)
    ends = (253_402_300_799_999, 253_402_300_800_000, -62_167_219_200_000, -62_167_219_200_001)
    times = [early, early * 1000, early + 10_000, *ends[1::2], early + 100_000]
    rows = [[(RowKind.INSERT, (1, t, i))] for i, t in enumerate(times)]
    bounds = [[(RowKind.INSERT, (1, t, i))] for i, t in enumerate((*ends, 2**63 - 1))]
    tables = {
        "a": Recorded(Style.APPEND, "k INT, t BIGINT, v INT", rows, _TIME),
        "b": Recorded(Style.APPEND, "k INT, t BIGINT, v INT", bounds),
    }
    queries = [
        _TUMBLE.format("COUNT(*), MAX(v)", "(SELECT * FROM a WHERE ts IS NOT NULL)"),
        (
            "SELECT v, TO_TIMESTAMP_LTZ(t, 3) IS NULL, TO_TIMESTAMP_LTZ(t, 0) IS NULL,"
            " TO_TIMESTAMP_LTZ(FLOOR(t / 1000.0), 0) IS NULL FROM b"
        ),
    ]
    windows, found = _rows(spark, tables, queries)
    assert windows == [[1, 5], [2, 2]]
    assert found == [
        [i, outside, True, outside] for i, outside in enumerate((False, True, False, True, True))
    ]


def test_intervals_of_microseconds(spark: SparkSession) -> None:
    """Times with more than three fractional digits are compared with all their digits."""
    micros = ("000100", "000900", "001100", "002500")
    rows = [[(RowKind.INSERT, (1, f"2026-03-01 10:00:00.{n}", i))] for i, n in enumerate(micros)]
    table = Recorded(Style.APPEND, "k INT, ts TIMESTAMP(6), v INT", rows, "WATERMARK FOR ts AS ts")
    on = "ON a.k = b.k AND a.ts > b.ts - INTERVAL '0.001' SECOND AND a.ts <= b.ts"
    query = f"SELECT a.v, b.v FROM a LEFT JOIN b {on}"
    (found,) = _rows(spark, {"a": table, "b": table}, [query])
    assert found == [[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [3, 3]]


def test_sessions_of_rows_behind_the_watermark(spark: SparkSession) -> None:
    """A row that the watermark releases joins a session that the watermark has just passed."""
    rows = _after(0, 240, 236 + 5, 360, 2000)
    tables = {"a": _table(rows[:2], rows[2:3], rows[3:4], rows[4:])}
    query = (
        f"WITH s AS ({_SUMS.format('a')}) SELECT COUNT(*), MAX(v) FROM TABLE(SESSION(TABLE s"
        " PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' MINUTE))"
        " GROUP BY k, window_start, window_end"
    )
    (found,) = _rows(spark, tables, [query])
    assert found == [[1, 2841], [4, 841]]
