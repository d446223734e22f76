"""Parser layer for CREATE, REPLACE and DROP."""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.errors import Span
from streamtable.sql.statements.catalogs import CatalogParser
from streamtable.sql.statements.model import CreateTableAs, CreateView, Definition, Drop

_CREATED = "TABLE, VIEW, FUNCTION, DATABASE or CATALOG"


class DefinitionParser(CatalogParser):
    """Parse statements that create or drop something of the catalog."""

    def create(self) -> Definition | CreateTableAs:
        """Parse `CREATE ...`."""
        at = self.expect("CREATE").at
        if self.accept("OR", "REPLACE"):
            return self._create_or_replace(at)
        temporary = self.accept("TEMPORARY") is not None
        system = temporary and self.sees("SYSTEM", "FUNCTION")
        if system:
            self.take()
        if self.accept("FUNCTION"):
            return self.create_function(at, temporary=temporary, system=system)
        if not temporary and self.accept("CATALOG"):
            return self.create_catalog(at)
        if not temporary and self.accept("DATABASE"):
            return self.create_database(at)
        if self.accept("TABLE"):
            return self.create_table(at, temporary=temporary)
        if not self.accept("VIEW"):
            self.fail(_CREATED)
        return self._create_view(at, temporary=temporary)

    def _create_or_replace(self, at: Span) -> Definition | CreateTableAs:
        temporary = self.accept("TEMPORARY") is not None
        if not self.sees_any("TABLE", "VIEW"):
            self.fail("TABLE or VIEW")
        of_table = self.take().key == "TABLE"
        if self.sees("IF", "NOT", "EXISTS"):
            self.fail("a name", "what exists is either replaced, or kept by IF NOT EXISTS")
        if of_table:
            return self.replace_table(at, temporary=temporary)
        return replace(self._create_view(at, temporary=temporary), replaces=True)

    def replace(self) -> CreateTableAs:
        """Parse `REPLACE TABLE ... AS`, which Flink has for a query only."""
        at = self.expect("REPLACE").at
        self.expect("TABLE")
        found = self.replace_table(at, temporary=False)
        if not isinstance(found, CreateTableAs):
            self.fail("AS and a query", "CREATE OR REPLACE TABLE takes columns")
        return replace(found, table=replace(found.table, must_exist=True))

    def _create_view(self, at: Span, *, temporary: bool) -> CreateView:
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name_at = self.peek().at
        name = self.name("the name of the view")
        columns: tuple[str, ...] = ()
        if self.sees("("):
            columns = self.column_names()
        comment = self.text("the comment in quotes") if self.accept("COMMENT") else None
        self.expect("AS")
        return CreateView(
            name=name,
            query=self.query(),
            at=at,
            columns=columns,
            comment=comment,
            temporary=temporary,
            if_not_exists=if_not_exists,
            name_at=name_at,
        )

    def column_names(self) -> tuple[str, ...]:
        """Parse names of columns in parentheses."""
        names = self.in_parentheses(lambda: self.identifier("a column"))
        return tuple(name.name for name in names)

    def drop(self) -> Definition:
        """Parse `DROP ...`."""
        at = self.expect("DROP").at
        temporary = self.accept("TEMPORARY") is not None
        system = temporary and self.sees("SYSTEM", "FUNCTION")
        if system:
            self.take()
        if self.accept("FUNCTION"):
            return self.drop_function(at, temporary=temporary, system=system)
        if not temporary and self.accept("CATALOG"):
            return self.drop_catalog(at)
        if not temporary and self.accept("DATABASE"):
            return self.drop_database(at)
        if not self.sees_any("TABLE", "VIEW"):
            self.fail(_CREATED)
        kind = self.take().key
        if_exists = self.accept("IF", "EXISTS") is not None
        name_at = self.peek().at
        name = self.name(f"the name of the {kind.lower()}")
        return Drop(kind, name, at, if_exists, name_at, temporary)
