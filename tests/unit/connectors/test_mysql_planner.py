"""Batches that the MySQL reader plans, with a server in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from streamtable.connectors.mysql_cdc.reader import (
    Column,
    MySqlSettings,
    MySqlType,
    Offset,
    Planner,
    Position,
    SourceSpec,
    TableId,
    TableSchema,
    planner,
)

A, B = TableId("d", "a"), TableId("d", "b")
START = Position("b.000001", 4)


@dataclass
class Server:
    """A server of MariaDB's kind, whose binlog ends at a position."""

    end: Position
    name: str = ""
    exact: bool = True

    def uuid(self) -> str:
        return self.name

    def position(self) -> Position:
        return self.end

    def require(self, position: Position) -> None:
        assert position.order <= self.end.order

    def distance(self, start: Position, end: Position) -> int:
        return end.pos - start.pos

    def of_gtid(self, gtid: str) -> Position:
        return Position("c.000001", 500, gtid)


@dataclass
class Key:
    """Tables of a single chunk."""

    bounds: list[Any] = field(default_factory=list)

    def next_bound(self, *_: object) -> Any:
        return self.bounds.pop() if self.bounds else None


def planned(
    monkeypatch: pytest.MonkeyPatch, server: Server, spec: SourceSpec, tables: list[TableId]
) -> Planner:
    """A planner of a server with some tables."""
    there = [TableSchema(t, (Column("id", MySqlType("int")),), ("id",)) for t in tables]
    matching = lambda _, patterns: [t for t in there if patterns.match(t.id)]  # noqa: E731
    monkeypatch.setattr(planner, "schemas", matching)
    monkeypatch.setattr(planner, "schema_of", lambda _, table: {t.id: t for t in there}.get(table))
    monkeypatch.setattr(planner, "chunk_key", lambda *_: Key())
    made = Planner(spec)
    monkeypatch.setattr(made, "_server", server)
    return made


def spec_of(*patterns: str, **more: Any) -> SourceSpec:
    settings = MySqlSettings("h", "u", "p")
    return SourceSpec(settings, patterns, snapshot_new_tables=True, poll_seconds=0, **more)


def test_a_table_that_a_restart_adds_stays_pending_without_the_chunks_of_its_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = planned(monkeypatch, Server(Position("b.000001", 9)), spec_of("d.a", "d.b"), [A, B])
    end = reader.next(Offset(START, patterns=("d.a",)))
    assert end.chunks
    assert not end.pending
    without = reader.without_chunks(end)
    assert (without.chunks, without.pending) == ((), {B: None})
    assert (without.position, without.patterns) == (end.position, end.patterns)
