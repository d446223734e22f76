"""The order of a table's chunk keys, which an offset records.

This module compares numbers, times and bytes. The order of text depends on its collation, so the
server compares text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.connectors.mysql_cdc.names import ANEW
from streamtable.connectors.mysql_cdc.reader.connect import Session
from streamtable.connectors.mysql_cdc.reader.model import TableId, TableSchema
from streamtable.connectors.mysql_cdc.reader.values.snapshot_values import literal
from streamtable.connectors.mysql_cdc.reader.values.types import value_kind
from streamtable.core.errors import Condition, StreamtableError

#: The number of keys in one request to the server.
_AT_ONCE = 500
_UNORDERED = "a type without an order"


@dataclass(frozen=True)
class KeyOrder:
    """The order of the keys of one table.

    Attributes:
        column: the key column; empty if the table is one chunk.
        kind: the collation of text, which begins with its character set; otherwise the
            `value_kind` of the column. Servers before MySQL 8.0.30 and MariaDB 10.6 call utf8mb3
            utf8, and know both names.
    """

    column: str = ""
    kind: str = ""

    @classmethod
    def of_text(cls, column: str, collation: str) -> KeyOrder:
        """Return the order of a text column, whatever name its server has for the collation."""
        return cls(column, re.sub("^utf8_", "utf8mb3_", collation))

    @classmethod
    def parse(cls, text: str) -> KeyOrder:
        """Parse the text of an offset."""
        column, _, kind = text.removesuffix(")").rpartition(" (")
        return cls.of_text(column, kind) if column else cls()

    def __str__(self) -> str:
        return f"{self.column} ({self.kind})" if self.column else _UNORDERED

    @property
    def _is_text(self) -> bool:
        return "_" in self.kind

    def value(self, table: TableSchema, row: Sequence[Any]) -> Any:
        """Return the key of a row that has the columns of a version of the table.

        Raises:
            StreamtableError: TABLE_UNREADABLE if the version has no such key.
        """
        if not self.column:
            return None
        place = table.places.get(self.column)
        if place is None:
            raise StreamtableError(
                Condition.TABLE_UNREADABLE,
                hint=ANEW,
                table=table.id,
                reason=f"key column {self.column} was dropped while its rows were being read",
            )
        kind = value_kind(table.columns[place].type)
        if kind != ("text" if self._is_text else self.kind):
            raise key_changed(table.id, str(self), f"{self.column} ({kind})")
        return row[place]

    def below(self, session: Session, keys: Sequence[Any], bound: Any) -> list[bool]:
        """Return whether each key is below a bound; NULL is below."""
        if None in keys:
            known = iter(self.below(session, [key for key in keys if key is not None], bound))
            return [key is None or next(known) for key in keys]
        if not self._is_text:
            return [key < bound for key in keys]
        found: list[bool] = []
        high = self._collated(bound)
        for start in range(0, len(keys), _AT_ONCE):
            asked = keys[start : start + _AT_ONCE]
            row = session.row(f"SELECT {', '.join(f'{self._collated(k)} < {high}' for k in asked)}")
            found += [bool(answer) for answer in row or ()]
        return found

    def _collated(self, value: str) -> str:
        charset = self.kind.partition("_")[0]
        return f"CONVERT({literal(value)} USING {charset}) COLLATE {self.kind}"


def key_changed(table: TableId, former: str, now: str, by: str = "") -> StreamtableError:
    """Return the error for a table whose key has changed while its snapshot was running.

    Args:
        table: the table.
        former: the key before the change.
        now: the key after the change.
        by: possible reasons; empty for a statement.
    """
    reason = f"its key {former} was changed to {now} while its rows were being read"
    return StreamtableError(
        Condition.TABLE_UNREADABLE,
        hint=ANEW,
        table=table,
        reason=f"{reason}, by {by}" if by else reason,
    )
