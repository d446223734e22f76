"""Batches that the MySQL reader plans, with a server in memory."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import MagicMock

import pymysql
import pytest
from pymysqlreplication.event import GtidEvent, XidEvent

from streamtable.connectors.mysql_cdc.reader import (
    BinlogPart,
    ChunkPart,
    Column,
    MySqlSettings,
    MySqlType,
    Offset,
    Planner,
    Position,
    SourceSpec,
    TableId,
    TableSchema,
    chunks,
    parts,
    planner,
    server,
)
from streamtable.connectors.mysql_cdc.reader.connect import Session, as_fault, require_uuid
from streamtable.connectors.mysql_cdc.reader.key_order import key_changed
from streamtable.connectors.mysql_cdc.reader.offsets import Chunk
from streamtable.core.errors import Condition, StreamtableError

A, B = TableId("d", "a"), TableId("d", "b")
START = Position("b.000001", 4)
UUID, OTHER = (f"{c * 8}-{c * 4}-{c * 4}-{c * 4}-{c * 12}" for c in "ab")
GTIDS = f"{UUID}:1-5"


@dataclass
class Server:
    """Server in memory whose binlog ends at `end`. Without a name, it has no UUID, like MariaDB."""

    end: Position
    name: str = ""
    exact: bool = True
    transactions: int = 7

    def uuid(self) -> str:
        return self.name

    def position(self) -> Position:
        return self.end

    def require(self, position: Position) -> None:
        assert position.order <= self.end.order

    def distance(self, start: Position, end: Position) -> int:
        return end.pos - start.pos

    def has(self, gtid: str) -> bool:
        return int(gtid.rpartition("-")[2]) <= self.transactions

    def of_gtid(self, gtid: str) -> Position:
        return Position("c.000001", 100 * int(gtid.rpartition("-")[2]), gtid)


@dataclass
class Key:
    """Chunk key of a table. Without `bounds`, the table is a single chunk."""

    bounds: list[Any] = field(default_factory=list)
    order: str = "id (number)"

    def has_order(self, orders: dict[TableId, str]) -> bool:
        return orders.get(A, self.order) == self.order

    def require_order(self, _: object) -> None:
        raise key_changed(A, "id (number)", self.order)

    def next_bound(self, *_: object) -> Any:
        return self.bounds.pop() if self.bounds else None


def planned(
    monkeypatch: pytest.MonkeyPatch, server: Server, spec: SourceSpec, tables: list[TableId]
) -> Planner:
    """Return a planner for a server with some tables."""
    there = [TableSchema(t, (Column("id", MySqlType("int")),), ("id",)) for t in tables]
    matching = lambda _, patterns: [t for t in there if patterns.match(t.id)]  # noqa: E731
    monkeypatch.setattr(planner, "schemas", matching)
    monkeypatch.setattr(chunks, "schema_of", lambda _, table: {t.id: t for t in there}.get(table))
    monkeypatch.setattr(chunks, "chunk_key", lambda *_: Key())
    made = Planner(spec)
    monkeypatch.setattr(made, "_server", server)
    return made


def spec_of(*patterns: str, **more: Any) -> SourceSpec:
    settings = MySqlSettings("h", "u", "p")
    return SourceSpec(settings, patterns, snapshot_new_tables=True, poll_seconds=0, **more)


def test_a_table_added_by_a_restart_stays_pending_without_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = planned(monkeypatch, Server(Position("b.000001", 9)), spec_of("d.a", "d.b"), [A, B])
    end = reader.next(Offset(START, patterns=("d.a",)))
    assert end.chunks
    assert not end.pending
    without = reader.without_chunks(end)
    assert (without.chunks, without.pending) == ((), {B: None})
    assert (without.position, without.patterns) == (end.position, end.patterns)


@pytest.mark.parametrize(
    ("before", "now", "pending"),
    [
        (("d.b",), (), [B]),
        ((), ("d.b",), []),
        (("d.b",), ("d.b", "d.c"), []),
        (None, (), []),
    ],
)
def test_a_table_that_is_no_longer_excluded_gets_a_snapshot(
    monkeypatch: pytest.MonkeyPatch,
    before: tuple[str, ...] | None,
    now: tuple[str, ...],
    pending: list[TableId],
) -> None:
    spec = spec_of(r"d\..*", excluded=now)
    reader = planned(monkeypatch, Server(START), spec, [A, B])
    begun = {B: 5} if now else {}
    end = reader.next(Offset(START, begun, patterns=spec.patterns, excluded=before))
    assert [chunk.table for task in end.chunks for chunk in task] == pending
    assert not end.pending
    assert Offset.from_json(json.loads(json.dumps(end.to_json()))) == end
    assert end.excluded == now


@pytest.mark.parametrize("pending", [{}, {A: 7}])
def test_a_failover_while_nothing_changes(
    monkeypatch: pytest.MonkeyPatch, pending: dict[TableId, Any]
) -> None:
    """The next batch after the failover starts at the position of the new server."""
    spec = spec_of("d.a")
    database = Server(Position("c.000001", 500, GTIDS), "new", exact=False)
    reader = planned(monkeypatch, database, spec, [A])
    reader.stop_at_end()
    chunks = ((Chunk(A, 5, 7),),)
    position = Position("b.000009", 4000, GTIDS)
    begin = Offset(position, pending, chunks, "old", spec.patterns)
    end = reader.next(begin)
    assert (end.position, end.begin, end.server) == (database.end, database.end, "new")
    read = [chunk for task in end.chunks for chunk in task]
    assert read == [Chunk(A, low) for low in pending.values()]
    assert not [part for part in parts(begin, end) if isinstance(part, BinlogPart)]
    assert reader.next(end) == end
    assert reader.ended(end)


def _in_flight(*gtids: str, server: str = "old") -> tuple[Offset, Offset]:
    """Return the start and the end of a batch in the offset log, with a chunk of a snapshot."""
    first, last = (Position("b.000009", 4000 + 9 * i, gtid) for i, gtid in enumerate(gtids))
    start = Offset(first, {A: 5}, server=server)
    return start, Offset(last, {}, ((Chunk(A, 5),),), server)


def test_an_in_flight_batch_is_read_at_positions_of_a_new_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = Server(Position("c.000001", 900, GTIDS), "new")
    reader = planned(monkeypatch, database, spec_of("d.a"), [A])
    start, end = _in_flight(GTIDS, f"{UUID}:1-7")
    here = Position("c.000001", 500, GTIDS), Position("c.000001", 700, f"{UUID}:1-7")
    assert reader.parts(start, end) == [
        BinlogPart(*here, {A: 5}, server="new"),
        ChunkPart(end.chunks[0], *here, 1, "new"),
    ]
    same = _in_flight("", "", server="new")
    assert reader.parts(*same) == list(parts(*same))


@pytest.mark.parametrize(
    ("gtids", "words"),
    [
        (("", f"{UUID}:1-7"), "no GTID set of b.000009:4000"),
        ((GTIDS, ""), "no GTID set of b.000009:4009"),
        ((GTIDS, f"{UUID}:1-8"), "lacks transactions before b.000009:4009"),
    ],
)
def test_an_in_flight_batch_needs_its_gtids_on_the_new_server(
    monkeypatch: pytest.MonkeyPatch, gtids: tuple[str, str], words: str
) -> None:
    database = Server(Position("c.000001", 900, GTIDS), "new")
    reader = planned(monkeypatch, database, spec_of("d.a"), [A])
    with pytest.raises(StreamtableError, match=words) as refused:
        reader.parts(*_in_flight(*gtids))
    assert refused.value.condition is Condition.DATA_LOST


@pytest.mark.parametrize(("uuid", "refused"), [("", False), (UUID, False), (OTHER, True)])
def test_tasks_read_only_the_server_of_their_batch(uuid: str, refused: bool) -> None:
    cursor = MagicMock()
    cursor.fetchone.return_value = (UUID,)
    connection = MagicMock()
    connection.cursor.return_value.__enter__.return_value = cursor
    with (
        pytest.raises(StreamtableError, match=f"server {UUID} answers")
        if refused
        else nullcontext()
    ):
        require_uuid(connection, MySqlSettings("h", "u", "p"), uuid)


@dataclass
class Refused(Key):
    """Chunk key of a table that DDL has changed since the key was looked up."""

    code: int = 1146

    def next_bound(self, *_: object) -> Any:
        error = pymysql.err.ProgrammingError(self.code, "refused")
        raise as_fault(error, MySqlSettings("h", "u", "p")) from error


@pytest.mark.parametrize(
    ("keys", "refused"),
    [
        ([Refused(), None, None], False),
        ([Refused(code=1054), Refused([1]), Key()], False),
        ([Refused(), Refused()], True),
        ([Refused(code=1064), Key()], True),
    ],
)
def test_ddl_while_chunks_are_planned(
    monkeypatch: pytest.MonkeyPatch, keys: list[Key | None], refused: bool
) -> None:
    reader = planned(monkeypatch, Server(START), spec_of("d.a"), [A])
    monkeypatch.setattr(chunks, "chunk_key", lambda *_: keys.pop(0))
    start = Offset(START, {A: None}, patterns=("d.a",))
    if refused:
        with pytest.raises(StreamtableError, match="DATABASE_REFUSED"):
            reader.next(start)
    else:
        while start.pending:
            start = reader.next(start)
        assert not keys


@dataclass
class RefusedLater(Refused):
    """Chunk key of a table that DDL changes after its first chunk of the batch."""

    def next_bound(self, session: object, low: Any, rows: int) -> Any:
        return 5 if low is None else super().next_bound(session, low, rows)


def test_a_key_that_changes_between_two_chunks_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = spec_of("d.a", chunk_size=1)
    reader = planned(monkeypatch, Server(START), spec, [A])
    keys = [RefusedLater(code=1054), *(Key(order="k (number)") for _ in range(2))]
    monkeypatch.setattr(chunks, "chunk_key", lambda *_: keys.pop(0))
    first = reader.next(Offset(START, {A: None}, patterns=spec.patterns))
    assert [list(task) for task in first.chunks] == [[Chunk(A, None, 5)]]
    assert (first.pending, first.orders) == ({A: 5}, {A: "id (number)"})
    with pytest.raises(StreamtableError, match=r"key id \(number\) was changed to k \(number\)"):
        reader.next(first)


@pytest.mark.parametrize(
    ("keys", "moves", "refused"),
    [
        ([None, None], False, False),
        ([None, None, None], True, False),
        (["k (number)", "k (number)"], False, True),
        (["k (number)", "k (number)", "k (number)"], True, True),
        ([None, "k (number)", "k (number)"], False, True),
        ([None, "k (number)", "k (number)"], True, True),
        (["k (number)", None, None], False, False),
        ([None, "k (number)", None, None], True, False),
        (["k (number)", "id (number)", "k (number)", "k (number)"], False, True),
    ],
)
def test_a_table_counts_as_changed_after_its_ddl_was_read(
    monkeypatch: pytest.MonkeyPatch, keys: list[str | None], moves: bool, refused: bool
) -> None:
    """A table counts as changed after a batch has read the statement that changed it.

    The first plan may see a state of the table that is newer than the end of its batch.
    """
    spec = spec_of("d.a", batch_rows=1)
    database = Server(START)
    reader = planned(monkeypatch, database, spec, [A])
    found = list(keys)

    def key(*_: object) -> Key | None:
        if moves:
            database.end = Position("b.000001", 9)
        order = found.pop(0)
        return None if order is None else Key([5], order)

    monkeypatch.setattr(chunks, "chunk_key", key)
    at = Offset(START, {A: 5}, patterns=spec.patterns, orders={A: "id (number)"})
    for _ in keys[1:]:
        at = reader.next(at)
        assert at.pending == {A: 5}
    with pytest.raises(StreamtableError, match="was changed to k") if refused else nullcontext():
        assert not reader.next(at).pending


@pytest.mark.parametrize(("ids", "alternates"), [(None, False), ((7, 7), True)])
def test_a_table_is_pending_until_its_drop_was_read(
    monkeypatch: pytest.MonkeyPatch, ids: tuple[int, int] | None, alternates: bool
) -> None:
    """A dropped table is pending until a batch has read the DROP.

    The planner sees that the table is missing before that batch.
    """
    spec = spec_of(r"d\..*")
    spec = replace(spec, settings=replace(spec.settings, server_ids=ids))
    database = Server(START)
    reader = planned(monkeypatch, database, spec, [B])
    start = Offset(START, {A: 5, B: None}, patterns=spec.patterns)
    first = reader.next(start)
    assert (first.position, list(first.pending)) == (START, [A])
    database.end = Position("b.000001", 9)
    second = reader.next(first)
    assert (second.position, list(second.pending)) == (database.end, [A] if alternates else [])
    if alternates:
        third = reader.next(second)
        assert (third.position, list(third.pending)) == (database.end, [])


class Gtid(GtidEvent):  # type: ignore[misc]
    """Event that begins a transaction."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def gtid(self) -> str:
        return self.name


