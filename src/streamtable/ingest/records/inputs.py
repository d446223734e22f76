"""The input of programs: values of a row in the form that Spark takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from streamtable.connectors.mysql_cdc.convert import Convert, NoPlaceError, converter
from streamtable.connectors.mysql_cdc.names import BinaryMode
from streamtable.connectors.mysql_cdc.reader import Change, Row, TableId, TableSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import DataType
from streamtable.ingest.file.transforms import DATA_EVENT_TYPE, OP_TS
from streamtable.ingest.records.programs import Program
from streamtable.ingest.records.rules import TABLE_METADATA

#: Flink CDC's names of changes: for the row before and the row after, by the change's kind.
_EVENTS = {"r": ("", "+I"), "c": ("", "+I"), "u": ("-U", "+U"), "d": ("-D", "")}


class ComputedSide(NamedTuple):
    """A row before or after a change.

    Attributes:
        key: the record's key, up to its computed columns.
        value: the record's value, up to its computed columns; None for the row before.
        inputs: values for the expressions.
    """

    key: bytes
    value: bytes | None
    inputs: tuple[Any, ...]


class ComputedRow(NamedTuple):
    """A change whose records Spark computes.

    Attributes:
        program: number of the program.
        old: None if there is no row before the change.
        new: None if there is no row after the change.
    """

    program: int
    old: ComputedSide | None
    new: ComputedSide | None


class Inputs:
    """Reads a program's inputs from rows of one version of a table.

    Args:
        table: the table at the time of the rows.
        program: the program.
        tables: finds the current version of a table; None if there is none.

    Raises:
        StreamtableError: TABLE_UNREADABLE if a column was dropped, or has a type whose values
            the program does not take.
    """

    def __init__(
        self,
        table: TableSchema,
        program: Program,
        tables: Callable[[TableId], TableSchema | None],
    ) -> None:
        self._table = table
        self._readers = [self._reader(name, kind, tables) for name, kind in program.reads]

    def of(self, change: Change, row: Row, *, after: bool) -> tuple[Any, ...]:
        """Return the inputs of a row before or after a change."""
        return tuple(read(change, row, after) for read in self._readers)

    def _reader(
        self, name: str, kind: DataType, tables: Callable[[TableId], TableSchema | None]
    ) -> Callable[[Change, Row, bool], Any]:
        table = self._table
        place = table.places.get(name)
        if place is not None:
            try:
                convert = converter(table.columns[place], kind, "UTC", BinaryMode.BYTES)
            except TypeError:
                raise _unfit(table, name, f"is {table.columns[place].type}, not {kind}") from None
            return lambda _, row, __: _converted(table, name, convert, row[place])
        if name in TABLE_METADATA:
            text = TABLE_METADATA[name](table.id)
            return lambda *_: text
        if name == DATA_EVENT_TYPE:
            return lambda change, _, after: _EVENTS[change.kind][after]
        if name == OP_TS:
            return lambda change, _, __: change.op_ts
        now = tables(table.id)
        if now is None or name not in now.places:
            raise _unfit(table, name, "is not there any more")
        return lambda *_: None  # the column was added later


def _converted(table: TableSchema, name: str, convert: Convert, value: Any) -> Any:
    if value is None:
        return None
    try:
        return convert(value)
    except NoPlaceError as error:
        raise _unfit(table, name, f"has a value that does not fit: {error}") from None


def _unfit(table: TableSchema, column: str, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.TABLE_UNREADABLE,
        hint="change the transform that uses it",
        table=table.id,
        reason=f"column {column} {reason}",
    )
