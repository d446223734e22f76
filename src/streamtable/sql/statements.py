"""The statements of a script, as frozen values; each knows where it stands.

Queries and expressions inside stay sqlglot trees of our dialect; the planner binds them.
`at` is where a statement begins; `name_at`, `target_at`, `key_at` are where what it names stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.table import Schema
from streamtable.sql.changes import AlterTable, AlterView
from streamtable.sql.likes import Like
from streamtable.sql.listings import CatalogStatement, ShowStatement
from streamtable.sql.names import Name
from streamtable.sql.schema import Element

__all__ = [
    "CreateTable",
    "CreateTableAs",
    "CreateTableLike",
    "CreateView",
    "Definition",
    "Drop",
    "Explain",
    "Insert",
    "Name",
    "ResetOption",
    "Select",
    "SetOption",
    "Statement",
    "StatementSet",
]


@dataclass(frozen=True)
class CreateTable:
    """`CREATE [TEMPORARY] TABLE [IF NOT EXISTS] name (columns) [COMMENT] WITH (options)`."""

    name: Name
    schema: Schema
    options: Mapping[str, Given]
    at: Span
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    name_at: Span | None = None


@dataclass(frozen=True)
class CreateTableLike:
    """`CREATE TABLE name [(columns)] [WITH (options)] LIKE source [(...)]`.

    Attributes:
        table: what is declared; its schema is empty.
        elements: what it adds to the source's columns.
    """

    table: CreateTable
    like: Like
    elements: tuple[Element, ...] = ()


@dataclass(frozen=True)
class CreateTableAs:
    """`CREATE TABLE name [(columns)] WITH (options) AS query`.

    Attributes:
        table: what is declared; its schema is empty.
        elements: columns beside those of the query, or in their place.
        order: the query's columns in another order, where it is given.
    """

    table: CreateTable
    query: exp.Query
    elements: tuple[Element, ...] = ()
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreateView:
    """`CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(columns)] AS query`."""

    name: Name
    query: exp.Query
    at: Span
    columns: tuple[str, ...] = ()
    comment: str | None = None
    temporary: bool = False
    if_not_exists: bool = False
    name_at: Span | None = None


@dataclass(frozen=True)
class Drop:
    """`DROP [TEMPORARY] TABLE | VIEW [IF EXISTS] name`."""

    kind: str
    name: Name
    at: Span
    if_exists: bool = False
    name_at: Span | None = None
    temporary: bool = False


@dataclass(frozen=True)
class Insert:
    """`INSERT INTO target [(columns)] query [ON CONFLICT DO DEDUPLICATE]`.

    Attributes:
        hints: `/*+ OPTIONS(...) */` on the target; overrides of its WITH options.
        conflict_at: where ON CONFLICT stands, which Flink has since 2.3.
    """

    target: Name
    query: exp.Query
    at: Span
    columns: tuple[str, ...] = ()
    hints: Mapping[str, Given] = field(default_factory=dict)
    target_at: Span | None = None
    conflict_at: Span | None = None


@dataclass(frozen=True)
class StatementSet:
    """`EXECUTE STATEMENT SET BEGIN insert; ... END`: inserts that are one job."""

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
    """`RESET ['key']`; no key means all."""

    key: str | None
    at: Span


@dataclass(frozen=True)
class Explain:
    """`EXPLAIN [PLAN FOR] [CHANGELOG_MODE, ...] insert | query | statement set | CREATE AS`."""

    statement: Insert | StatementSet | Select | CreateTableAs
    at: Span
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Select:
    """A query on its own."""

    query: exp.Query
    at: Span


#: Statements that change what a catalog holds, and need no query to be planned for that.
Definition = (
    CreateTable | CreateTableLike | CreateView | AlterTable | AlterView | Drop | CatalogStatement
)

Statement = (
    Definition
    | ShowStatement
    | CreateTableAs
    | Insert
    | StatementSet
    | SetOption
    | ResetOption
    | Explain
    | Select
)
