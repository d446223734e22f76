"""The tables and views of a session, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.table import Connector, Schema, Table
from streamtable.sql.statements import CreateTable, CreateView, Drop, Name

#: Names that may qualify a table today, as Flink calls its built-in catalog and database.
DEFAULT_CATALOG = "default_catalog"
DEFAULT_DATABASE = "default_database"


class Factory(Protocol):
    """What the catalog needs of a connector: checked tables out of WITH options."""

    @property
    def create(self) -> Callable[[str, Schema, Mapping[str, Given], Span | None], Connector]:
        """(table name, schema, options, place) -> connector."""


@dataclass(frozen=True)
class View:
    """A named query; `columns` renames its output where it is not empty."""

    name: str
    query: exp.Query
    columns: tuple[str, ...] = ()


class Catalog:
    """Registers DDL and answers names.

    Args:
        connectors: name -> factory.
    """

    def __init__(self, connectors: Mapping[str, Factory]) -> None:
        self._connectors = connectors
        self._entries: dict[str, Table | View] = {}

    def create_table(self, statement: CreateTable) -> None:
        """Checks a table's options and keeps it; DUPLICATE_TABLE where the name is taken."""
        name = self._new_name(statement.name, statement.at, statement.if_not_exists)
        if name is not None:
            self._entries[name] = Table(
                name=name,
                schema=statement.schema,
                connector=self._connector(name, statement, statement.options),
                comment=statement.comment,
                at=statement.at,
            )

    def create_view(self, statement: CreateView) -> None:
        """Keeps a view; its query is planned where it is used."""
        name = self._new_name(statement.name, statement.at, statement.if_not_exists)
        if name is not None:
            self._entries[name] = View(name, statement.query, statement.columns)

    def drop(self, statement: Drop) -> None:
        """Forgets a table or view; the topic behind it stays."""
        name = local_name(statement.name, statement.at)
        found = self._entries.get(name)
        matches = isinstance(found, View if statement.kind == "VIEW" else Table)
        if matches:
            del self._entries[name]
        elif not statement.if_exists:
            raise self._unknown(name, statement.at)

    def find(self, name: Name, at: Span | None) -> Table | View:
        """The table or view of that name; UNKNOWN_TABLE with the nearest known one otherwise."""
        local = local_name(name, at)
        if local not in self._entries:
            raise self._unknown(local, at)
        return self._entries[local]

    def find_table(self, name: Name, at: Span | None) -> Table:
        """A table to write into; a view is refused."""
        found = self.find(name, at)
        if isinstance(found, View):
            raise StreamtableError(
                Condition.UNKNOWN_TABLE,
                at=at,
                table=found.name,
                hint="it is a view; INSERT INTO takes a table",
            )
        return found

    def _new_name(self, name: Name, at: Span, if_not_exists: bool) -> str | None:
        local = local_name(name, at)
        if local not in self._entries:
            return local
        if if_not_exists:
            return None
        raise StreamtableError(
            Condition.DUPLICATE_TABLE,
            at=at,
            table=local,
            hint="drop it first, or write CREATE ... IF NOT EXISTS",
        )

    def _connector(
        self, name: str, statement: CreateTable, options: Mapping[str, Given]
    ) -> Connector:
        given = options.get("connector")
        if given is None:
            raise StreamtableError(
                Condition.MISSING_OPTION,
                at=statement.at,
                hint="known connectors: " + ", ".join(self._connectors),
                table=name,
                option="connector",
                owner="every table",
            )
        factory = self._connectors.get(given.text)
        if factory is None:
            raise StreamtableError(
                Condition.UNKNOWN_CONNECTOR,
                at=given.at,
                hint=closest(given.text, self._connectors)
                or "known connectors: " + ", ".join(self._connectors),
                table=name,
                connector=given.text,
            )
        return factory.create(name, statement.schema, options, statement.at)

    def _unknown(self, name: str, at: Span | None) -> StreamtableError:
        return StreamtableError(
            Condition.UNKNOWN_TABLE, at=at, table=name, hint=closest(name, self._entries)
        )


def local_name(name: Name, at: Span | None) -> str:
    """The last part of a name whose qualifiers, if any, are the built-in catalog and database."""
    qualifiers = name[:-1]
    if qualifiers in ((), (DEFAULT_DATABASE,), (DEFAULT_CATALOG, DEFAULT_DATABASE)):
        return name[-1]
    raise StreamtableError(
        Condition.NOT_YET,
        at=at,
        what=f"a name in another catalog or database, `{'.'.join(name)}`,",
        hint=f"tables live in {DEFAULT_CATALOG}.{DEFAULT_DATABASE}",
    )
