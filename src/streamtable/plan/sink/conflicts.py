"""ON CONFLICT: what becomes of several rows of a query with the primary key of its sink.

Source of the rules: Flink 2.3's *INSERT Statement* page (FLIP-558). Flink resolves conflicts when
the watermark passes, because changes of different tasks may arrive in any order. Here the rows of
an append-only query need no watermark: none of them is ever taken back.
"""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.table import UpsertMaterialize
from streamtable.core.table import Table
from streamtable.plan.keys import unique_keys
from streamtable.plan.rank.processing_time_deduplicate import ProcessingTimeDeduplicate
from streamtable.plan.sink.sink import Sink
from streamtable.sql.statements.model import Conflicts, OnConflict


def materialized(
    clause: OnConflict | None, table: Table, setting: UpsertMaterialize
) -> UpsertMaterialize:
    """Return when to add a sink materializer; the clause confirms the default.

    As in Flink, ON CONFLICT DO DEDUPLICATE has no effect unless a setting has turned the
    materializer off.

    Raises:
        StreamtableError: NOT_YET for the clause on a table that is not an upsert table.
    """
    if clause is None:
        return setting
    takes = table.connector.writes
    if takes.is_append or takes.has_before:
        raise StreamtableError(
            Condition.NOT_YET,
            at=clause.at,
            what=f"ON CONFLICT on {table.name}, which keeps every change of a key,",
            hint="remove the clause, or write to a table that keeps one row for each key",
        )
    return UpsertMaterialize.AUTO if setting is UpsertMaterialize.NONE else setting


def without_conflicts(sink: Sink, clause: OnConflict | None) -> Sink:
    """Return the sink over rows without the conflicts that the clause resolves.

    before:  Sink (key k) <- Scan,  ON CONFLICT DO NOTHING
    after:   Sink (key k) <- Deduplicate by (k): the first row to arrive <- Scan

    Nothing changes if a key of the query shows that there are no conflicts.

    Raises:
        StreamtableError: NOT_YET for ERROR, and for NOTHING over updates or deletes, unless there
            are no conflicts.
    """
    if clause is None or clause.conflicts is Conflicts.DEDUPLICATE:
        return sink
    told_apart = {*sink.key, *sink.input.constants}
    if any(set(key) <= told_apart for key in unique_keys(sink.input)):
        return sink
    if clause.conflicts is Conflicts.ERROR:
        raise _not_yet(
            clause,
            "where rows of the query may have the same key",
            "such a job would fail again with every restart; DO NOTHING keeps the first row, DO"
            " DEDUPLICATE the last",
        )
    if not sink.input.mode.is_append:
        raise _not_yet(
            clause,
            "for a query with updates or deletes",
            "write DO DEDUPLICATE, or group the rows by the key of the table",
        )
    return replace(sink, input=ProcessingTimeDeduplicate(sink.input, sink.key, last=False))


def _not_yet(clause: OnConflict, where: str, hint: str) -> StreamtableError:
    what = f"ON CONFLICT DO {clause.conflicts.value} {where}"
    return StreamtableError(Condition.NOT_YET, at=clause.at, what=what, hint=hint)
