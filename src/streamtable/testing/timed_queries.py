"""Random event-time queries in Flink's SQL and in Spark's, over tables of `timed_table`.

A table has the columns k, g, v, and t, the milliseconds of its event time `ts`; no two rows have
the same. No row is late, so the output at the end of the input equals the batch result.
"""

# ruff: noqa: S608 - writing SQL is what this module is for

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from streamtable.testing.histories import Change, Values, pieces, random_cuts
from streamtable.testing.relations import Dialect, Kind, Relation, Sql
from streamtable.testing.replayed import Replayed, Style

#: The start of all event times: 2026-03-01 00:00:00 UTC.
EPOCH_MS = 1_772_323_200_000
_EPOCH = "TIMESTAMP '2026-03-01 00:00:00'"
COMPUTED = "ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND"
_OF_COLUMNS = {"k": Kind.NUMBER, "g": Kind.TEXT, "v": Kind.NUMBER}


def timed_table(
    dice: random.Random, rows: int, batches: int, make: Callable[[random.Random], Values]
) -> Replayed:
    """Generate an append-only table without rows that are late for its watermark."""
    clock, taken, history = EPOCH_MS + 60_000, set[int](), list[Change]()
    for _ in range(rows):
        clock += dice.choice([100, 400, 900, 6_000])
        moment = clock - dice.randrange(1_500)
        while moment in taken:
            moment += 1
        taken.add(moment)
        history.append(Change(dice.randrange(20), {"t": moment, **make(dice)}))
    cuts = random_cuts(dice.randrange(10**9), rows, batches)
    columns = "k INT, t BIGINT, g STRING, v INT"
    return Replayed(Style.APPEND, columns, pieces(history, cuts), COMPUTED)


@dataclass(frozen=True)
class Timed(Relation):
    """An event-time query over its tables."""

    text: Sql

    def sql(self, dialect: Dialect) -> str:
        """Return the generated text."""
        return self.text.of(dialect)

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the relation itself."""
        assert not inputs, "it reads tables"  # noqa: S101
        return self


@dataclass(frozen=True)
class Window:
    """A windowing function over a table; in Spark's SQL with ws and we, in milliseconds."""

    flink: str
    spark: str

    def of(self, table: str) -> tuple[str, str]:
        """Return the windows of a table's rows."""
        return self.flink.format(table=table), self.spark.format(table=table)


