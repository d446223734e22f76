"""Drop changes of rows that have not been read yet; a later chunk emits the current rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.discover import schema_of
from streamtable.connectors.mysql_cdc.reader.key_order import KeyOrder
from streamtable.connectors.mysql_cdc.reader.keys import chunk_key
from streamtable.connectors.mysql_cdc.reader.model import Change, SchemaChange, TableId
from streamtable.connectors.mysql_cdc.reader.offsets import BinlogPart
from streamtable.connectors.mysql_cdc.reader.spec import SourceSpec
from streamtable.core.errors import Condition, StreamtableError

_AT_ONCE = 1000


def only_read(
    spec: SourceSpec,
    found: Iterable[Change | SchemaChange],
    part: BinlogPart,
    catalog: Session,
) -> Iterator[Change | SchemaChange]:
    """Return the changes of rows that are below their table's bound in `part.pending`.

    An update that moves a row across the bound becomes a delete or an insert. Changes of a table in
    `part.renamed` end with the statement that gives it rows which the binlog lacks, such as RENAME.

    Args:
        spec: the source.
        found: changes in the order of the binlog.
        part: has the tables with an incomplete snapshot and their bound; None if no row has been
            read.
        catalog: a session for queries.

    Raises:
        StreamtableError: TABLE_UNREADABLE if a row has a key of another type. If snapshots do not
            start over, also if a RENAME gives or takes rows of a table with a begun snapshot, or
            takes the name of another table in `part.pending` for good.
    """
    pending = part.pending
    begun = {table: low for table, low in pending.items() if low is not None}
    orders = {table: _order(spec, table, part, catalog) for table in begun}
    replaced: set[TableId] = set()
    gone: dict[TableId, SchemaChange] = {}
    for block in _blocks(found):
        sides = _sides(block, begun, orders, catalog)
        for place, change in enumerate(block):
            if isinstance(change, SchemaChange):
                got_rows = change.table if change.kind == "key" else change.new_name
                if got_rows in part.renamed:
                    replaced.add(got_rows)
                    begun.pop(got_rows, None)
                if not spec.starts_over:
                    _check_rename(change, pending, gone)
                yield change
            elif change.table.id in replaced:
                continue
            elif change.table.id not in pending:
                yield change
            elif change.table.id in begun:
                yield from _read_part(change, *sides[place])
    for table, change in gone.items():
        raise renamed(change, table)


def _order(spec: SourceSpec, table: TableId, part: BinlogPart, catalog: Session) -> KeyOrder | None:
    """Return the order of a bound; None if it is unknown, because the table does not exist.

    A table may be replaced by another one between the plan of the batch and its read, so the
    current order only counts for checkpoints that do not have the order.
    """
    if table in part.orders:
        return KeyOrder.parse(part.orders[table])
    schema = schema_of(catalog, table)
    return chunk_key(catalog, schema, spec).order if schema else None


def _blocks(found: Iterable[Change | SchemaChange]) -> Iterator[list[Change | SchemaChange]]:
    """Divide changes into blocks; a statement is the last one of its block."""
    block: list[Change | SchemaChange] = []
    for change in found:
        block.append(change)
        if isinstance(change, SchemaChange) or len(block) == _AT_ONCE:
            yield block
            block = []
    yield block


def _sides(
    block: list[Change | SchemaChange],
    begun: Mapping[TableId, Any],
    orders: Mapping[TableId, KeyOrder | None],
    catalog: Session,
) -> dict[int, tuple[bool, bool]]:
    """Return whether the rows before and after each change were read, by position in the block."""
    found = {}
    for table, low in begun.items():
        order = orders[table]
        rows: list[tuple[int, bool]] = []
        values: list[Any] = []
        for place, change in enumerate(block):
            if isinstance(change, SchemaChange) or change.table.id != table or order is None:
                continue
            for is_after, row in ((False, change.before), (True, change.after)):
                if row is not None:
                    rows.append((place, is_after))
                    values.append(order.value(change.table, row))
        if order is None or not values:
            continue
        answers: dict[int, list[bool]] = {}
        for (place, is_after), below in zip(rows, order.below(catalog, values, low), strict=True):
            answers.setdefault(place, [False, False])[is_after] = below
        found.update({place: (sides[0], sides[1]) for place, sides in answers.items()})
    return {place: found.get(place, (False, False)) for place in range(len(block))}


def _read_part(change: Change, before: bool, after: bool) -> Iterator[Change]:
    if change.kind != "u":
        if before or after:
            yield change
    elif before and after:
        yield change
    elif before:
        yield change._replace(kind="d", after=None)
    elif after:
        yield change._replace(kind="c", before=None)


def _check_rename(
    change: SchemaChange, pending: Mapping[TableId, Any], gone: dict[TableId, SchemaChange]
) -> None:
    """Raise TABLE_UNREADABLE if a RENAME gives or takes rows of a table with a begun snapshot.

    A table may be renamed before its first chunk if another table gets its name. `gone` has the
    tables whose name is not taken.
    """
    if change.kind == "create":
        gone.pop(change.table, None)
    if change.kind != "rename" or change.new_name is None:
        return
    for table in (change.table, change.new_name):
        if pending.get(table) is not None:
            raise renamed(change, table)
    if change.table in pending:
        gone[change.table] = change
    gone.pop(change.new_name, None)


def renamed(change: SchemaChange, table: TableId) -> StreamtableError:
    """Return the error for a table whose snapshot does not start over after a RENAME."""
    return StreamtableError(
        Condition.TABLE_UNREADABLE,
        hint=ANEW,
        table=table,
        reason=f"{change.table} was renamed to {change.new_name} while its rows were being read",
    )
