"""Tables that an external system describes: inferred columns, and tables of external catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.tables import Factory, made
from streamtable.connector_api.catalogs import ExternalCatalog
from streamtable.connector_api.inferred import InferredColumns, WithoutColumns
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.table import PhysicalColumn, Schema, Table
from streamtable.core.watermark_options import split
from streamtable.sql.statements.model import CreateTable
from streamtable.sql.statements.schema import KeyDeclared, SchemaDraft, TableElement


class ExternalTables:
    """Completes declarations without columns, and finds the tables of external catalogs.

    Args:
        connectors: name -> factory.
        namespaces: the catalogs of the session.

    Attributes:
        offline: whether no server may be asked; such a table is then refused.
    """

    def __init__(self, connectors: Mapping[str, Factory], namespaces: Namespaces) -> None:
        self._connectors = connectors
        self._namespaces = namespaces
        self._found: dict[Path, tuple[ExternalCatalog, Table]] = {}
        self.offline = False

    def copy(self, namespaces: Namespaces) -> ExternalTables:
        """Return independent tables with the same content, for a copy of the namespaces."""
        other = ExternalTables(self._connectors, namespaces)
        other._found = dict(self._found)
        other.offline = self.offline
        return other

    def refresh(self) -> None:
        """Forget the answers of external catalogs."""
        catalogs = self._namespaces.external
        catalogs.update({name: catalog.fresh() for name, catalog in catalogs.items()})

    def names(self, catalog: str, at: Span | None) -> list[str]:
        """List the tables of an external catalog; of other catalogs nothing."""
        found = self._namespaces.external.get(catalog)
        if found is None:
            return []
        self._check_online(f"catalog {catalog}", at)
        try:
            return list(found.tables())
        except StreamtableError as error:
            raise error.located(at) from None

    def find(self, path: Path, at: Span | None) -> Table | None:
        """Return a table of an external catalog; None if there is none."""
        catalog = self._namespaces.external.get(path.catalog)
        if catalog is None or path.database != catalog.database:
            return None
        if path in self._found and self._found[path][0] is catalog:
            return self._found[path][1]
        self._check_online(f"table {path}", at)
        try:
            found = catalog.table(path.name)
        except StreamtableError as error:
            raise error.located(at) from None
        if found is None:
            return None
        columns = found.columns
        schema = SchemaDraft(str(path)).take(_elements(columns, at)).schema()
        declared = _Declared(schema, {**found.options, **columns.options}, at)
        table = made(str(path), declared, self._connectors)
        self._found[path] = (catalog, table)
        return table

    def completed(self, name: str, statement: CreateTable) -> CreateTable:
        """Return a CREATE TABLE with the physical columns that it leaves to its connector.

        Raises:
            StreamtableError: COLUMNS_NOT_DECLARED if nothing tells the columns, an error of the
                connector, or one of the declared elements.
        """
        elements = statement.elements
        if elements is None:
            return statement
        inferred = self._inferred(name, statement, elements)
        if inferred is None and not elements:
            raise StreamtableError(
                Condition.COLUMNS_NOT_DECLARED,
                at=statement.at,
                table=name,
                reason="only a format with a schema registry tells them",
                hint="write CREATE TABLE name (column type, ...) WITH (...)",
            )
        draft = SchemaDraft(name)
        options = dict(statement.options)
        if inferred is not None:
            draft.take(_elements(inferred, statement.at))
            options |= inferred.options
        schema = draft.take(elements).schema()
        return replace(statement, schema=schema, options=options, elements=None)

    def _inferred(
        self, name: str, statement: CreateTable, elements: tuple[TableElement, ...]
    ) -> InferredColumns | None:
        given = statement.options.get("connector")
        factory = None if given is None else self._connectors.get(given.text)
        if factory is None or factory.infer is None:
            return None
        key = next((one for one in elements if isinstance(one, KeyDeclared)), None)
        declared = () if key is None else tuple(column.name for column in key.columns)
        _, options = split(statement.options)
        request = WithoutColumns(name, declared, options, statement.at, offline=self.offline)
        return factory.infer(request)

    def _check_online(self, what: str, at: Span | None) -> None:
        if self.offline:
            raise StreamtableError(
                Condition.SERVER_NEEDED,
                at=at,
                what=what,
                hint="`streamtable explain` asks the server; it starts neither Spark nor a job",
            )


@dataclass(frozen=True)
class _Declared:
    """The declaration of a table of an external catalog."""

    schema: Schema
    options: Mapping[str, Given]
    at: Span | None
    comment: str | None = None


def _elements(inferred: InferredColumns, at: Span | None) -> Iterator[TableElement]:
    for field in inferred.fields:
        yield PhysicalColumn(field.name, field.type, at)
    if inferred.primary_key:
        names = (exp.Identifier(this=name, quoted=True) for name in inferred.primary_key)
        yield KeyDeclared(tuple(names), at)