@dataclass(frozen=True)
class TimedQueries:
    """Generates queries over two such tables.

    Attributes:
        calls: aggregates by the kind of their argument; see `random_queries.CALLS`.
    """

    dice: random.Random
    tables: tuple[str, str]
    calls: Mapping[Kind, Sequence[tuple[Sql, Kind]]]

    def query(self) -> Relation:
        """Generate a query of any shape."""
        shapes = (
            self._grouped,
            self._grouped,
            self._ranked,
            self._joined,
            self._over,
            self._first,
            self._near,
            self._arrived,
        )
        return self.dice.choice(shapes)()

    def _grouped(self) -> Relation:
        window = self._window()
        flink, spark = window.of(self._table())
        keys = ["g"] if self.dice.random() < 0.6 or "session" in spark else []
        calls = [self._call("") for _ in range(self.dice.randint(1, 3))]
        by = "".join(f", {key}" for key in keys)
        items = [*keys, *(call.flink for call, _ in calls)]
        theirs = [*keys, *(call.spark for call, _ in calls)]
        kinds = (Kind.NUMBER, Kind.NUMBER, *(Kind.TEXT for _ in keys), *(kind for _, kind in calls))
        return _timed(
            kinds,
            f"SELECT {_names([*BOUNDS.flink, *items])} FROM {flink}"
            f" GROUP BY window_start, window_end{by}",
            f"SELECT {_names([*BOUNDS.spark, *theirs])} FROM {spark} GROUP BY ws, we{by}",
        )

    def _ranked(self) -> Relation:
        flink, spark = self._window().of(self._table())
        limit = self.dice.randint(1, 2)
        order, by = self.dice.choice(["ASC", "DESC"]), self.dice.choice(["", ", g"])
        texts = []
        for source, bounds, start, end, time in (
            (flink, BOUNDS.flink, "window_start", "window_end", "ts"),
            (spark, BOUNDS.spark, "ws", "we", "t"),
        ):
            over = f"PARTITION BY {start}, {end}{by} ORDER BY {time} {order}"
            inner = f"SELECT *, ROW_NUMBER() OVER ({over}) AS rn FROM {source}"
            items = _names([*bounds, "k", "g", "v"])
            texts.append(f"SELECT {items} FROM ({inner}) AS x WHERE rn <= {limit}")
        return _timed((Kind.NUMBER, Kind.NUMBER, *_OF_COLUMNS.values()), *texts)

    def _joined(self) -> Relation:
        window = self._window(sessions=False)
        side = self.dice.choice(["INNER", "LEFT", "RIGHT", "FULL"])
        column = self.dice.choice(["g", "v"])
        left, right = (window.of(table) for table in self.tables)
        items = _names([f"{table}.{c}" for table in "lr" for c in _OF_COLUMNS])
        texts = [
            f"SELECT {items} FROM (SELECT * FROM {one}) AS l {side} JOIN (SELECT * FROM {other})"
            f" AS r ON l.{start} = r.{start} AND l.{end} = r.{end} AND l.{column} = r.{column}"
            for one, other, start, end in (
                (left[0], right[0], "window_start", "window_end"),
                (left[1], right[1], "ws", "we"),
            )
        ]
        return _timed((*_OF_COLUMNS.values(), *_OF_COLUMNS.values()), *texts)

    def _over(self) -> Relation:
        table, by = self._table(), self.dice.choice(["", "PARTITION BY g "])
        rows = f"ROWS BETWEEN {self.dice.randint(1, 3)} PRECEDING AND CURRENT ROW"
        seconds = self.dice.randint(1, 9)
        time = "RANGE BETWEEN {} PRECEDING AND CURRENT ROW"
        flink, spark = self.dice.choice(
            [
                ("", ""),
                (rows, rows),
                (time.format(f"INTERVAL '{seconds}' SECOND"), time.format(seconds * 1000)),
            ]
        )
        calls = [
            self._call(f" OVER ({by}ORDER BY ts {flink})", f" OVER ({by}ORDER BY t {spark})")
            for _ in range(self.dice.randint(1, 2))
        ]
        texts = [
            f"SELECT {_names([*_OF_COLUMNS, *(c.of(dialect) for c, _ in calls)])} FROM {table}"
            for dialect in Dialect
        ]
        return _timed((*_OF_COLUMNS.values(), *(kind for _, kind in calls)), *texts)

    def _first(self) -> Relation:
        table, order = self._table(), self.dice.choice(["ASC", "DESC"])
        column = self.dice.choice(["g", "v"])
        texts = [
            f"SELECT {_names(_OF_COLUMNS)} FROM (SELECT *, ROW_NUMBER() OVER"
            f" (PARTITION BY {column} ORDER BY {time} {order}) AS rn FROM {table}) AS x"
            " WHERE rn = 1"
            for time in ("ts", "t")
        ]
        return _timed(tuple(_OF_COLUMNS.values()), *texts)

    def _arrived(self) -> Relation:
        """Generate a processing-time query whose result does not depend on the order of rows."""
        table = self._table()
        if self.dice.random() < 0.5:
            columns, order = ", ".join(_OF_COLUMNS), self.dice.choice(["ASC", "DESC"])
            over = f"PARTITION BY {columns} ORDER BY PROCTIME() {order}"
            inner = f"SELECT *, ROW_NUMBER() OVER ({over}) AS rn FROM {table}"
            items = _names(_OF_COLUMNS)
            return _timed(
                tuple(_OF_COLUMNS.values()),
                f"SELECT {items} FROM ({inner}) AS x WHERE rn = 1",
                f"SELECT DISTINCT {items} FROM {table}",
            )
        window = "WINDOW w AS (PARTITION BY g ORDER BY PROCTIME())"
        inner = f"SELECT g, COUNT(*) OVER w AS n, MAX(v) OVER w AS m FROM {table} {window}"
        return _timed(
            (Kind.TEXT, Kind.NUMBER, Kind.NUMBER),
            f"SELECT g AS c0, MAX(n) AS c1, MAX(m) AS c2 FROM ({inner}) AS x GROUP BY g",
            f"SELECT g AS c0, COUNT(*) AS c1, MAX(v) AS c2 FROM {table} GROUP BY g",
        )

    def _near(self) -> Relation:
        one, other = self.tables
        side = self.dice.choice(["INNER", "LEFT", "RIGHT", "FULL"])
        before, after = self.dice.randint(0, 6), self.dice.randint(0, 6)
        items = _names([f"{table}.{c}" for table in "lr" for c in _OF_COLUMNS])
        query = f"SELECT {items} FROM {one} AS l {side} JOIN {other} AS r ON l.g = r.g AND"
        return _timed(
            (*_OF_COLUMNS.values(), *_OF_COLUMNS.values()),
            f"{query} l.ts BETWEEN r.ts - INTERVAL '{before}' SECOND"
            f" AND r.ts + INTERVAL '{after}' SECOND",
            f"{query} l.t BETWEEN r.t - {before * 1000} AND r.t + {after * 1000}",
        )

    def _table(self) -> str:
        return self.dice.choice(self.tables)

    def _call(self, flink: str, spark: str = "") -> tuple[Sql, Kind]:
        """Return an aggregate with the text that follows it in both dialects."""
        column = self.dice.choice(list(_OF_COLUMNS))
        calls = [
            (call, kind)
            for call, kind in self.calls[_OF_COLUMNS[column]]
            if not spark or "DISTINCT" not in call.spark
        ]
        call, kind = self.dice.choice(calls)
        return Sql(call.flink.format(column, f=flink), call.spark.format(column, f=spark)), kind

    def _window(self, *, sessions: bool = True) -> Window:
        size, step = self.dice.choice([(10, 5), (12, 4), (6, 2)])
        found = windows(size, step)
        return found[self.dice.choice([n for n in found if sessions or n != "SESSION"])]


