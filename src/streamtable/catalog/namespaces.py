"""Catalogs and databases of a session, and the resolution of qualified names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Given, Option, OptionSet
from streamtable.core.types import quote
from streamtable.sql.names import Name
from streamtable.sql.statements.listings import (
    CreateCatalog,
    CreateDatabase,
    DropCatalog,
    DropDatabase,
    UseCatalog,
    UseDatabase,
)

if TYPE_CHECKING:
    from streamtable.connector_api.catalogs import CatalogType, ExternalCatalog

#: Flink's names of the initial catalog and database.
DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"

_TYPE = Option("type", TEXT, doc="`generic_in_memory`.", required=True)
_FIRST_DATABASE = Option("default-database", TEXT, default="default", doc="Its first database.")
_IN_MEMORY = "generic_in_memory"
_OPTIONS = OptionSet("a catalog in memory", (_TYPE, _FIRST_DATABASE))


@dataclass(frozen=True, order=True)
class Path:
    """Fully qualified name of a table, view or function."""

    catalog: str
    database: str
    name: str

    def __str__(self) -> str:
        """Shortest unambiguous name; default catalog and database are omitted."""
        if self.catalog != DEFAULT_CATALOG:
            return f"{self.catalog}.{self.database}.{self.name}"
        if self.database != DEFAULT_DATABASE:
            return f"{self.database}.{self.name}"
        return self.name

    @property
    def quoted(self) -> str:
        """All three parts in backticks."""
        return ".".join(map(quote, (self.catalog, self.database, self.name)))


@dataclass(frozen=True)
class Described:
    """What is declared of a catalog.

    Attributes:
        options: option -> value, sorted; the type is one of them.
    """

    name: str
    options: Mapping[str, str]
    comment: str | None = None


class Namespaces:
    """Catalogs of a session, in memory and external.

    Args:
        types: types of external catalogs by name.

    Attributes:
        catalog: the current catalog.
        database: the current database.
        external: name -> external catalog.
    """

    def __init__(self, types: Mapping[str, CatalogType] | None = None) -> None:
        self._types = types or {}
        self.external: dict[str, ExternalCatalog] = {}
        self.catalog = DEFAULT_CATALOG
        self.database = DEFAULT_DATABASE
        self._databases: dict[str, dict[str, None]] = {DEFAULT_CATALOG: {DEFAULT_DATABASE: None}}
        self._first = {DEFAULT_CATALOG: DEFAULT_DATABASE}
        self._described = {DEFAULT_CATALOG: Described(DEFAULT_CATALOG, {_TYPE.key: _IN_MEMORY})}

    def copy(self) -> Namespaces:
        """Return independent catalogs and databases with the same content."""
        other = Namespaces(self._types)
        other.external = dict(self.external)
        other.catalog, other.database = self.catalog, self.database
        other._databases = {name: dict(inside) for name, inside in self._databases.items()}
        other._first = dict(self._first)
        other._described = dict(self._described)
        return other

    def path(self, name: Name) -> Path:
        """Qualify a name with the current catalog and database."""
        catalog, database = self._place(name[:-1])
        return Path(catalog, database, name[-1])

    def _place(self, place: Name) -> tuple[str, str]:
        """Expand `()`, `(database,)` or `(catalog, database)` to catalog and database."""
        catalog, database = (self.catalog, *place)[-2:] if place else (self.catalog, self.database)
        return catalog, database

    def catalogs(self) -> list[str]:
        """List all catalogs, sorted."""
        return sorted(self._databases)

    def described(self, catalog: str, at: Span | None) -> Described:
        """Return the declaration of a catalog; UNKNOWN_CATALOG if it does not exist."""
        self._of(catalog, at)
        return self._described[catalog]

    def databases(self, catalog: str | None = None, at: Span | None = None) -> list[str]:
        """List the databases of a catalog, sorted; UNKNOWN_CATALOG if it does not exist."""
        return sorted(self._of(catalog or self.catalog, at))

    def home(self, place: Name, at: Span | None) -> tuple[str, str]:
        """Return the catalog and database of a name; an empty name means the current ones.

        Raises:
            StreamtableError: UNKNOWN_CATALOG, UNKNOWN_DATABASE.
        """
        catalog, database = self._place(place)
        self.check(Path(catalog, database, ""), at)
        return catalog, database

    def check(self, path: Path, at: Span | None) -> None:
        """Check that catalog and database exist; UNKNOWN_CATALOG or UNKNOWN_DATABASE otherwise."""
        known = self._of(path.catalog, at)
        if path.database not in known:
            raise StreamtableError(
                Condition.UNKNOWN_DATABASE,
                at=at,
                hint=closest(path.database, known),
                database=path.database,
                catalog=path.catalog,
            )

    def create_catalog(self, statement: CreateCatalog) -> None:
        """Create a catalog, in memory or external; unknown catalog types are refused by name."""
        name = statement.name
        if name in self._databases:
            if statement.if_not_exists:
                return
            raise self._exists(statement.at, "catalog", name)
        kind = self._type_of(name, statement.options, statement.at)
        if kind == _IN_MEMORY:
            first = _OPTIONS.read(statement.options, name, statement.at)[_FIRST_DATABASE]
        else:
            catalog = self._types[kind].create(name, statement.options, statement.at)
            self.external[name] = catalog
            first = catalog.database
        self._databases[name] = {first: None}
        self._first[name] = first
        options = {key: given.text for key, given in sorted(statement.options.items())}
        self._described[name] = Described(name, options, statement.comment)

    def _type_of(self, name: str, given: Mapping[str, Given], at: Span) -> str:
        """Return the type of a new catalog; NOT_YET if there is no such type."""
        kind = given.get(_TYPE.key)
        if kind is None:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=f"CREATE CATALOG {name}",
                reason=f"it lacks the option '{_TYPE.key}'",
                hint=f"write WITH ('{_TYPE.key}' = '{_IN_MEMORY}')",
            )
        known = (_IN_MEMORY, *self._types)
        if kind.text not in known:
            raise StreamtableError(
                Condition.NOT_YET,
                at=kind.at,
                what=f"a catalog of type '{kind.text}'",
                hint=closest(kind.text, known) or f"there are {', '.join(known)}",
            )
        return kind.text

    def check_changeable(self, catalog: str, change: str, at: Span | None) -> None:
        """Check that a catalog is in memory; CHANGE_REFUSED for an external one."""
        if catalog in self.external:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=change,
                reason=f"the content of catalog {catalog} is that of an external system",
                hint=f"use {DEFAULT_CATALOG}; CREATE TABLE ... LIKE copies a table into it,"
                " and a TEMPORARY table or view hides one",
            )

    def create_database(self, statement: CreateDatabase) -> None:
        """Create a database."""
        catalog, database = (self.catalog, *statement.name)[-2:]
        known = self._of(catalog, statement.at)
        self.check_changeable(catalog, f"CREATE DATABASE {database}", statement.at)
        if database in known and not statement.if_not_exists:
            raise self._exists(statement.at, "database", database)
        known[database] = None

    def drop_catalog(self, statement: DropCatalog) -> str | None:
        """Drop a catalog and return its name; None if IF EXISTS finds no catalog."""
        name = statement.name
        if name not in self._databases and statement.if_exists:
            return None
        self._of(name, statement.at)
        if name == self.catalog:
            raise self._in_use(statement.at, "CATALOG", name)
        del self._databases[name]
        self.external.pop(name, None)
        return name

    def find_database(self, statement: DropDatabase) -> tuple[str, str] | None:
        """Return the database to drop; None if IF EXISTS finds no database."""
        catalog, database = (self.catalog, *statement.name)[-2:]
        if statement.if_exists and database not in self._databases.get(catalog, {}):
            return None
        self.check(Path(catalog, database, ""), statement.at)
        self.check_changeable(catalog, f"DROP DATABASE {database}", statement.at)
        if (catalog, database) == (self.catalog, self.database):
            raise self._in_use(statement.at, "DATABASE", database)
        return catalog, database

    def drop_database(self, catalog: str, database: str) -> None:
        """Drop a database; the caller has checked that it exists and is empty."""
        del self._databases[catalog][database]

    def use_catalog(self, statement: UseCatalog) -> None:
        """Set the current catalog; its first database becomes the current one."""
        self._of(statement.name, statement.at)
        self.catalog = statement.name
        self.database = self._first[statement.name]

    def use_database(self, statement: UseDatabase) -> None:
        """Set the current database and its catalog."""
        self.catalog, self.database = self.home(statement.name, statement.at)

    def _of(self, catalog: str, at: Span | None) -> dict[str, None]:
        found = self._databases.get(catalog)
        if found is None:
            raise StreamtableError(
                Condition.UNKNOWN_CATALOG,
                at=at,
                hint=closest(catalog, self._databases),
                catalog=catalog,
            )
        return found

    def _exists(self, at: Span, kind: str, name: str) -> StreamtableError:
        return StreamtableError(
            Condition.ALREADY_EXISTS,
            at=at,
            what=f"{kind} {name}",
            hint="write CREATE ... IF NOT EXISTS",
        )

    def _in_use(self, at: Span, kind: str, name: str) -> StreamtableError:
        return StreamtableError(
            Condition.CHANGE_REFUSED,
            at=at,
            change=f"DROP {kind} {name}",
            reason=f"it is the current {kind.lower()}",
            hint="USE another one first",
        )
