"""Create a table from its declaration; its connector checks the options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from streamtable.catalog.lacking import NOT_YET
from streamtable.core import watermark_options
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Connector, Schema, Table
from streamtable.core.watermark_options import SCAN_IDLE_TIMEOUT

if TYPE_CHECKING:
    from streamtable.connector_api.inferred import Infer


class Factory(Protocol):
    """Factory of a connector: creates checked connectors from WITH options."""

    @property
    def options(self) -> OptionSet:
        """The options of the connector's tables, without those of formats."""

    @property
    def create(self) -> Callable[[str, Schema, Mapping[str, Given], Span | None], Connector]:
        """(table name, schema, options, place) -> connector."""

    @property
    def partitioned(self) -> bool:
        """Whether tables of the connector that are written may have PARTITIONED BY."""

    @property
    def infer(self) -> Infer | None:
        """The function that finds the columns of a table that declares none; None if it cannot."""


class Declared(Protocol):
    """The declaration of a table: a statement, or a table that is created again."""

    @property
    def schema(self) -> Schema:
        """Its columns."""

    @property
    def options(self) -> Mapping[str, Given]:
        """Its WITH clause."""

    @property
    def comment(self) -> str | None:
        """Its comment."""

    @property
    def at(self) -> Span | None:
        """Its position."""


def made(name: str, declared: Declared, connectors: Mapping[str, Factory]) -> Table:
    """Create a table from its declaration.

    Args:
        name: name of the table in messages.
        declared: columns, options and comment; an existing table that is created again after a
            change.
        connectors: name -> factory.

    Raises:
        StreamtableError: MISSING_OPTION, NOT_YET, UNKNOWN_CONNECTOR, or an error of the connector.
    """
    own, options = watermark_options.split(declared.options)
    return Table(
        name=name,
        schema=declared.schema,
        connector=_connector(name, declared, options, connectors),
        comment=declared.comment,
        at=declared.at,
        idle_timeout=watermark_options.OPTIONS.read(own, name, declared.at).get(SCAN_IDLE_TIMEOUT),
        options=declared.options,
    )


def notices(table: Table, connectors: Mapping[str, Factory]) -> Iterator[str]:
    """Yield a line, with its place, for each part of a declaration that has no effect."""
    name = table.connector.name
    if table.schema.partition_keys and not connectors[name].partitioned:
        place = f"{table.at}: " if table.at else ""
        yield f"{place}PARTITIONED BY of {table.name} has no effect on a scan of connector '{name}'"
    yield from connectors[name].options.notices(table.options)
    timed = table.schema.watermark is not None
    yield from watermark_options.notices(table.options, watermark=timed)


def check_written(table: Table, connectors: Mapping[str, Factory], at: Span | None) -> None:
    """Refuse a sink with PARTITIONED BY whose connector has no partitions.

    As in Flink, a table that is only read may have them (`DynamicSinkUtils` asks a sink for
    `SupportsPartitioning`, and no source is asked).

    Raises:
        StreamtableError: INVALID_PARTITIONS.
    """
    name = table.connector.name
    if table.schema.partition_keys and not connectors[name].partitioned:
        raise StreamtableError(
            Condition.INVALID_PARTITIONS,
            at=at,
            hint="remove it from a table that is written",
            table=table.name,
            reason=f"connector '{name}' has no partitions of columns",
        )


def _connector(
    name: str,
    declared: Declared,
    options: Mapping[str, Given],
    connectors: Mapping[str, Factory],
) -> Connector:
    given = options.get("connector")
    known = "known connectors: " + ", ".join(connectors)
    if given is None:
        other = next((key for key in declared.options if key.lower() == "connector"), None)
        raise StreamtableError(
            Condition.MISSING_OPTION,
            at=declared.options[other].at if other else declared.at,
            hint=f"write 'connector' instead of '{other}'" if other else known,
            table=name,
            option="connector",
            owner="every table",
        )
    factory = connectors.get(given.text)
    if factory is None and given.text in NOT_YET:
        raise StreamtableError(
            Condition.NOT_YET, at=given.at, what=f"connector '{given.text}'", hint=known
        )
    if factory is None:
        raise StreamtableError(
            Condition.UNKNOWN_CONNECTOR,
            at=given.at,
            hint=closest(given.text, connectors) or known,
            table=name,
            connector=given.text,
        )
    return factory.create(name, declared.schema, options, declared.at)
