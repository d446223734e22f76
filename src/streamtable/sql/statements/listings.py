"""Statements about catalogs, databases and functions, and SHOW and DESCRIBE statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.sql.names import Name


@dataclass(frozen=True)
class CreateCatalog:
    """`CREATE CATALOG [IF NOT EXISTS] name [COMMENT '...'] WITH (options)`."""

    name: str
    options: Mapping[str, Given]
    at: Span
    if_not_exists: bool = False
    comment: str | None = None


@dataclass(frozen=True)
class CreateDatabase:
    """`CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT '...']`."""

    name: Name
    at: Span
    if_not_exists: bool = False


@dataclass(frozen=True)
class DropCatalog:
    """`DROP CATALOG [IF EXISTS] name`."""

    name: str
    at: Span
    if_exists: bool = False


@dataclass(frozen=True)
class DropDatabase:
    """`DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT | CASCADE]`."""

    name: Name
    at: Span
    if_exists: bool = False
    cascade: bool = False


@dataclass(frozen=True)
class UseCatalog:
    """`USE CATALOG name`; `at` is the place of the name."""

    name: str
    at: Span


@dataclass(frozen=True)
class UseDatabase:
    """`USE [catalog.]database`; `at` is the place of the name."""

    name: Name
    at: Span


@dataclass(frozen=True)
class CreateFunction:
    """`CREATE [TEMPORARY [SYSTEM]] FUNCTION [IF NOT EXISTS] name AS 'target' LANGUAGE language`.

    Attributes:
        target: `module:function` in Python, or the name of a class.
        target_at: place of that text.
        system: whether the function overrides built-in functions and belongs to no database.
        language: PYTHON, JAVA or SCALA.
        jars: the paths of `USING JAR`.
    """

    name: Name
    target: str
    target_at: Span
    at: Span
    temporary: bool = False
    system: bool = False
    if_not_exists: bool = False
    language: str = "JAVA"
    jars: tuple[str, ...] = ()


@dataclass(frozen=True)
class DropFunction:
    """`DROP [TEMPORARY [SYSTEM]] FUNCTION [IF EXISTS] name`."""

    name: Name
    at: Span
    temporary: bool = False
    system: bool = False
    if_exists: bool = False


class Listing(Enum):
    """Objects that SHOW lists; the value is Flink's heading."""

    CATALOGS = "catalog name"
    DATABASES = "database name"
    TABLES = "table name"
    VIEWS = "view name"
    FUNCTIONS = "function name"
    USER_FUNCTIONS = "user function name"
    CURRENT_CATALOG = "current catalog name"
    CURRENT_DATABASE = "current database name"
    MODULES = "module name"
    MODELS = "model name"
    MATERIALIZED_TABLES = "materialized table name"
    JARS = "jars"


@dataclass(frozen=True)
class Pattern:
    """`[NOT] LIKE 'pattern'` or `ILIKE`."""

    text: str
    negated: bool = False
    ignores_case: bool = False


@dataclass(frozen=True)
class Show:
    """`SHOW what [FROM place] [[NOT] LIKE 'pattern']`.

    Attributes:
        place: catalog or database to list; empty: the current one.
    """

    what: Listing
    at: Span
    place: Name = ()
    pattern: Pattern | None = None


@dataclass(frozen=True)
class Describe:
    """`DESCRIBE name` or `SHOW COLUMNS FROM name [[NOT] LIKE 'pattern']`."""

    name: Name
    at: Span
    name_at: Span | None = field(default=None)
    pattern: Pattern | None = None


@dataclass(frozen=True)
class ShowModulesInFull:
    """`SHOW FULL MODULES`."""

    at: Span


@dataclass(frozen=True)
class DescribeCatalog:
    """`DESCRIBE CATALOG [EXTENDED] name`; `name_at` is the place of the name."""

    name: str
    at: Span
    name_at: Span
    extended: bool = False


@dataclass(frozen=True)
class DescribeFunction:
    """`DESCRIBE FUNCTION [EXTENDED] name`; `name_at` is the place of the name."""

    name: Name
    at: Span
    name_at: Span
    extended: bool = False


@dataclass(frozen=True)
class ShowCreate:
    """`SHOW CREATE TABLE name`, `SHOW CREATE VIEW name` or `SHOW CREATE CATALOG name`."""

    kind: str
    name: Name
    at: Span
    name_at: Span | None = None


CatalogStatement = (
    CreateCatalog
    | CreateDatabase
    | DropCatalog
    | DropDatabase
    | UseCatalog
    | UseDatabase
    | CreateFunction
    | DropFunction
)
ShowStatement = (
    Show | ShowModulesInFull | Describe | DescribeCatalog | DescribeFunction | ShowCreate
)
