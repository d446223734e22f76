"""Convert changes of the reader into rows of a declared table, with row kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from streamtable.connectors.mysql_cdc.convert import Convert, NoPlaceError, converter
from streamtable.connectors.mysql_cdc.names import ANEW, BinaryMode
from streamtable.connectors.mysql_cdc.reader import Change, Row, SchemaChange, TableSchema, discover
from streamtable.connectors.mysql_cdc.reader.settings import MySqlSettings
from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class RowSpec:
    """The output of a scan of a table.

    Attributes:
        table: the declared table's name, for messages.
        fields: physical and metadata columns, in order.
        metadata: the metadata key of a field, by its name.
        key: the declared primary key.
        zone: the time zone in which a TIMESTAMP is shown.
        binary: the text encoding of bytes.
        append_only: whether every change is an insert.
    """

    table: str
    fields: tuple[Field, ...]
    metadata: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    zone: str
    binary: BinaryMode
    append_only: bool


#: Row kind, values of the fields, and the row's position in the order of its key.
Out = tuple[int, list[Any], int]


class ChangelogRows:
    """Converts changes into rows; each task has its own instance."""

    def __init__(self, spec: RowSpec, settings: MySqlSettings) -> None:
        self._spec = spec
        self._settings = settings
        self._readers: dict[int, tuple[TableSchema, _Columns]] = {}

    def rows(self, changes: Iterable[Change | SchemaChange]) -> Iterator[Out]:
        """Convert changes into rows, in their order; DDL statements give no rows.

        Raises:
            StreamtableError: TABLE_UNREADABLE if a declared column no longer exists, or a
                value does not fit its type.
        """
        for change in changes:
            if not isinstance(change, SchemaChange):
                yield from self._of(change)

    def _of(self, change: Change) -> Iterator[Out]:
        columns = self._columns(change.table)
        kinds = _KINDS[change.kind]
        if change.kind == "u" and columns.key(change.before) != columns.key(change.after):
            kinds = (RowKind.DELETE, RowKind.INSERT)  # a new row, as in Debezium
        for kind, row in zip(kinds, _images(change), strict=True):
            place = 2 * change.ordinal + (kind in (RowKind.INSERT, RowKind.UPDATE_AFTER))
            given = RowKind.INSERT if self._spec.append_only else kind
            yield given.value, columns.values(change, row, kind), place

    def _columns(self, table: TableSchema) -> _Columns:
        known = self._readers.get(id(table))
        if known is None or known[0] is not table:
            known = self._readers[id(table)] = table, _Columns(self._spec, table, self._settings)
        return known[1]


_KINDS: dict[str, tuple[RowKind, ...]] = {
    "r": (RowKind.INSERT,),
    "c": (RowKind.INSERT,),
    "u": (RowKind.UPDATE_BEFORE, RowKind.UPDATE_AFTER),
    "d": (RowKind.DELETE,),
}


def _images(change: Change) -> list[Row]:
    return [row for row in (change.before, change.after) if row is not None]


class _Columns:
    """The declared columns in rows of one version of a table."""

    def __init__(self, spec: RowSpec, table: TableSchema, settings: MySqlSettings) -> None:
        self._table = table
        self._metadata = dict(spec.metadata)
        self._readers: list[tuple[str, int | None, Convert | None]] = []
        for field in spec.fields:
            if field.name in self._metadata:
                self._readers.append((field.name, None, None))
                continue
            place = place_of(table, field.name)
            if place is None:
                _check_added(spec, table, field, settings)
                self._readers.append((field.name, None, None))
                continue
            convert = conversion(spec, table, place, field)
            self._readers.append((field.name, place, convert))
        self._key = [place for name in spec.key if (place := place_of(table, name)) is not None]

    def key(self, row: Row | None) -> tuple[Any, ...]:
        """Return the declared key of a row."""
        return () if row is None else tuple(row[place] for place in self._key)

    def values(self, change: Change, row: Row, kind: RowKind) -> list[Any]:
        """Return the declared columns of a row."""
        found: list[Any] = []
        for name, place, convert in self._readers:
            if name in self._metadata:
                found.append(_metadata(self._metadata[name], change, kind))
            elif place is None or row[place] is None or convert is None:
                found.append(None)
            else:
                try:
                    found.append(convert(row[place]))
                except NoPlaceError as error:
                    raise StreamtableError(
                        Condition.TABLE_UNREADABLE,
                        hint="declare the column with a type that holds it",
                        table=self._table.id,
                        reason=f"column {name}: {error}",
                    ) from None
        return found


def _metadata(key: str, change: Change, kind: RowKind) -> Any:
    match key:
        case "table_name":
            return change.table.id.table
        case "database_name":
            return change.table.id.database
        case "row_kind":
            return kind.short
    return _EPOCH + timedelta(milliseconds=change.op_ts)


def place_of(table: TableSchema, name: str) -> int | None:
    """Return the position of a column; MySQL's column names are case-insensitive."""
    if name in table.places:
        return table.places[name]
    return next((i for column, i in table.places.items() if column.lower() == name.lower()), None)


def conversion(spec: RowSpec, table: TableSchema, place: int, field: Field) -> Convert:
    """Return the conversion of a column's values to a field's type.

    Raises:
        StreamtableError: TABLE_UNREADABLE if no conversion exists.
    """
    column = table.columns[place]
    try:
        return converter(column, field.type, spec.zone, spec.binary)
    except TypeError:
        raise StreamtableError(
            Condition.TABLE_UNREADABLE,
            hint="see the table of types in docs/tables/mysql.md",
            table=table.id,
            reason=f"column {column.name} is {column.type}, which {spec.table} declares as"
            f" {field.type.with_nullable(True)}",
        ) from None


def missing_column(spec: RowSpec, table: TableSchema, name: str) -> StreamtableError:
    """Return the error for a declared column that does not exist in the table."""
    return StreamtableError(
        Condition.TABLE_UNREADABLE,
        hint=f"declare the columns that the table has, and {ANEW}",
        table=table.id,
        reason=f"it has no column '{name}', which {spec.table} declares",
    )


def _check_added(spec: RowSpec, table: TableSchema, field: Field, settings: MySqlSettings) -> None:
    """Raise an error unless the column was added later and may be NULL in older rows."""
    now = discover(settings, [_exactly(table)])
    if not now or place_of(now[0], field.name) is None or not field.type.nullable:
        raise missing_column(spec, table, field.name)


def _exactly(table: TableSchema) -> str:
    import re

    return re.escape(str(table.id))
