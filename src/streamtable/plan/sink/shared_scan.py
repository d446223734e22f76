"""Shared scans: the INSERTs of a statement set that read one table alike read it once.

Flink merges equal sources of a statement set (`table.optimizer.reuse-source-enabled`). Here, these
INSERTs become one streaming query: one scan, one checkpoint, and one writer per task for all sinks.

INSERTs with state share a query if they have the same number of operators with state, because the
first operators of all INSERTs run in the same tasks, and so do the second ones. Spark gives an
operator one kind of timers, so these operators must also depend on time in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamtable.connector_api.together import CommonWriter, common_writer_of
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rules.replay import replay_may_differ
from streamtable.plan.rules.tree import every
from streamtable.plan.rules.watermarks import waits
from streamtable.plan.sink.reused_scan import bare, merged
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan, scans


@dataclass(frozen=True)
class _Agreement:
    """What INSERTs must have in common to share a query.

    Attributes:
        scan: the scan, without its fields.
        upserts: whether a normalizer reads the scan, which takes the last change of each record.
        observed: whether the watermark of the scan is observed.
        stages: how each operator with state depends on time, from the sink down.
        writer: the common writer.
    """

    scan: Scan
    upserts: bool
    observed: bool
    stages: tuple[str, ...]
    writer: CommonWriter


def shared_groups(sinks: Sequence[Sink]) -> list[tuple[int, ...]]:
    """Return the places of the INSERTs that share a scan, for each group of at least two.

    The INSERTs of a group belong to one statement set, and agree (`share_scan`). Besides, all or
    none of their sinks may have to be rolled back after a crash in real-time mode: a sink that
    cannot be rolled back keeps its whole query in micro-batches.
    """
    groups: list[tuple[object, list[int]]] = []
    for place, sink in enumerate(sinks):
        found = _agreement(sink)
        if sink.set_at is None or found is None:
            continue
        in_batches = sink.in_batches or found.writer.exactly_once
        rolls_back = not in_batches and replay_may_differ(sink.input)
        shared = (sink.set_at, found, rolls_back)
        places = next((places for other, places in groups if other == shared), None)
        if places is None:
            groups.append((shared, [place]))
        else:
            places.append(place)
    return [tuple(places) for _, places in groups if len(places) > 1]


def share_scan(sinks: Sequence[Sink]) -> bool:
    """Whether INSERTs agree: they read one table with equal options, and one writer takes all."""
    first, *others = map(_agreement, sinks)
    return first is not None and all(other == first for other in others)


def merged_scan(sinks: Sequence[Sink]) -> Scan:
    """Return the scan that INSERTs share: it reads the columns of all of them, in table order."""
    return merged([scan for sink in sinks for scan in scans(sink.input)])


def described(sinks: Sequence[Sink]) -> Iterator[str]:
    """Yield a paragraph for EXPLAIN for each group of INSERTs that share a scan."""
    for group in shared_groups(sinks):
        members = [sinks[place] for place in group]
        names = ", ".join(sink.table.name for sink in members)
        writer = common_writer_of(members[0].table)
        exactly_once = writer is not None and writer.exactly_once
        transaction = ", a task in one transaction" if exactly_once else ""
        yield f"One query writes {names}{transaction}\n  {merged_scan(members).headline}"


def _agreement(sink: Sink) -> _Agreement | None:
    """Return what other INSERTs must have in common with one; None if it needs its own query."""
    writer = common_writer_of(sink.table)
    by_clock = any(node.by_processing_time for node in every(sink.input))
    if writer is None or by_clock or not sink.input.runs_together:
        return None
    nodes = list(every(sink.input))
    (scan,) = scans(sink.input)
    stages = tuple(_time_of(node) for node in nodes if node.state is not None)
    # Without state, nothing orders the rows of a task by their positions.
    if not stages and any(field in POSITION for field in scan.fields):
        return None
    return _Agreement(
        scan=bare(scan),
        upserts=any(isinstance(node, Normalize) for node in nodes),
        observed=waits(sink.input),
        stages=stages,
        writer=writer,
    )


def _time_of(node: Node) -> str:
    if node.waits:
        return "event time"
    return "processing time" if node.expires else "none"
