"""ALTER TABLE: change a schema or options by Flink's rules.

Source: Flink's page *ALTER Statements*. Where the page is silent, the source is Flink 2.2 itself
(tests/compat).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.table import ComputedColumn, Schema, TableColumn
from streamtable.sql.place import place_of
from streamtable.sql.statements.changes import (
    AddElements,
    Change,
    DropColumns,
    DropKey,
    DropWatermark,
    ModifyElements,
    Placed,
    RenameColumn,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from streamtable.sql.statements.schema import Element, KeyDeclared, SchemaDraft, WatermarkDeclared


def altered_options(
    table: str, options: Mapping[str, Given], change: SetOptions | ResetOptions
) -> dict[str, Given]:
    """Return the options after SET or RESET."""
    if isinstance(change, SetOptions):
        if not change.options:
            raise refused(table, None, "SET needs an option")
        return {**options, **change.options}
    if "connector" in change.keys:
        raise refused(table, change.keys["connector"], "RESET cannot remove 'connector'")
    return {key: given for key, given in options.items() if key not in change.keys}


def altered_schema(table: str, schema: Schema, change: Change, at: Span) -> Schema:
    """Return the schema after ALTER TABLE.

    Args:
        table: name of the table, for messages.
        schema: the schema before the change.
        change: any change except of options or of the table's name.
        at: start of the statement in the script.

    Raises:
        StreamtableError: CHANGE_REFUSED, or an error of the new declaration.
    """
    draft = SchemaDraft.of(table, schema)
    match change:
        case AddElements() | ModifyElements():
            adds = isinstance(change, AddElements)
            _check_no_twice(table, change.elements)
            for placed in change.elements:
                _put(draft, placed, adds=adds)
        case RenameColumn():
            _rename(draft, change)
        case DropColumns():
            _drop(draft, change)
        case DropKey():
            _drop_key(draft, change, at)
        case DropWatermark():
            if draft.watermark is None:
                raise refused(table, at, "there is no watermark to drop")
            draft.watermark = None
        case SetOptions() | ResetOptions() | RenameTo():
            return schema
    if not draft.columns:
        raise refused(table, at, "a table needs a column")
    return draft.schema()


def refused(table: str, at: Span | None, reason: str, hint: str | None = None) -> StreamtableError:
    """Return the error for a change that the table does not allow."""
    return StreamtableError(
        Condition.CHANGE_REFUSED, at=at, hint=hint, change=f"ALTER TABLE {table}", reason=reason
    )


def _check_no_twice(table: str, elements: tuple[Placed, ...]) -> None:
    seen: set[str] = set()
    for placed in elements:
        name = _called(placed.element)
        if name in seen:
            raise refused(table, placed.element.at, f"it names {name} twice")
        seen.add(name)


def _put(draft: SchemaDraft, placed: Placed, *, adds: bool) -> None:
    element = placed.element
    match element:
        case KeyDeclared():
            _check_there(draft, element.at, draft.key, "primary key", adds=adds)
            draft.key = element
        case WatermarkDeclared():
            _check_there(draft, element.at, draft.watermark, "watermark", adds=adds)
            draft.watermark = element.watermark
        case _:
            held = draft.columns.get(element.name)
            if adds and held is not None:
                raise refused(
                    draft.table, element.at, f"there is a column '{element.name}' already"
                )
            if not adds and held is None:
                raise _no_column(draft, element.name, element.at)
            if held is not None and element.comment is None:
                element = replace(element, comment=held.comment)
            _put_column(draft, element, placed)


def _check_there(
    draft: SchemaDraft, at: Span | None, held: object, what: str, *, adds: bool
) -> None:
    if adds and held is not None:
        reason = f"there is a {what} already"
        raise refused(draft.table, at, reason, "write MODIFY, or drop it first")
    if not adds and held is None:
        raise refused(draft.table, at, f"there is no {what} to modify", "write ADD")


def _put_column(draft: SchemaDraft, column: TableColumn, placed: Placed) -> None:
    after = placed.after
    if after is not None and (after.name not in draft.columns or after.name == column.name):
        raise refused(
            draft.table,
            place_of(after),
            f"there is no column '{after.name}' for AFTER",
            closest(after.name, draft.columns),
        )
    if not placed.first and after is None:
        draft.columns[column.name] = column
        return
    others = [other for other in draft.columns.values() if other.name != column.name]
    index = 0 if after is None else [other.name for other in others].index(after.name) + 1
    others.insert(index, column)
    draft.columns = {other.name: other for other in others}


def _rename(draft: SchemaDraft, change: RenameColumn) -> None:
    old, new = change.old.name, change.new.name
    _check_free(draft, change.old, frozenset())
    if new in draft.columns:
        raise refused(draft.table, place_of(change.new), f"there is a column '{new}' already")
    draft.columns = {
        new if name == old else name: replace(column, name=new) if name == old else column
        for name, column in draft.columns.items()
    }
    if draft.key is not None:
        names = tuple(change.new if key.name == old else key for key in draft.key.columns)
        draft.key = replace(draft.key, columns=names, name=key_name(draft.key))


def key_name(key: KeyDeclared) -> str:
    """Return the name of the key's constraint; the default is made of the columns, as in Flink."""
    return key.name or "_".join(["PK", *(column.name for column in key.columns)])