def windows(size: int, step: int) -> dict[str, Window]:
    """Return the windowing functions by their names.

    Args:
        size: the length of a window in seconds.
        step: the distance between windows in seconds; sessions have half of it as their gap.
    """
    table = "TABLE {table}, DESCRIPTOR(ts), "
    start, gap = f"t - pmod(t, {size * 1000})", step * 500
    return {
        "TUMBLE": Window(
            f"TUMBLE({table}{_seconds(size)})",
            f"(SELECT *, {start} AS ws, {start} + {size * 1000} AS we FROM {{table}})",
        ),
        "HOP": Window(
            f"HOP({table}{_seconds(step)}, {_seconds(size)})",
            f"(SELECT *, ws + {size * 1000} AS we FROM {{table}} LATERAL VIEW explode(sequence("
            f"t - pmod(t, {step * 1000}), t - pmod(t, {step * 1000}) - {(size - step) * 1000},"
            f" {-step * 1000})) spans AS ws)",
        ),
        "CUMULATE": Window(
            f"CUMULATE({table}{_seconds(step)}, {_seconds(size)})",
            f"(SELECT *, {start} AS ws FROM {{table}} LATERAL VIEW explode(sequence({start} +"
            f" (pmod(t, {size * 1000}) DIV {step * 1000} + 1) * {step * 1000},"
            f" {start} + {size * 1000}, {step * 1000})) spans AS we)",
        ),
        "SESSION": Window(
            f"SESSION(TABLE {{table}} PARTITION BY g, DESCRIPTOR(ts), {_millis(gap)})",
            "(SELECT k, t, g, v, MIN(t) OVER (PARTITION BY g, session) AS ws, MAX(t) OVER"
            f" (PARTITION BY g, session) + {gap} AS we FROM (SELECT *, SUM(begins) OVER"
            " (PARTITION BY g ORDER BY t) AS session FROM (SELECT *, CASE WHEN t - LAG(t)"
            f" OVER (PARTITION BY g ORDER BY t) <= {gap} THEN 0 ELSE 1 END AS begins"
            " FROM {table})))",
        ),
    }


@dataclass(frozen=True)
class _Bounds:
    """Start and end of a window in whole seconds since the epoch of the tables."""

    flink: tuple[str, str]
    spark: tuple[str, str]


BOUNDS = _Bounds(
    (
        f"TIMESTAMPDIFF(SECOND, {_EPOCH}, window_start)",
        f"TIMESTAMPDIFF(SECOND, {_EPOCH}, window_end)",
    ),
    (f"((ws - {EPOCH_MS}) DIV 1000)", f"((we - {EPOCH_MS}) DIV 1000)"),
)


def _timed(kinds: tuple[Kind, ...], flink: str, spark: str) -> Timed:
    return Timed(kinds, Sql(flink, spark))


def _names(items: Sequence[str] | dict[str, Kind]) -> str:
    return ", ".join(f"{item} AS c{i}" for i, item in enumerate(items))


def _seconds(number: int) -> str:
    return f"INTERVAL '{number}' SECOND"


def _millis(number: int) -> str:
    return f"INTERVAL '{number / 1000:.3f}' SECOND"
