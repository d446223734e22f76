"""The queries whose state a stored checkpoint holds, and the history that goes on behind it.

One of each kind of operator that keeps state without waiting for a watermark.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from streamtable.plan.sink.sink import Sink
from streamtable.testing.cases import Case
from streamtable.testing.histories import Values, pieces, random_history
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Replay
from streamtable.testing.replayed import Replayed, Style

#: The checkpoint.
STORED = Path(__file__).with_name("state.zip")
#: What a folder is called in it that is called otherwise where it is read.
PLACE = "/where/it/was/recorded"
#: How many batches of the history it has seen.
SEEN = 2

_QUERIES = (
    "SELECT g, COUNT(*), MIN(v), COUNT(DISTINCT v), SUM(v) FROM a GROUP BY g",
    "SELECT COUNT(DISTINCT v), MAX(v) FROM e",
    "SELECT x.k, y.v FROM a AS x LEFT JOIN b AS y ON x.k = y.k",
    "SELECT x.k, y.v FROM a AS x LEFT JOIN e AS y ON x.g = y.g AND x.v < y.v",
    (
        "SELECT v, k FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v, k) n FROM a)"
        " WHERE n < 3"
    ),
)
#: Its rows move from one join key to another, so that the sink's key puts them in order.
_MATERIALIZED = (
    "SELECT x.k, x.v, y.k FROM a AS x"
    " LEFT JOIN (SELECT v, MAX(k) AS k FROM b GROUP BY v) AS y ON x.v = y.v"
)


def tables() -> dict[str, Replayed]:
    """Upserts, complete changes and inserts of one shape."""
    styles = {"a": Style.UPSERT, "b": Style.CHANGES, "e": Style.APPEND}
    return {name: _table(seed, style) for seed, (name, style) in enumerate(styles.items())}


def cases() -> list[Case]:
    """One per query."""
    found = []
    for query in (*_QUERIES, _MATERIALIZED):
        fields = [column.field for column in planned(query, tables()).columns]
        key = (0,) if query == _MATERIALIZED else None
        found.append(Case(sink(fields, key), query, query, key))
    return found


def plans(replay: Replay) -> Mapping[str, Sink]:
    """The plan of each query, by a name."""
    return {f"query-{i}": replay.plan(case) for i, case in enumerate(cases())}


def rename(folder: Path, before: str, after: str) -> None:
    """Changes what Spark's files in a checkpoint call its folder."""
    for file in (folder / "query").rglob("*"):
        written = file.read_bytes() if file.is_file() else b""
        if before.encode() in written:
            file.write_bytes(written.replace(before.encode(), after.encode()))
            file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def _table(seed: int, style: Style) -> Replayed:
    history = random_history(seed, 60, 8, _values)
    if style is Style.APPEND:
        history = [change for change in history if change.values is not None]
    third = len(history) // 3
    cuts = (third, 2 * third, len(history))
    return Replayed(style, "k INT, g STRING, v INT", pieces(history, cuts))


def _values(dice: random.Random) -> Values:
    return {"g": dice.choice("abc"), "v": dice.randrange(5)}
