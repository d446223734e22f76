"""Changes of ALTER TABLE and ALTER VIEW, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.sql.names import Name
from streamtable.sql.statements.schema import Element


@dataclass(frozen=True)
class SetOptions:
    """`SET ('key' = 'value', ...)`."""

    options: Mapping[str, Given]


@dataclass(frozen=True)
class ResetOptions:
    """`RESET ('key', ...)`, with the place of each key."""

    keys: Mapping[str, Span]


@dataclass(frozen=True)
class RenameTo:
    """`RENAME TO name`."""

    name: Name
    at: Span


@dataclass(frozen=True)
class RenameColumn:
    """`RENAME old TO new`; the identifiers have places."""

    old: exp.Identifier
    new: exp.Identifier


@dataclass(frozen=True)
class Placed:
    """An element of ADD or MODIFY and its position.

    Attributes:
        element: a column, the key or the watermark.
        first: whether the column becomes the first one.
        after: the column that it follows. None without `first`: a new column is appended, and an
            existing one keeps its position.
    """

    element: Element
    first: bool = False
    after: exp.Identifier | None = None


@dataclass(frozen=True)
class AddElements:
    """`ADD element` or `ADD (element, ...)`."""

    elements: tuple[Placed, ...]


@dataclass(frozen=True)
class ModifyElements:
    """`MODIFY element` or `MODIFY (element, ...)`."""

    elements: tuple[Placed, ...]


@dataclass(frozen=True)
class DropColumns:
    """`DROP column` or `DROP (column, ...)`."""

    columns: tuple[exp.Identifier, ...]


@dataclass(frozen=True)
class DropKey:
    """`DROP PRIMARY KEY` or `DROP CONSTRAINT name`."""

    constraint: exp.Identifier | None = None


@dataclass(frozen=True)
class DropWatermark:
    """`DROP WATERMARK`."""


Change = (
    SetOptions
    | ResetOptions
    | RenameTo
    | RenameColumn
    | AddElements
    | ModifyElements
    | DropColumns
    | DropKey
    | DropWatermark
)


@dataclass(frozen=True)
class AlterTable:
    """`ALTER TABLE [IF EXISTS] name change`."""

    name: Name
    change: Change
    at: Span
    if_exists: bool = False
    name_at: Span | None = None


@dataclass(frozen=True)
class AlterView:
    """`ALTER VIEW name RENAME TO name` or `ALTER VIEW name AS query`."""

    name: Name
    change: RenameTo | exp.Query
    at: Span
    name_at: Span | None = None
