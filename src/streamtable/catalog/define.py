"""Apply a statement that changes the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from streamtable.catalog.catalog import Catalog
from streamtable.sql.statements.changes import AlterTable, AlterView
from streamtable.sql.statements.listings import (
    CreateCatalog,
    CreateDatabase,
    DropCatalog,
    DropDatabase,
    DropFunction,
    UseCatalog,
    UseDatabase,
)
from streamtable.sql.statements.model import CreateTable, CreateTableLike, Definition, Drop

_ACTIONS: Mapping[type[Any], Callable[[Catalog, Any], object]] = {
    CreateTable: Catalog.create_table,
    CreateTableLike: Catalog.create_table_like,
    AlterTable: Catalog.alter_table,
    AlterView: Catalog.alter_view,
    Drop: Catalog.drop,
    CreateDatabase: lambda catalog, made: catalog.namespaces.create_database(made),
    CreateCatalog: lambda catalog, made: catalog.namespaces.create_catalog(made),
    DropDatabase: Catalog.drop_database,
    DropCatalog: Catalog.drop_catalog,
    UseDatabase: lambda catalog, used: catalog.namespaces.use_database(used),
    DropFunction: lambda catalog, dropped: catalog.functions.drop(dropped),
    UseCatalog: lambda catalog, used: catalog.namespaces.use_catalog(used),
}


def define(statement: Definition, catalog: Catalog) -> None:
    """Apply a statement to the catalog.

    Raises:
        StreamtableError: the statement is refused; the catalog is then unchanged.
    """
    _ACTIONS[type(statement)](catalog, statement)
