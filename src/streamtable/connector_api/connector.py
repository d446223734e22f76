"""Connector factories, and tables that can be read or written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from streamtable.connector_api.inferred import Infer
from streamtable.core.errors import Span
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Connector, Schema

if TYPE_CHECKING:
    from streamtable.connector_api.lookup import Lookup
    from streamtable.connector_api.sink import Sink
    from streamtable.connector_api.source import Source


@dataclass(frozen=True)
class ConnectorFactory:
    """The factory that an entry point of the group `streamtable.connectors` names.

    The name of the entry point is the connector's name. Neither loading the entry point nor
    `create` may import Spark, because scripts are validated without Spark.

    Attributes:
        options: the options of the connector's tables.
        create: a function of the table's name for messages, its schema, the WITH clause and the
            position of the declaration. It returns the connector with checked options, or raises
            StreamtableError at the position of a wrong option or column.
        partitioned: whether tables that are written may have PARTITIONED BY; the schema has the
            partition keys.
        infer: finds the columns of a table that declares no physical column; None if the connector
            cannot.
        java_classes: Java classes that Spark's class path must have, and for each, in words, the
            jars with the class.
    """

    options: OptionSet
    create: Callable[[str, Schema, Mapping[str, Given], Span | None], Connector]
    partitioned: bool = False
    infer: Infer | None = None
    java_classes: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Readable(Protocol):
    """A connector whose tables can be read."""

    def source(self) -> Source:
        """Return the source; may import Spark."""


@runtime_checkable
class Writable(Protocol):
    """A connector whose tables can be written."""

    def sink(self) -> Sink:
        """Return the sink; may import Spark."""


@runtime_checkable
class Lookable(Protocol):
    """A connector whose tables can be looked up by key; see also `core.table.LookupConnector`."""

    def lookup(self) -> Lookup:
        """Return the lookup; may import Spark."""
