"""CREATE TABLE ... LIKE and CREATE TABLE ... AS: merge schemas and options.

Source: Flink's page *CREATE Statements*, sections LIKE and AS select_statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.table import (
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    Schema,
    Table,
    TableColumn,
)
from streamtable.core.types import Field
from streamtable.sql.statements.likes import Feature, Like, Merging
from streamtable.sql.statements.model import CreateTableAs
from streamtable.sql.statements.schema import (
    KeyDeclared,
    PartitionsDeclared,
    SchemaDraft,
    TableElement,
    WatermarkDeclared,
)

_FEATURES: dict[type[TableColumn], Feature] = {
    ComputedColumn: Feature.GENERATED,
    MetadataColumn: Feature.METADATA,
}


def schema_like(table: str, like: Like, source: Table, elements: Sequence[TableElement]) -> Schema:
    """Merge the included parts of the source's schema with the elements of the statement.

    Raises:
        StreamtableError: MERGE_CONFLICT if both declare the same part, or an error of the new
            declaration.
    """
    draft = SchemaDraft.of(table, source.schema)
    for name, column in list(draft.columns.items()):
        feature = _FEATURES.get(type(column))
        if feature and like.merging(feature) is Merging.EXCLUDING:
            del draft.columns[name]
    if like.merging(Feature.CONSTRAINTS) is Merging.EXCLUDING:
        draft.key = None
    if like.merging(Feature.WATERMARKS) is Merging.EXCLUDING:
        draft.watermark = None
    if like.merging(Feature.PARTITIONS) is Merging.EXCLUDING:
        draft.partitions = None
    taken = dict(draft.columns)
    for element in elements:
        _make_room(draft, taken, like, element)
        _place(draft, element)
    return draft.schema()


def _make_room(
    draft: SchemaDraft, taken: Mapping[str, TableColumn], like: Like, element: TableElement
) -> None:
    """Check that an element fits the source's parts; remove a part that the element overwrites."""
    match element:
        case KeyDeclared():
            if draft.key is not None and draft.key.at is None:
                raise _conflict(element.at, "a primary key", "EXCLUDING CONSTRAINTS")
            _check_not_null(draft.table, taken, element)
        case WatermarkDeclared():
            held = draft.watermark
            if held is not None and like.merging(Feature.WATERMARKS) is Merging.OVERWRITING:
                draft.watermark = None
            elif held is not None and held.column == element.watermark.column:
                hint = "EXCLUDING or OVERWRITING WATERMARKS"
                raise _conflict(element.at, f"a watermark on '{held.column}'", hint)
        case PartitionsDeclared():
            if draft.partitions is not None:
                raise _conflict(element.at, "partitions", "EXCLUDING PARTITIONS")
        case PhysicalColumn() | ComputedColumn() | MetadataColumn():
            held_column = taken.get(element.name)
            if held_column is not None:
                _check_column(held_column, element, like)


def _check_column(held: TableColumn, element: TableColumn, like: Like) -> None:
    feature = _FEATURES.get(type(element))
    what = f"column '{element.name}'"
    if feature is None or not isinstance(held, type(element)):
        raise _conflict(element.at, what, None)
    if like.merging(feature) is not Merging.OVERWRITING:
        hint = f"EXCLUDING or OVERWRITING {feature.value}"
        raise _conflict(element.at, what, hint)


def _check_not_null(table: str, taken: Mapping[str, TableColumn], key: KeyDeclared) -> None:
    """Check that the key columns of the source are NOT NULL; the key does not make them so."""
    for named in key.columns:
        column = taken.get(named.name)
        if isinstance(column, PhysicalColumn) and column.type.nullable:
            raise StreamtableError(
                Condition.INVALID_PRIMARY_KEY,
                at=key.at,
                table=table,
                reason=f"column '{named.name}' of the source is nullable",
                hint="declare it NOT NULL there",
            )


def _place(draft: SchemaDraft, element: TableElement) -> None:
    if isinstance(element, ComputedColumn | MetadataColumn) and element.name in draft.columns:
        draft.columns[element.name] = element
    else:
        draft.take([element])


def options_like(
    like: Like, source: Mapping[str, Given], given: Mapping[str, Given]
) -> dict[str, Given]:
    """Merge the source's options with those of the statement."""
    merging = like.merging(Feature.OPTIONS)
    if merging is Merging.EXCLUDING:
        return dict(given)
    for key, value in given.items():
        if key in source and merging is not Merging.OVERWRITING:
            raise _conflict(value.at, f"option '{key}'", "EXCLUDING or OVERWRITING OPTIONS")
    return {**source, **given}


def _conflict(at: Span | None, what: str, clause: str | None) -> StreamtableError:
    hint = f"write LIKE ... ({clause})" if clause else "remove it, or rename it"
    return StreamtableError(Condition.MERGE_CONFLICT, at=at, what=what, hint=hint)


def schema_as(statement: CreateTableAs, fields: Sequence[Field]) -> Schema:
    """Return the schema of CREATE TABLE AS: the statement's columns, then the query's.

    Args:
        statement: its column with the name of a query column sets the type and keeps the query's
            position.
        fields: the columns of the query.

    Raises:
        StreamtableError: INVALID_COLUMN_LIST, DUPLICATE_COLUMN, or an error of the new declaration.
    """
    name = ".".join(statement.table.name)
    given: dict[str, TableColumn] = {}
    for field in fields:
        SchemaDraft(name, given).take([PhysicalColumn(field.name, field.type, statement.table.at)])
    if statement.order:
        given = {column: given[column] for column in _checked_order(statement, given)}
    own = SchemaDraft(name).take(statement.elements)
    before = {key: column for key, column in own.columns.items() if key not in given}
    inside = {key: own.columns.get(key, column) for key, column in given.items()}
    columns = {**before, **inside}
    return SchemaDraft(name, columns, own.key, own.watermark, own.partitions).schema()


def _checked_order(statement: CreateTableAs, given: Mapping[str, TableColumn]) -> tuple[str, ...]:
    order = statement.order
    at = statement.table.name_at
    for column in order:
        if column not in given:
            hint = closest(column, given)
            raise _bad_list(statement, at, f"the query has no column '{column}'", hint)
    if len(order) != len(given) or len(set(order)) != len(order):
        listed = ", ".join(given)
        raise _bad_list(statement, at, f"it must name each of ({listed}) once", None)
    return order


def _bad_list(
    statement: CreateTableAs, at: Span | None, reason: str, hint: str | None
) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_COLUMN_LIST,
        at=at,
        hint=hint,
        table=".".join(statement.table.name),
        reason=reason,
    )
