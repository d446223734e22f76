"""The queries of a stored checkpoint, and the history of their tables, which continues after it.

There is a query for each kind of operator that keeps state without waiting for a watermark.
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

#: The stored checkpoint.
STORED = Path(__file__).with_name("state.zip")
#: Path of the checkpoint in its own files; a test replaces it by the path where it reads them.
PLACE = "/where/it/was/recorded"
#: Number of batches of the history that the checkpoint has processed.
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
#: Rows of this query move from one join key to another, so the sink orders changes by its key.
_MATERIALIZED = (
    "SELECT x.k, x.v, y.k FROM a AS x"
    " LEFT JOIN (SELECT v, MAX(k) AS k FROM b GROUP BY v) AS y ON x.v = y.v"
)


def tables() -> dict[str, Replayed]:
    """Return tables with the same columns: upserts, complete changes and inserts."""
    styles = {"a": Style.UPSERT, "b": Style.CHANGES, "e": Style.APPEND}
    return {name: _table(seed, style) for seed, (name, style) in enumerate(styles.items())}


def cases() -> list[Case]:
    """Return a case for each query."""
    found = []
    for query in (*_QUERIES, _MATERIALIZED):
        fields = [column.field for column in planned(query, tables()).columns]
        key = (0,) if query == _MATERIALIZED else None
        found.append(Case(sink(fields, key), query, query, key))
    return found


def plans(replay: Replay) -> Mapping[str, Sink]:
    """Return the plan of each query by name."""
    return {f"query-{i}": replay.plan(case) for i, case in enumerate(cases())}


def rename(folder: Path, before: str, after: str) -> None:
    """Replace the path of a checkpoint in the files that Spark has written to it."""
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