def _drop(draft: SchemaDraft, change: DropColumns) -> None:
    names = [column.name for column in change.columns]
    for column in change.columns:
        if names.count(column.name) > 1:
            reason = f"it names column '{column.name}' twice"
            raise refused(draft.table, place_of(column), reason)
    dropped = frozenset(names)
    for column in change.columns:
        _check_free(draft, column, dropped)
        if draft.key and column.name in [key.name for key in draft.key.columns]:
            reason = f"column '{column.name}' is in the primary key"
            raise refused(draft.table, place_of(column), reason, "drop the key first")
    for name in names:
        del draft.columns[name]


def _check_free(draft: SchemaDraft, column: exp.Identifier, dropped: frozenset[str]) -> None:
    """Check that a column exists and that no partition or computed column needs it."""
    name, at = column.name, place_of(column)
    if name not in draft.columns:
        raise _no_column(draft, name, at)
    if draft.partitions and name in [key.name for key in draft.partitions.columns]:
        raise refused(draft.table, at, f"column '{name}' is in PARTITIONED BY")
    computed = [c for c in draft.columns.values() if isinstance(c, ComputedColumn)]
    for other in computed:
        if other.name not in dropped | {name} and name in _read(other.expression):
            reason = f"column '{name}' is read by computed column '{other.name}'"
            raise refused(draft.table, at, reason)
    watermark = draft.watermark
    if watermark and name in {watermark.column} | _read(watermark.expression):
        raise refused(draft.table, at, f"column '{name}' is read by the watermark")


def _read(expression: exp.Expr) -> set[str]:
    """Return the columns that an expression reads."""
    return {column.parts[0].name for column in expression.find_all(exp.Column)}


def _drop_key(draft: SchemaDraft, change: DropKey, at: Span) -> None:
    if draft.key is None:
        raise refused(draft.table, at, "there is no primary key to drop")
    known = key_name(draft.key)
    wanted = change.constraint
    if wanted is not None and wanted.name != known:
        reason = f"there is no constraint '{wanted.name}'"
        raise refused(draft.table, place_of(wanted), reason, f"the primary key's is '{known}'")
    draft.key = None


def _no_column(draft: SchemaDraft, name: str, at: Span | None) -> StreamtableError:
    hint = closest(name, draft.columns)
    return refused(draft.table, at, f"there is no column '{name}'", hint)


def _called(element: Element) -> str:
    match element:
        case KeyDeclared():
            return "a primary key"
        case WatermarkDeclared():
            return "a watermark"
        case column:
            return f"column '{column.name}'"
