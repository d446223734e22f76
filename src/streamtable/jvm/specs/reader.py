"""Specs of record readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.core.codec import Codec


@dataclass(frozen=True)
class ChangesSpec:
    """The settings for reading the change events of a value.

    Attributes:
        primary_key: output columns that identify a row; empty if the table has no primary key.
        last_only: whether a record gives only the last change of each row.
    """

    primary_key: Sequence[int]
    last_only: bool


@dataclass(frozen=True, kw_only=True)
class ReaderSpec:
    """The conversion of a record's bytes into columns.

    Attributes:
        key: the decoder of the key; None if no column is in the key.
        key_positions: per output column its position in the decoded key, -1 for none.
        value_positions: per output column its position in the value, which overrides the key.
        upsert: whether a null value deletes its key.
        changes: settings of a value that is a change event; the reader then gives an array of rows.
        dead_letters: a Java `DeadLetters`; None if records that do not parse end the job or are
            skipped.
        place: the location of a record, for messages: a Java format string over topic, partition
            and offset.
    """

    key: Codec | None
    value: Codec
    key_positions: Sequence[int]
    value_positions: Sequence[int]
    upsert: bool
    skip_key_errors: bool
    skip_value_errors: bool
    output_ddl: str
    changes: ChangesSpec | None = None
    dead_letters: Any = None
    place: str = "topic '%s' partition %d offset %d"
