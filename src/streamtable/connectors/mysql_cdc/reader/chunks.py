"""Plan the chunks of a batch: consecutive key ranges of the tables with incomplete snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamtable.connectors.mysql_cdc.reader.connect import Session, is_table_changed
from streamtable.connectors.mysql_cdc.reader.discover import schema_of
from streamtable.connectors.mysql_cdc.reader.keys import ChunkKey, chunk_key
from streamtable.connectors.mysql_cdc.reader.model import Position, TableId
from streamtable.connectors.mysql_cdc.reader.offsets import Chunk, Chunks, Offset
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.core.errors import StreamtableError


class _Seen:
    """Tables that queries see in a state, each with the end of the binlog after the first query.

    A query sees the tables of now, while a batch may end before the statement that dropped, renamed
    or altered a table. A batch that starts behind the remembered position is after the statement.
    """

    def __init__(self) -> None:
        self._first: dict[TableId, Position] = {}

    def forget(self) -> None:
        self._first.clear()

    def is_read(
        self, table: TableId, start: Offset, now: Callable[[], Position], *, holds: bool
    ) -> bool:
        """Return whether a table has the state, and earlier batches have read the statement."""
        if holds and table not in self._first:
            self._first[table] = now()
            return False
        if holds and start.position.order < self._first[table].order:
            return False
        self._first.pop(table, None)
        return holds


class ChunkPlanner:
    """Plans chunks over the planner's session."""

    def __init__(self, spec: SourceSpec, session: Session) -> None:
        self._spec = spec
        self._session = session
        self._missing, self._changed = _Seen(), _Seen()

    def forget(self) -> None:
        """Forget which tables have changed, before another server or another offset."""
        self._missing.forget()
        self._changed.forget()

    def next(
        self, start: Offset, now: Callable[[], Position]
    ) -> tuple[Chunks, dict[TableId, Any], dict[TableId, str]]:
        """Return the chunks of a batch, and `pending` and `orders` after the batch.

        A table that does not exist, or has a key of another order, stays pending until a batch has
        read the statement. After a RENAME, its snapshot may start over.

        Args:
            start: the start of the batch.
            now: returns the end of the binlog.

        Raises:
            StreamtableError: TABLE_UNREADABLE if the key of a table has another order than that of
                its earlier chunks.
        """
        spec = self._spec
        left, orders = dict(start.pending), dict(start.orders)
        found: list[Chunk] = []
        most = max(1, spec.batch_rows // spec.chunk_size)
        for table in start.pending:
            if len(found) >= most:
                break
            key = self._key(table)
            is_changed = False
            while key is not None and table in left and len(found) < most:
                low = left[table]
                if low is not None and not key.has_order(orders):
                    is_changed = True
                    break
                orders[table] = str(key.order)
                try:
                    high = key.next_bound(self._session, low, spec.chunk_size)
                except StreamtableError as error:
                    if not is_table_changed(error.__cause__):
                        raise
                    former, key = key, self._key(table)
                    if key == former:
                        raise
                    continue
                found.append(Chunk(table, low, high))
                if high is None:
                    del left[table]
                else:
                    left[table] = high
            if self._changed.is_read(table, start, now, holds=is_changed) and key is not None:
                key.require_order(orders)
            if self._missing.is_read(table, start, now, holds=key is None):
                del left[table]
        read = {chunk.table for chunk in found}
        return self._tasks(found), left, {t: o for t, o in orders.items() if t in read or t in left}

    def _tasks(self, found: list[Chunk]) -> Chunks:
        tasks = min(self._spec.snapshot_tasks, len(found))
        share = -(-len(found) // tasks) if tasks else 1
        return tuple(tuple(found[i : i + share]) for i in range(0, len(found), share))

    def _key(self, table: TableId) -> ChunkKey | None:
        """Return the chunk key of a table as it is now; None if the table does not exist."""
        schema = schema_of(self._session, table)
        return chunk_key(self._session, schema, self._spec) if schema else None
