"""Routes: the topics of each table.

Rules of Flink CDC's *Route* page: every route that matches a table sends its rows to the route's
sink table. A table without a route keeps its name, `database.table`. The replace symbol is replaced
by the name of the source table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.ingest.file.options import REPLACE_SYMBOL, SINK_TABLE, SOURCE_TABLE
from streamtable.ingest.file.tables import TablePattern, table_pattern

#: Valid topic names; `.` and `..` are invalid.
_TOPIC = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True)
class Route:
    """A pattern of tables and the topic of their rows.

    Attributes:
        symbol: text in `sink_table` that is replaced by the source table's name; None for none.
    """

    pattern: TablePattern
    sink_table: str
    symbol: str | None = None

    @property
    def collects(self) -> bool:
        """Whether rows of several tables may go to one topic."""
        if self.symbol is None:
            return not self.pattern.names_one
        return not self.pattern.names_one_database  # the symbol is the table's name only

    def may_target(self, topic: str) -> bool:
        """Return whether the route may send rows of any table to a topic."""
        if self.symbol is None:
            return topic == self.sink_table
        parts = map(re.escape, self.sink_table.split(self.symbol))
        return re.fullmatch(".*".join(parts), topic) is not None

    def target(self, table: TableId) -> str:
        """Return the topic of a table that the route matches."""
        if self.symbol is None:
            return self.sink_table
        return self.sink_table.replace(self.symbol, table.table)


def read_route(settings: Settings) -> Route:
    """Read a route of the file.

    Raises:
        StreamtableError: INVALID_OPTION for a pattern or a topic name.
    """
    at = settings.at(SOURCE_TABLE)
    pattern = table_pattern(settings[SOURCE_TABLE], SOURCE_TABLE.key, at)
    symbol, target = settings.get(REPLACE_SYMBOL), settings[SINK_TABLE]
    if symbol is not None and symbol not in target:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(REPLACE_SYMBOL),
            option=REPLACE_SYMBOL.key,
            value=symbol,
            expected=f"a part of the sink-table '{target}'",
            hint=f"write it there, as in 'ods_{symbol}'",
        )
    if not is_topic(target.replace(symbol, "x") if symbol else target):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(SINK_TABLE),
            option=SINK_TABLE.key,
            value=target,
            expected="a topic's name (letters, digits, '.', '_' and '-', at most 249)",
        )
    return Route(pattern, target, symbol)


def topics_of(table: TableId, routes: Iterable[Route]) -> tuple[str, ...]:
    """Return the topics of a table, each once, in the order of the routes.

    Raises:
        StreamtableError: INVALID_OPTION if the table's name gives an invalid topic name.
    """
    found = dict.fromkeys(r.target(table) for r in routes if r.pattern.matches(table))
    topics = tuple(found) or (str(table),)
    for topic in topics:
        if not is_topic(topic):
            raise StreamtableError(
                Condition.INVALID_OPTION,
                option=SINK_TABLE.key,
                value=topic,
                expected=f"a topic's name, which table {table} needs",
                hint=f"add a route with source-table: {table}",
            )
    return topics


def is_topic(name: str) -> bool:
    """Return whether a name is a valid topic name."""
    return _TOPIC.fullmatch(name) is not None
