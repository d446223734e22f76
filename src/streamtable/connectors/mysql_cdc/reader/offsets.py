"""Offsets of the reader, which a checkpoint stores, and the parts of the next batch.

A batch leads from one `Offset` to the next. After the batch, the emitted rows are exactly

- the state of every table at `Offset.position`, as far as its snapshot has been read: rows whose
  chunk key is below the table's bound in `pending`, and all rows of a table that is not in
  `pending`;
- no other rows.

A batch therefore has two kinds of parts. `BinlogPart` emits the changes between the two positions
of rows that were read before. `ChunkPart` emits further rows as they were at the end position. The
sets of keys are disjoint. Every part is a function of the two offsets alone, so reading it again
gives the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamtable.connectors.mysql_cdc.reader.model import (
    Change,
    Position,
    SchemaChange,
    TableId,
)
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import key_of_text, key_text

_VERSION = 1


@dataclass(frozen=True)
class Chunk:
    """Rows of a table with a chunk key in [`low`, `high`); None means no bound."""

    table: TableId
    low: Any = None
    high: Any = None


#: The chunks of a batch, by task.
Chunks = tuple[tuple[Chunk, ...], ...]


@dataclass(frozen=True)
class Offset:
    """The end of a batch.

    Attributes:
        position: the position in the binlog, between two transactions.
        pending: tables with an incomplete snapshot, in reading order, each with the chunk key below
            which its rows have been read; None if no rows have been read.
        chunks: the chunks of the batch that ends here, by task.
        server: the server's UUID; empty if it has none.
        begin: the start of the batch's changes, if it is not the previous offset; not None after a
            failover to another server, whose binlogs have other positions.
        patterns: the patterns that selected the tables; a restart uses them to find added tables.
        excluded: the patterns of tables that were excluded from the matches; None if unknown, in
            checkpoints of before this field.
        renamed: tables to which a statement in the batch gave rows that the binlog lacks, such as a
            RENAME to this name. `pending` has these tables. Their earlier rows were read.
        orders: the order (`KeyOrder`) of the keys of tables in `pending` and `chunks`. Bounds
            have no meaning in another order. Checkpoints of before this field lack them.
    """

    position: Position
    pending: Mapping[TableId, Any] = field(default_factory=dict)
    chunks: Chunks = ()
    server: str = ""
    patterns: tuple[str, ...] = ()
    begin: Position | None = None
    excluded: tuple[str, ...] | None = None
    renamed: tuple[TableId, ...] = ()
    orders: Mapping[TableId, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Convert the offset to the JSON of a checkpoint, which contains no secret."""
        return {
            "version": _VERSION,
            "file": self.position.file,
            "pos": self.position.pos,
            "gtid": self.position.gtid,
            "server": self.server,
            "pending": [[*table, _text(low)] for table, low in self.pending.items()],
            "chunks": [
                [[*chunk.table, _text(chunk.low), _text(chunk.high)] for chunk in task]
                for task in self.chunks
            ],
            "patterns": list(self.patterns),
            **({"begin": list(self.begin)} if self.begin else {}),
            **({"excluded": list(self.excluded)} if self.excluded is not None else {}),
            **({"renamed": list(map(list, self.renamed))} if self.renamed else {}),
            **(
                {"orders": [[*t, order] for t, order in self.orders.items()]} if self.orders else {}
            ),
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Offset:
        """Parse the JSON of `to_json`.

        Raises:
            ValueError: another version wrote the JSON.
        """
        if found.get("version") != _VERSION:
            raise ValueError(found.get("version"))
        return cls(
            Position(found["file"], int(found["pos"]), found["gtid"]),
            {TableId(db, table): _value(low) for db, table, low in found["pending"]},
            tuple(
                tuple(
                    Chunk(TableId(db, table), _value(low), _value(high))
                    for db, table, low, high in task
                )
                for task in found["chunks"]
            ),
            found["server"],
            tuple(found["patterns"]),
            Position(*found["begin"]) if "begin" in found else None,
            tuple(found["excluded"]) if "excluded" in found else None,
            tuple(TableId(*name) for name in found.get("renamed", ())),
            {TableId(db, table): order for db, table, order in found.get("orders", ())},
        )


def _text(value: Any) -> str | None:
    return None if value is None else key_text(value)


def _value(text: str | None) -> Any:
    return None if text is None else key_of_text(text)


@dataclass(frozen=True)
class BinlogPart:
    """Changes after `start` up to `end`, of rows that had been read at `start`.

    Attributes:
        pending: `pending` of the offset at `start`.
        renamed: tables whose changes end with the statement that gives them other rows.
        reader: the part's number in its batch, which selects its server id.
        server: the UUID of the server that has these positions; empty if it has none.
        orders: `orders` of the offset at `start`.
    """

    start: Position
    end: Position
    pending: Mapping[TableId, Any]
    reader: int = 0
    renamed: frozenset[TableId] = frozenset()
    server: str = ""
    orders: Mapping[TableId, str] = field(default_factory=dict)

    @property
    def takes_all(self) -> bool:
        """Whether all changes of the range belong to the part."""
        return not (self.pending or self.renamed)


@dataclass(frozen=True)
class ChunkPart:
    """Rows of some chunks as they were at `end`.

    Attributes:
        settled: a position before `end` up to which every transaction is visible to readers.
        reader: the part's number in its batch, which selects its server id.
        server: as in `BinlogPart`.
        orders: `orders` of the offset at `end`.
    """

    chunks: tuple[Chunk, ...]
    settled: Position
    end: Position
    reader: int
    server: str = ""
    orders: Mapping[TableId, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ReadPart:
    """The changes of a `BinlogPart` that takes all, which the planner has read."""

    start: Position
    end: Position
    changes: tuple[Change | SchemaChange, ...]


Part = BinlogPart | ChunkPart | ReadPart


def parts(start: Offset, end: Offset) -> Sequence[Part]:
    """Return the parts of a batch; empty if the offsets are equal. Each part can be a task."""
    if start == end:
        return ()
    found: list[Part] = []
    begin = end.begin or start.position
    read = {chunk.table for task in end.chunks for chunk in task}
    known = {*start.pending, *end.renamed}
    added = {table for table in (*read, *end.pending) if table not in known}
    if begin.order < end.position.order:
        pending = {**start.pending, **dict.fromkeys(added)}
        renamed = frozenset(end.renamed)
        part = BinlogPart(begin, end.position, pending, 0, renamed, end.server, start.orders)
        found.append(part)
    for number, chunks in enumerate(end.chunks, start=1):
        found.append(ChunkPart(chunks, begin, end.position, number, end.server, end.orders))
    return tuple(found)