class Xid(XidEvent):  # type: ignore[misc]
    """Event that ends a transaction."""

    def __init__(self) -> None:
        pass


@dataclass
class Events:
    """Binlog stream with transactions of 100 bytes each."""

    names: list[str]
    file: str = "b.000001"
    pos: int = 0

    def next(self) -> Any:
        self.pos += 50
        at = self.pos // 50 - 1
        if at >= 2 * len(self.names):
            return None
        return Xid() if at % 2 else Gtid(self.names[at // 2])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GTIDS, f"{UUID}:1-7:9"),
        (f"{UUID}:1-5,{OTHER}:3", f"{UUID}:1-7:9,{OTHER}:3"),
        ("", ""),
        ("0-1-5", ""),
        (f"{UUID}:tag:1-5", ""),
    ],
)
def test_a_position_between_batches_has_all_earlier_gtids(
    monkeypatch: pytest.MonkeyPatch, before: str, after: str
) -> None:
    """A position between two batches has the GTIDs up to it, if they are known.

    With them, a job that lags behind can continue from its checkpoint at another server.
    """
    events = Events([f"{UUID}:{i}" for i in (7, 6, 9, 8)])
    monkeypatch.setattr(server, "stream", lambda *_: nullcontext(events))
    settings = MySqlSettings("h", "u", "p")
    found = server.Server(Session(settings), 1).boundary_behind(
        Position("b.000001", 0, before), 250, Position("b.000001", 1000)
    )
    assert found == Position("b.000001", 300, after)
