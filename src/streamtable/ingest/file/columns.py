"""Columns of `source`: lists of columns to copy, and the columns that divide snapshots."""

from __future__ import annotations

import re
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Option, Settings
from streamtable.ingest.file.options import CHUNK_KEY, COLUMN_EXCLUDE, COLUMN_INCLUDE
from streamtable.ingest.file.tables import table_pattern


@dataclass(frozen=True)
class ColumnLists:
    """Columns to copy and columns to exclude, as Debezium lists `database.table.column`.

    Attributes:
        included: regular expressions of columns to copy; empty for all columns.
    """

    included: tuple[re.Pattern[str], ...] = ()
    excluded: tuple[re.Pattern[str], ...] = ()

    def copies(self, table: TableId, column: str) -> bool:
        """Return whether a column is copied."""
        name = f"{table}.{column}"
        if self.included and not any(p.fullmatch(name) for p in self.included):
            return False
        return not any(p.fullmatch(name) for p in self.excluded)


def read_columns(source: Settings) -> ColumnLists:
    """Read the column lists of `source`.

    Raises:
        StreamtableError: INVALID_OPTION for an invalid regular expression; OPTION_CONFLICT if both
            lists are set.
    """
    if source.has(COLUMN_INCLUDE) and source.has(COLUMN_EXCLUDE):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=source.at(COLUMN_EXCLUDE),
            reason=f"'{COLUMN_INCLUDE.key}' and '{COLUMN_EXCLUDE.key}' are both given",
            hint="keep one of them",
        )
    return ColumnLists(_patterns(source, COLUMN_INCLUDE), _patterns(source, COLUMN_EXCLUDE))


def read_chunk_keys(source: Settings) -> tuple[tuple[str, str], ...]:
    """Read the chunk keys of `source`: pairs of a table pattern and a column.

    Raises:
        StreamtableError: INVALID_OPTION.
    """
    found: list[tuple[str, str]] = []
    text, at = source.get(CHUNK_KEY), source.at(CHUNK_KEY)
    for part in (text or "").split(";"):
        pattern, _, column = (piece.strip() for piece in part.rpartition(":"))
        if not part.strip():
            continue
        if not pattern or not column:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=at,
                option=CHUNK_KEY.key,
                value=text,
                expected="a list of 'database.table:column' split by ';'",
            )
        tables = table_pattern(pattern, CHUNK_KEY.key, at)
        found += [(expression, column) for expression in tables.regular_expressions]
    return tuple(found)


def _patterns(source: Settings, option: Option[str]) -> tuple[re.Pattern[str], ...]:
    text = source.get(option)
    if text is None:
        return ()
    try:
        return tuple(re.compile(part.strip(), re.IGNORECASE) for part in text.split(","))
    except re.error as error:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=source.at(option),
            option=option.key,
            value=text,
            expected=f"a list of regular expressions ({error})",
        ) from None
