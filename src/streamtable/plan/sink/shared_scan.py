"""Shared scans: the INSERTs of a statement set that read one table without state, read it once.

Flink merges equal sources of a statement set (`table.optimizer.reuse-source-enabled`). Here, these
INSERTs become one streaming query: one scan, one checkpoint, and one task per split that writes all
sinks. INSERTs with state keep a query of their own: their rows reach a sink in the tasks of their
own state partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from streamtable.connector_api.together import common_writer_of
from streamtable.core.types import Field
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rows.calc import Calc
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan


def shared_groups(sinks: Sequence[Sink]) -> list[tuple[int, ...]]:
    """Return the places of the INSERTs that share a scan, for each group of at least two.

    The INSERTs of a group belong to one statement set, and agree (`share_scan`).
    """
    groups: list[list[int]] = []
    for place, sink in enumerate(sinks):
        if sink.set_at is None or scan_to_share(sink) is None:
            continue
        fitting = (
            group
            for group in groups
            if sinks[group[0]].set_at == sink.set_at and share_scan([sinks[group[0]], sink])
        )
        found = next(fitting, None)
        if found is None:
            groups.append([place])
        else:
            found.append(place)
    return [tuple(group) for group in groups if len(group) > 1]


def share_scan(sinks: Sequence[Sink]) -> bool:
    """Whether INSERTs agree: they read one table with equal options, and one writer takes all."""
    read = [scan_to_share(sink) for sink in sinks]
    first, *others = read
    writers = {common_writer_of(sink.table) for sink in sinks}
    return (
        first is not None
        and all(scan is not None and scan.table == first.table for scan in others)
        and len(writers) == 1
        and None not in writers
    )


def scan_to_share(sink: Sink) -> Scan | None:
    """Return the scan of an INSERT that may share it; None if the INSERT needs its own query.

    An INSERT may share its scan if it only filters and projects the rows. A paired filter reads two
    rows together, and Spark runs Python functions in an operator of their own.
    """
    if common_writer_of(sink.table) is None:
        return None
    node: Node = sink.input
    while isinstance(node, Calc):
        if node.paired or any(map(calls_python, node.spark_texts)):
            return None
        node = node.input
    if not isinstance(node, Scan) or any(field in POSITION for field in node.fields):
        return None
    return node


def merged_scan(sinks: Sequence[Sink]) -> Scan:
    """Return the scan that INSERTs share: it reads the columns of all of them, in table order."""
    scans = [scan for sink in sinks if (scan := scan_to_share(sink)) is not None]
    fields: dict[str, Field] = {f.name: f for scan in scans for f in scan.fields}
    order = [column.name for column in scans[0].table.schema.columns]
    return replace(scans[0], fields=tuple(fields[name] for name in order if name in fields))


def described(sinks: Sequence[Sink]) -> Iterator[str]:
    """Yield a paragraph for EXPLAIN for each group of INSERTs that share a scan."""
    for group in shared_groups(sinks):
        members = [sinks[place] for place in group]
        names = ", ".join(sink.table.name for sink in members)
        writer = common_writer_of(members[0].table)
        exactly_once = writer is not None and writer.exactly_once
        transaction = ", a task in one transaction" if exactly_once else ""
        yield f"One query writes {names}{transaction}\n  {merged_scan(members).headline}"
