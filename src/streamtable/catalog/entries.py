"""Tables and views by name: what a name stands for, new names and dropped names.

A temporary table or view hides a permanent one of the same name, as in Flink. There is no other
difference, because a session's catalogs end with the session.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.catalog.external import ExternalTables
from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.views import View
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.table import Table
from streamtable.sql.names import Name
from streamtable.sql.statements.listings import DropCatalog, DropDatabase
from streamtable.sql.statements.model import CreateTable, CreateView, Drop


@dataclass(frozen=True)
class Entry:
    """A table or view under its name, and whether it is temporary."""

    path: Path
    content: Table | View
    temporary: bool


class Entries:
    """Tables and views by name.

    Args:
        namespaces: the catalogs and databases.
        external: the tables of external catalogs.
    """

    def __init__(self, namespaces: Namespaces, external: ExternalTables) -> None:
        self.namespaces = namespaces
        self.external = external
        self._permanent: dict[Path, Table | View] = {}
        self._temporary: dict[Path, Table | View] = {}

    def entry(self, name: Name, at: Span | None) -> Entry:
        """Return the entry of a name; UNKNOWN_TABLE with the closest known name otherwise."""
        path = self.namespaces.path(name)
        for temporary in (True, False):
            found = self._entries(temporary=temporary).get(path)
            if found is not None:
                return Entry(path, found, temporary)
        external = self.external.find(path, at)
        if external is not None:
            return Entry(path, external, temporary=False)
        raise self._unknown(path, at)

    def find(self, name: Name, at: Span | None) -> Table | View:
        """Return the table or view of a name; UNKNOWN_TABLE with the closest name otherwise."""
        return self.entry(name, at).content

    def find_table(self, name: Name, at: Span | None) -> Table:
        """Return a table to write to; a view is refused."""
        found = self.find(name, at)
        if isinstance(found, View):
            raise StreamtableError(
                Condition.UNKNOWN_TABLE,
                at=at,
                table=found.name,
                hint="it is a view; INSERT INTO takes a table",
            )
        return found

    def names(self, place: Name, at: Span | None, *, views_only: bool = False) -> list[str]:
        """List the tables and views of a database, including temporary ones, sorted."""
        home = self.namespaces.home(place, at)
        visible = {**self._permanent, **self._temporary}
        external = [] if views_only else self.external.names(home[0], at)
        own = {
            path.name
            for path, content in visible.items()
            if (path.catalog, path.database) == home
            and (isinstance(content, View) or not views_only)
        }
        return sorted(own.union(external))

    def has(self, name: Name) -> bool:
        """Return whether the name is a table or view."""
        path = self.namespaces.path(name)
        return path in self._permanent or path in self._temporary

    def declared(self, name: Name, *, temporary: bool) -> Table | View | None:
        """Return the permanent or the temporary table or view of a name; None without one."""
        return self._entries(temporary=temporary).get(self.namespaces.path(name))

    def keep(self, name: Name, view: View, *, temporary: bool) -> None:
        """Replace the declaration of a view."""
        self._entries(temporary=temporary)[self.namespaces.path(name)] = view

    def forget(self, name: Name, *, temporary: bool) -> None:
        """Remove a declaration by name."""
        self._entries(temporary=temporary).pop(self.namespaces.path(name), None)

    def drop(self, statement: Drop) -> None:
        """Drop a table or view; what it stands for is not deleted."""
        path = self.namespaces.path(statement.name)
        kind = View if statement.kind == "VIEW" else Table
        at = statement.name_at or statement.at
        change = f"DROP {statement.kind} {path}"
        if not statement.temporary:
            self.namespaces.check_changeable(path.catalog, change, at)
        if not statement.temporary and isinstance(self._temporary.get(path), kind):
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=change,
                reason="it is temporary",
                hint=f"write DROP TEMPORARY {statement.kind}",
            )
        entries = self._entries(temporary=statement.temporary)
        if isinstance(entries.get(path), kind):
            del entries[path]
        elif path in entries:
            raise other_kind(path, entries[path], "DROP", at)
        elif statement.if_exists:
            return
        elif isinstance(self._permanent.get(path), kind):
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=f"DROP TEMPORARY {statement.kind} {path}",
                reason="it is not temporary",
                hint=f"write DROP {statement.kind}",
            )
        else:
            raise self._unknown(path, at)

    def drop_database(self, statement: DropDatabase) -> None:
        """Drop a database; with CASCADE, drop its content too."""
        found = self.namespaces.find_database(statement)
        if found is None:
            return
        inside = [path for path in self._permanent if (path.catalog, path.database) == found]
        if inside and not statement.cascade:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=statement.at,
                change=f"DROP DATABASE {found[1]}",
                reason=f"it holds {', '.join(path.name for path in inside)}",
                hint="write CASCADE to drop them too",
            )
        for path in inside:
            del self._permanent[path]
        self.namespaces.drop_database(*found)

    def drop_catalog(self, statement: DropCatalog) -> None:
        """Drop a catalog and its content."""
        dropped = self.namespaces.drop_catalog(statement)
        for path in [path for path in self._permanent if path.catalog == dropped]:
            del self._permanent[path]

    def _entries(self, *, temporary: bool) -> dict[Path, Table | View]:
        return self._temporary if temporary else self._permanent

    def _new_path(self, statement: CreateTable | CreateView) -> Path | None:
        """Return the path of a new table or view; None if IF NOT EXISTS finds an existing one."""
        path, at = self.namespaces.path(statement.name), statement.name_at or statement.at
        if not statement.temporary:
            self.namespaces.check(path, at)
            change = f"CREATE {'TABLE' if isinstance(statement, CreateTable) else 'VIEW'} {path}"
            self.namespaces.check_changeable(path.catalog, change, at)
        old = self._entries(temporary=statement.temporary).get(path)
        kind = Table if isinstance(statement, CreateTable) else View
        if statement.replaces and isinstance(old, kind):
            return path
        if isinstance(statement, CreateTable) and statement.must_exist and old is None:
            raise self._unknown(path, at)
        if old is None:
            return path
        if statement.if_not_exists:
            return None
        raise taken(path, statement.at)

    def _unknown(self, path: Path, at: Span | None) -> StreamtableError:
        self.namespaces.check(path, at)
        home = (path.catalog, path.database)
        known = self.names(home, at)
        return StreamtableError(
            Condition.UNKNOWN_TABLE, at=at, table=str(path), hint=closest(path.name, known)
        )


def taken(path: Path, at: Span) -> StreamtableError:
    """Return the error for a name that another table or view has."""
    return StreamtableError(
        Condition.DUPLICATE_TABLE,
        at=at,
        table=path,
        hint="drop it first, or write CREATE ... IF NOT EXISTS",
    )


def other_kind(
    path: Path, content: Table | View, statement: str, at: Span | None
) -> StreamtableError:
    """Return the error for a statement that calls a view a table, or a table a view.

    Args:
        path: the name.
        content: what the name stands for.
        statement: the words before TABLE or VIEW, such as `DROP`.
        at: place of the name.
    """
    called, kind = ("TABLE", "VIEW") if isinstance(content, View) else ("VIEW", "TABLE")
    return StreamtableError(
        Condition.CHANGE_REFUSED,
        at=at,
        change=f"{statement} {called} {path}",
        reason=f"it is a {kind.lower()}",
        hint=f"write {statement} {kind}",
    )
