"""Create a table from its declaration; its connector checks the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from streamtable.catalog.lacking import NOT_YET
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.table import Connector, Schema, Table
from streamtable.sql.statements.model import CreateTable


class Factory(Protocol):
    """Factory of a connector: creates checked connectors from WITH options."""

    @property
    def create(self) -> Callable[[str, Schema, Mapping[str, Given], Span | None], Connector]:
        """(table name, schema, options, place) -> connector."""

    @property
    def partitioned(self) -> bool:
        """Whether tables of the connector may have PARTITIONED BY."""


def made(name: str, declared: CreateTable | Table, connectors: Mapping[str, Factory]) -> Table:
    """Create a table from its declaration.

    Args:
        name: name of the table in messages.
        declared: columns, options and comment; an existing table that is created again after a
            change.
        connectors: name -> factory.

    Raises:
        StreamtableError: MISSING_OPTION, NOT_YET, UNKNOWN_CONNECTOR, INVALID_PARTITIONS, or an
            error of the connector.
    """
    return Table(
        name=name,
        schema=declared.schema,
        connector=_connector(name, declared, connectors),
        comment=declared.comment,
        at=declared.at,
        options=declared.options,
    )


def _connector(
    name: str, declared: CreateTable | Table, connectors: Mapping[str, Factory]
) -> Connector:
    given = declared.options.get("connector")
    known = "known connectors: " + ", ".join(connectors)
    if given is None:
        raise StreamtableError(
            Condition.MISSING_OPTION,
            at=declared.at,
            hint=known,
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
    if declared.schema.partition_keys and not factory.partitioned:
        raise StreamtableError(
            Condition.INVALID_PARTITIONS,
            at=declared.at,
            hint="remove it",
            table=name,
            reason=f"connector '{given.text}' has no partitions of columns",
        )
    return factory.create(name, declared.schema, declared.options, declared.at)
