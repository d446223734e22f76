"""Catalogs whose tables are in an external system, and their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from streamtable.connector_api.inferred import InferredColumns
from streamtable.connector_api.registry import EntryPoints
from streamtable.core.errors import Span
from streamtable.core.options import Given, OptionSet


@dataclass(frozen=True)
class CatalogTable:
    """A table of an external catalog.

    Attributes:
        options: the WITH clause of the table, with its connector.
        columns: its physical columns, its key, and options that come with them.
    """

    options: Mapping[str, Given]
    columns: InferredColumns


class ExternalCatalog(Protocol):
    """A catalog with one database, whose tables an external system knows; it cannot be changed.

    Creating a catalog asks nothing of the system. Each question is asked once; `fresh` forgets the
    answers.
    """

    @property
    def database(self) -> str:
        """The name of its only database."""

    def tables(self) -> Sequence[str]:
        """Return the names of all tables; raise StreamtableError if the system does not answer."""

    def table(self, name: str) -> CatalogTable | None:
        """Return a table; None if there is none of this name.

        Raises:
            StreamtableError: the table has no columns, or the system does not answer.
        """

    def fresh(self) -> ExternalCatalog:
        """Return the catalog without any answers."""


@dataclass(frozen=True)
class CatalogType:
    """The type that an entry point of the group `streamtable.catalogs` names.

    Attributes:
        options: the options of CREATE CATALOG, including `type`.
        create: a function of the catalog's name for messages, the options and the position of the
            statement. It returns the catalog, or raises StreamtableError at a wrong option.
    """

    options: OptionSet
    create: Callable[[str, Mapping[str, Given], Span], ExternalCatalog]


#: Types by the value of `'type'`, besides `generic_in_memory`.
CATALOG_TYPES: Mapping[str, CatalogType] = EntryPoints("streamtable.catalogs", "catalog type")
