"""The tables that a job stores with Spark's offsets, as the job first read them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamtable.connectors.mysql_cdc.reader import TableId, TableSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.records.known import (
    KnownTable,
    boolean_columns,
    read_tables,
    tables_json,
)
from streamtable.ingest.records.rules import RecordRules, key_names
from streamtable.ingest.records.shape import ANEW_WITH_TOPICS, shape_of
from streamtable.runtime.checkpoint.checkpoint import Checkpoint

_FILE = "tables.json"


def known_tables(checkpoint: Checkpoint) -> dict[TableId, KnownTable]:
    """Return the tables of earlier runs.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE.
    """
    path = checkpoint.directory / _FILE
    if not path.exists():
        return {}
    try:
        return read_tables(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=checkpoint.directory, reason=error
        ) from error


def keep_tables(checkpoint: Checkpoint, tables: Mapping[TableId, KnownTable]) -> None:
    """Write the tables to the checkpoint atomically."""
    checkpoint.write(_FILE, json.dumps(tables_json(tables), indent=1))


def with_tables(
    known: Mapping[TableId, KnownTable],
    there: Iterable[TableSchema],
    rules: RecordRules,
    checkpoint: Checkpoint,
) -> dict[TableId, KnownTable]:
    """Return the tables of earlier runs together with the current tables.

    Raises:
        StreamtableError: CHECKPOINT_MISMATCH if rows of a known table would now have another topic
            or another key; the errors of `shape_of`.
    """
    found = dict(known)
    for table in there:
        if shape_of(table, rules) is None:
            continue
        now = KnownTable(
            tuple(column.name for column in table.columns),
            key_names(table, rules.transforms),
            topics_of(table.id, rules.routes),
            boolean_columns(table),
        )
        before = known.get(table.id, now)
        for what, old, new in (("topic", before.topics, now.topics), ("key", before.key, now.key)):
            if old != new:
                raise StreamtableError(
                    Condition.CHECKPOINT_MISMATCH,
                    checkpoint=checkpoint.directory,
                    difference=f"the {what} of {table.id} was {', '.join(old)} and is now"
                    f" {', '.join(new)}",
                    hint=ANEW_WITH_TOPICS,
                )
        gone = (name for name in before.booleans if name not in now.columns)
        found[table.id] = replace(before, booleans=(*now.booleans, *gone))
    return found
