r"""Table patterns of a job file: `database.table` as regular expressions.

Rules of Flink CDC's *MySQL Connector* page: patterns are separated by commas, a dot separates
database and table, and `\.` is the dot of a regular expression (any character).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Condition, Span, StreamtableError

_SEPARATING_DOT = re.compile(r"(?<!\\)\.")
_COMMA = re.compile(r"(?<!\\),(?![^{\[]*[}\]])")


@dataclass(frozen=True)
class TablePattern:
    """A set of tables, as regular expressions; equal if the texts are equal.

    Attributes:
        text: the text in the file.
    """

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", tuple(_compiled(part) for part in _split(self.text)))

    @property
    def names_one(self) -> bool:
        """Whether the pattern is the plain name of one table."""
        return re.fullmatch(r"[\w$-]+\.[\w$-]+", self.text.strip()) is not None

    @property
    def names_one_database(self) -> bool:
        """Whether all tables are in one database, which the pattern names plainly."""
        parts: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = getattr(self, "_parts", ())
        databases = {database.pattern for database, _ in parts}
        return len(databases) == 1 and re.fullmatch(r"[\w$-]+", databases.pop()) is not None

    @property
    def regular_expressions(self) -> tuple[str, ...]:
        """Regular expressions over the whole of `database.table`."""
        parts: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = getattr(self, "_parts", ())
        return tuple(rf"(?:{database.pattern})\.(?:{name.pattern})" for database, name in parts)

    def matches(self, table: TableId) -> bool:
        """Return whether one of the expressions matches the whole name of the table."""
        parts: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = getattr(self, "_parts", ())
        return any(
            database.fullmatch(table.database) and name.fullmatch(table.table)
            for database, name in parts
        )


def table_pattern(text: str, key: str, at: Span | None) -> TablePattern:
    r"""Parse a pattern of a job file.

    Args:
        text: such as `shop.orders_[0-9]+, shop.\.*`.
        key: the key of the pattern.
        at: its position.

    Raises:
        StreamtableError: INVALID_OPTION for an invalid pattern.
    """
    try:
        return TablePattern(text)
    except (ValueError, re.error) as error:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=at,
            option=key,
            value=text,
            expected=f"a list of 'database.table' ({error})",
            hint="write the dot of a regular expression as '\\.', as in 'shop.\\.*'",
        ) from None


def _split(text: str) -> list[str]:
    parts = [part.strip() for part in _COMMA.split(text)]
    if not all(parts):
        message = "an empty entry"
        raise ValueError(message)
    return parts


def _compiled(part: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = _SEPARATING_DOT.split(part)
    if len(names) != 2:
        count = "no dot" if len(names) == 1 else f"{len(names) - 1} dots"
        message = f"'{part}' has {count} between names"
        raise ValueError(message)
    # A server setting decides whether MySQL's table names are case-sensitive. Patterns are always
    # case-insensitive.
    database, table = (re.compile(name.replace("\\.", "."), re.IGNORECASE) for name in names)
    return database, table
