"""Transforms: the columns, rows and keys of the records of a table.

Rules of Flink CDC's *Transform* page: the first transform that matches a table applies; `*` is all
of its columns; `primary-keys` replaces the table's own key.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.ingest.file.options import FILTER, PRIMARY_KEYS, PROJECTION, SOURCE_TABLE
from streamtable.ingest.file.tables import TablePattern, table_pattern
from streamtable.plan.transform import TransformQuery, read_transform_query

#: Metadata columns of Flink CDC that differ from row to row.
DATA_EVENT_TYPE, OP_TS = "__data_event_type__", "op_ts"


@dataclass(frozen=True)
class Transform:
    """The transform of some tables' rows.

    Attributes:
        query: projection and filter; None if all columns and rows are copied.
        primary_keys: columns of the key; empty keeps the table's own key.
        at: its position in the file.
    """

    pattern: TablePattern
    query: TransformQuery | None
    primary_keys: tuple[str, ...]
    at: Span | None

    @property
    def computes(self) -> bool:
        """Whether rows need an expression: a computed column or a filter."""
        return self.query is not None and self.query.computes


def read_transform(settings: Settings) -> Transform:
    """Read a transform of the file.

    Raises:
        StreamtableError: INVALID_OPTION, SYNTAX or NOT_YET, at the key.
    """
    at = settings.at(SOURCE_TABLE)
    pattern = table_pattern(settings[SOURCE_TABLE], SOURCE_TABLE.key, at)
    keys = tuple(part.strip() for part in (settings.get(PRIMARY_KEYS) or "").split(","))
    if settings.has(PRIMARY_KEYS) and (not all(keys) or len(set(keys)) < len(keys)):
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=settings.at(PRIMARY_KEYS),
            option=PRIMARY_KEYS.key,
            value=settings[PRIMARY_KEYS],
            expected="a list of different columns split by ','",
        )
    # The examples of Flink CDC use `\*`.
    projection = settings[PROJECTION].replace("\\*", "*")
    query = None
    if projection.strip() != "*" or settings.has(FILTER):
        places = (settings.at(PROJECTION) or at, settings.at(FILTER))
        query = read_transform_query(
            projection, settings.get(FILTER), *places, (DATA_EVENT_TYPE, OP_TS)
        )
    return Transform(pattern, query, keys if settings.has(PRIMARY_KEYS) else (), at)


def transform_of(table: TableId, transforms: Iterable[Transform]) -> Transform | None:
    """Return the first transform that matches a table, if any."""
    return next((t for t in transforms if t.pattern.matches(table)), None)
