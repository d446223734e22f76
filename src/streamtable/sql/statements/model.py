"""Statements of a script, as frozen values with places.

Queries and expressions in statements stay sqlglot trees of our dialect; the planner binds them.
`at` is the start of a statement. `name_at`, `target_at` and `key_at` are the places of the names in
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.table import Schema
from streamtable.sql.names import Name
from streamtable.sql.statements.changes import AlterTable, AlterView
from streamtable.sql.statements.jobs import JobStatement
from streamtable.sql.statements.likes import Like
from streamtable.sql.statements.listings import CatalogStatement, ShowStatement
from streamtable.sql.statements.schema import TableElement

__all__ = [
    "Conflicts",
    "CreateTable",
    "CreateTableAs",
    "CreateTableLike",
    "CreateView",
    "Definition",
    "Drop",
    "Explain",
    "Insert",
    "JarStatement",
    "ListOptions",
    "Name",
    "OnConflict",
    "ResetOption",
    "Select",
    "SetOption",
    "Statement",
    "StatementSet",
]


@dataclass(frozen=True)
class CreateTable:
    """`CREATE [OR REPLACE] [TEMPORARY] TABLE [IF NOT EXISTS] name (columns) ... WITH (options)`.

    Attributes:
        replaces: whether the statement replaces a table of this name: `OR REPLACE`.
        must_exist: whether there must be such a table: `REPLACE TABLE ... AS`.
        elements: what the statement declares, if none of it is a physical column; the schema is
            then empty, because the connector may know the columns. None otherwise.
    """

    name: Name
    schema: Schema
    options: Mapping[str, Given]
    at: Span
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    name_at: Span | None = None
    replaces: bool = False
    must_exist: bool = False
    elements: tuple[TableElement, ...] | None = None


@dataclass(frozen=True)
class CreateTableLike:
    """`CREATE TABLE name [(columns)] [WITH (options)] LIKE source [(...)]`.

    Attributes:
        table: the declaration; its schema is empty.
        elements: elements to add to the source's schema.
    """

    table: CreateTable
    like: Like
    elements: tuple[TableElement, ...] = ()


@dataclass(frozen=True)
class CreateTableAs:
    """`CREATE TABLE name [(columns)] WITH (options) AS query`.

    Attributes:
        table: the declaration; its schema is empty.
        elements: columns that are added to those of the query, or replace them by name.
        order: order of the query's columns, if declared.
    """

    table: CreateTable
    query: exp.Query
    elements: tuple[TableElement, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreateView:
    """`CREATE [OR REPLACE] [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS query`.

    Attributes:
        replaces: whether the statement replaces a view of this name: `OR REPLACE`.
    """

    name: Name
    query: exp.Query
    at: Span
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    name_at: Span | None = None
    replaces: bool = False


@dataclass(frozen=True)
class Drop:
    """`DROP [TEMPORARY] TABLE | VIEW [IF EXISTS] name`."""

    kind: str
    name: Name
    at: Span
    if_exists: bool = False
    name_at: Span | None = None
    temporary: bool = False


class Conflicts(Enum):
    """What becomes of several rows with the primary key of a sink; see FLIP-558."""

    DEDUPLICATE = "DEDUPLICATE"
    ERROR = "ERROR"
    NOTHING = "NOTHING"


@dataclass(frozen=True)
class OnConflict:
    """`ON CONFLICT DO ...`, which Flink has since 2.3."""

    conflicts: Conflicts
    at: Span


@dataclass(frozen=True)
class Insert:
    """`INSERT INTO target [PARTITION (column = value, ...)] [(columns)] query [ON CONFLICT ...]`.

    Attributes:
        hints: `/*+ OPTIONS(...) */` of the target, which overrides its WITH options.
        partition: columns that have the same value in all rows, and which the query does not give.
    """

    target: Name
    query: exp.Query
    at: Span
    columns: tuple[str, ...] = ()
    hints: Mapping[str, Given] = field(default_factory=dict)
    target_at: Span | None = None
    on_conflict: OnConflict | None = None
    partition: Mapping[str, exp.Literal] = field(default_factory=dict)


@dataclass(frozen=True)
class StatementSet:
    """`EXECUTE STATEMENT SET BEGIN insert; ... END`: INSERTs that run as one job."""

    inserts: tuple[Insert, ...]
    at: Span


@dataclass(frozen=True)
class SetOption:
    """`SET 'key' = 'value'`."""

    key: str
    value: Given
    at: Span
    key_at: Span | None = None


@dataclass(frozen=True)
class ResetOption:
    """`RESET ['key']`; without a key, all keys."""

    key: str | None
    at: Span
    key_at: Span | None = None


@dataclass(frozen=True)
class ListOptions:
    """`SET` without arguments."""

    at: Span


@dataclass(frozen=True)
class JarStatement:
    """`ADD JAR 'path'` or `REMOVE JAR 'path'`; `keyword` is the first word."""

    keyword: str
    path: str
    at: Span


@dataclass(frozen=True)
class Explain:
    """`EXPLAIN [PLAN FOR] [CHANGELOG_MODE, ...] insert | query | statement set | CREATE AS`."""

    statement: Insert | StatementSet | Select | CreateTableAs
    at: Span
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Select:
    """A SELECT statement."""

    query: exp.Query
    at: Span


#: Statements that change the catalog and do not require planning a query.
Definition = (
    CreateTable | CreateTableLike | CreateView | AlterTable | AlterView | Drop | CatalogStatement
)

Statement = (
    Definition
    | ShowStatement
    | JobStatement
    | CreateTableAs
    | Insert
    | StatementSet
    | SetOption
    | ListOptions
    | JarStatement
    | ResetOption
    | Explain
    | Select
)
