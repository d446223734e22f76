"""Rows of the data source: records, and changes whose records Spark computes, as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from streamtable.connectors.mysql_cdc.reader import Change, SchemaChange
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.records.inputs import ComputedSide
from streamtable.ingest.records.programs import Programs
from streamtable.ingest.records.records import Record, RecordMaker

#: Columns of a record; `KafkaWriter` reads them by position.
SCHEMA = "key BINARY, value BINARY, topic STRING, headers MAP<STRING, BINARY>"
KEY_AT, VALUE_AT, TOPIC_AT, HEADERS_AT = range(4)
#: Columns of a change: its program, null for a record; keys and value up to the computed columns.
PROGRAM, OLD_KEY, NEW_KEY, NEW_VALUE = "program", "old_key", "new_key", "new_value"
_CHANGE = f"{PROGRAM} INT, {OLD_KEY} BINARY, {NEW_KEY} BINARY, {NEW_VALUE} BINARY"

#: Limits of an Arrow batch: rows, and bytes of keys and values.
_BATCH_ROWS = 5_000
_BATCH_BYTES = 8 << 20


def schema_ddl(programs: Programs) -> str:
    """Return the columns of the source, as Spark's DDL."""
    if not programs.all:
        return SCHEMA
    inputs = [f"{field.name} {field.type.spark_sql()}" for field in programs.inputs()]
    return ", ".join([SCHEMA, _CHANGE, *inputs])


def arrow_batches(
    changes: Iterable[Change | SchemaChange],
    maker: RecordMaker,
    programs: Programs,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of changes, in order.

    Raises:
        StreamtableError: the errors of `RecordMaker.records`; TABLE_UNREADABLE if a value
            does not fit into its column.
    """
    found: list[Record] = []
    size = 0
    for change in changes:
        for record in maker.records(change):
            found.append(record)
            size += _size(record)
        if len(found) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield _arrow(found, programs, schema)
            found, size = [], 0
    if found:
        yield _arrow(found, programs, schema)


def _size(record: Record) -> int:
    size = len(record.key or b"") + len(record.value or b"")
    if record.computed is not None and record.computed.new is not None:
        size += len(record.computed.new.value or b"")
    return size


def _arrow(records: Sequence[Record], programs: Programs, schema: pa.Schema) -> pa.RecordBatch:
    columns: list[Iterable[Any]] = [
        [record.key for record in records],
        [record.value for record in records],
        [record.topic for record in records],
        [record.headers for record in records],
    ]
    if programs.all:
        columns += _computed(records, programs)
    try:
        arrays = [pa.array(c, type=f.type) for c, f in zip(columns, schema, strict=True)]
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise StreamtableError(
            Condition.TABLE_UNREADABLE,
            table=", ".join(sorted({record.topic for record in records})),
            reason=f"a row does not fit the columns of its transform: {error}",
        ) from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _computed(records: Sequence[Record], programs: Programs) -> Iterator[Iterable[Any]]:
    """Yield the columns of changes: those of `_CHANGE`, then the inputs of each program."""
    changes = [record.computed for record in records]
    yield [change and change.program for change in changes]
    olds = [change.old if change else None for change in changes]
    news = [change.new if change else None for change in changes]
    yield [side and side.key for side in olds]
    yield [side and side.key for side in news]
    yield [side and side.value for side in news]
    for program in programs.all:
        own = [change is not None and change.program == program.number for change in changes]
        for sides in (olds, news):
            for i in range(len(program.reads)):
                yield _inputs(sides, own, i)


def _inputs(sides: Sequence[ComputedSide | None], own: Sequence[bool], place: int) -> list[Any]:
    return [
        side.inputs[place] if side is not None and is_own else None
        for side, is_own in zip(sides, own, strict=True)
    ]
