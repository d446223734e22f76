"""A table's declaration -> the table, its options checked by its connector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.table import Connector, Schema, Table
from streamtable.sql.statements import CreateTable


class Factory(Protocol):
    """What the catalog needs of a connector: checked tables out of WITH options."""

    @property
    def create(self) -> Callable[[str, Schema, Mapping[str, Given], Span | None], Connector]:
        """(table name, schema, options, place) -> connector."""


def made(name: str, declared: CreateTable | Table, connectors: Mapping[str, Factory]) -> Table:
    """The table of that name.

    Args:
        name: as messages say it.
        declared: columns, options and comment; a table that is made anew after a change.
        connectors: name -> factory.

    Raises:
        StreamtableError: MISSING_OPTION, UNKNOWN_CONNECTOR, or what the connector finds wrong.
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
    if factory is None:
        raise StreamtableError(
            Condition.UNKNOWN_CONNECTOR,
            at=given.at,
            hint=closest(given.text, connectors) or known,
            table=name,
            connector=given.text,
        )
    return factory.create(name, declared.schema, declared.options, declared.at)
