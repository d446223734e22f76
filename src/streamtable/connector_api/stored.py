"""Stored changes: what a source keeps of a table's history, for reads at a moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.core.types import Field

#: Columns after the fields: the order of a split's changes, and the time of the record.
NUMBER_COLUMN = "__number"
TIME_COLUMN = "__time"

#: Columns and types of a record that is not decoded. The split of a record is its topic and its
#: partition; `partition` and `offset` are the order columns of its rows.
RECORD: Mapping[str, str] = {
    "topic": "STRING",
    "partition": "INT",
    "offset": "BIGINT",
    "timestamp": "TIMESTAMP",
    "timestampType": "INT",
    "key": "BINARY",
    "value": "BINARY",
    "headers": "ARRAY<STRUCT<key: STRING, value: BINARY>>",
}


def reached_column(place: int) -> str:
    """Return the name of the column that tells whether a change is before a moment."""
    return f"__reached_{place}"


@dataclass(frozen=True)
class StoredChanges:
    """The changes of a table up to the latest of some moments, as a batch DataFrame.

    Attributes:
        rows: row kind, fields, then `ORDER_COLUMNS`; `NUMBER_COLUMN`, the place of the change in
            its record; `TIME_COLUMN`, the time of the record as TIMESTAMP; and for each moment a
            BOOLEAN `reached_column`.
        fields: the fields of the rows.
        notices: lines for the user, about parts of the history that the source no longer has.
    """

    rows: DataFrame
    fields: tuple[Field, ...]
    notices: tuple[str, ...] = ()
