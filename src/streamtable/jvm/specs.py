"""What the bridge is told of aggregates, readers and writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamtable.core.codec import Codec


@dataclass(frozen=True)
class Aggregation:
    """One aggregate call by positions in the input row, the row kind being 0.

    Attributes:
        argument: -1 for COUNT(*).
        filter: position of a BOOLEAN, -1 for none.
        argument_type: Spark's DDL spelling, as `result_type`.
        parameters: what the function takes beside its values.
    """

    function: str
    argument: int
    filter: int
    distinct: bool
    argument_type: str
    result_type: str
    parameters: Sequence[str] = ()


@dataclass(frozen=True)
class ChangesSpec:
    """How the change events of a value are read.

    Attributes:
        primary_key: output columns that identify a row; empty where the table has no such.
        last_only: whether a record gives the last change of each row only.
    """

    primary_key: Sequence[int]
    last_only: bool


@dataclass(frozen=True)
class DeadLetterSpec:
    """Where records go that do not parse, by the producer settings `properties`."""

    topic: str
    properties: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class ReaderSpec:
    """How the bytes of a record become columns.

    Attributes:
        key: None where no column lives in the key.
        key_positions: per output column its position in the decoded key, -1 where it has none.
        value_positions: the same for the value, which wins.
        upsert: whether a null value deletes its key.
        changes: for a value that is a change event; the reader then gives an array of rows.
        dead_letters: None where records that do not parse end the job or are skipped.
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
    dead_letters: DeadLetterSpec | None = None


@dataclass(frozen=True)
class TransactionsSpec:
    """The transactions of one query.

    Attributes:
        prefix: of the transactional ids; a dash and the number of the task follow.
        job: tells this job's epochs from those of another one under the same prefix.
    """

    prefix: str
    job: str


@dataclass(frozen=True, kw_only=True)
class WriterSpec:
    """How rows of (key, value, ...) become records.

    Attributes:
        guarantee: `NONE` or `AT_LEAST_ONCE`; the latter also where there are transactions.
        transactions: None where records are not written in transactions.
        headers: position of a MAP of headers in the row, -1 for none.
        timestamp: position of the record's timestamp, -1 for none.
        partition: position of the record's partition, -1 for none.
        partitions: `DEFAULT`, `FIXED` or `ROUND_ROBIN`, for rows that name no partition.
        buffer_rows: rows that a task may hold back to send the last one per key; 0 is off.
    """

    topic: str
    properties: Mapping[str, str]
    guarantee: str
    transactions: TransactionsSpec | None = None
    headers: int = -1
    timestamp: int = -1
    partition: int = -1
    partitions: str = "DEFAULT"
    buffer_rows: int = 0
    buffer_interval_ms: int = 0
