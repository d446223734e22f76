"""Changelog mode inference: which row kinds each operator emits, and rewrites for that.

The rule has three steps, like Flink's `FlinkChangelogModeInferenceProgram`:

1. `mode` is the set of row kinds that each operator emits by itself.
2. From the sink down, `needs_before` returns whether an input must emit update-before rows. An
aggregation over changing input needs them to remove the old row from its group. A filter on columns
that may change needs them to know whether the old row had passed. An upsert sink needs them if its
key is not the key of the query.
3. `satisfied` and `settled` rewrite an operator whose input does not emit the needed row kinds. An
upsert scan gets a `Normalize`. An aggregation or a join emits update-before rows. A filter becomes
a paired filter. A join on columns of the primary key reads upserts without a normalizer and finds
the old rows in its own state. A scan of change events has update-before rows. It gets a `Normalize`
only if the user says that events may occur twice, because an aggregate would count a repeated row
twice.
"""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.table import UpsertMaterialize
from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Node
from streamtable.plan.position import with_position
from streamtable.plan.sink.exchange import Exchange
from streamtable.plan.sink.materialize import Materialize
from streamtable.plan.sink.replacing import mixes_windows
from streamtable.plan.sink.sink import Collect, Sink


def infer(
    sink: Sink,
    *,
    duplicates: bool = False,
    materialize: UpsertMaterialize = UpsertMaterialize.AUTO,
) -> Sink:
    """Rewrite the plan so that every consumer gets the row kinds that it needs.

    Args:
        sink: the plan before inference.
        duplicates: whether change events may occur twice
            (`table.exec.source.cdc-events-duplicate`).
        materialize: when to add a sink materializer.

    Raises:
        StreamtableError: SINK_NEEDS_APPEND if an append-only sink would get updates;
            PRIMARY_KEY_REQUIRED for change events that may occur twice.
    """
    takes = sink.table.connector.writes
    if takes.is_append:
        _check_append(sink)
    elif sink.takes_upserts and not sink.input.mode.is_append:
        sink = replace(sink, input=_keyed(sink, materialize))
    before = takes.has_before or sink.needs_before
    return _in_order(replace(sink, input=sink.input.satisfied(before, duplicates)))


def infer_changes(shown: Collect, *, duplicates: bool = False) -> Collect:
    """Rewrite the plan of a displayed query so that it emits update-before rows; see `infer`."""
    return replace(shown, input=shown.input.satisfied(True, duplicates))


def _check_append(sink: Sink) -> None:
    if sink.input.mode.is_append:
        return
    culprit = sink.input.first_changing()
    kinds = " ".join(k.short for k in sorted(culprit.mode.kinds) if k is not RowKind.INSERT)
    raise StreamtableError(
        Condition.SINK_NEEDS_APPEND,
        at=sink.at,
        hint="write to a table with a primary key whose connector takes updates",
        table=sink.table.name,
        connector=sink.table.connector.describe(),
        operator=culprit.described,
        kinds=kinds,
    )


def _keyed(sink: Sink, materialize: UpsertMaterialize) -> Node:
    """Return the sink's input with changes in order by the sink's primary key.

    No operator is needed if the sink's key, without constants, is a unique key of the query.
    Otherwise several rows may have the same sink key, and a materializer keeps all of them. It
    emits the last row. If that row is deleted, it emits the previous one. Flink's
    `SinkUpsertMaterializer`.
    """
    found = sink.keys_in(unique_keys(sink.input))
    forced = materialize is UpsertMaterialize.FORCE
    if materialize is UpsertMaterialize.NONE or not (sink.needs_before or forced):
        return sink.input
    return Materialize(sink.input, found[0] if found else sink.key, fitted=sink.fits_rows)


def _in_order(sink: Sink) -> Sink:
    """Return the sink over rows such that the last row of a sink key is Flink's last one.

    Only rows of windows need an operator, and only where two windows may have the same sink key.
    """
    if not mixes_windows(sink):
        return sink
    positioned, order = with_position(sink.input)
    return replace(sink, input=Exchange(positioned, sink.key, order))
