"""Reused scans: a query that reads one table in several places reads it once.

Flink merges equal sources of a query (`table.optimizer.reuse-source-enabled`), and equal parts of a
query (`table.optimizer.reuse-sub-plan-enabled`). Spark runs a source once for each place in a plan.

There are two ways to read once. If the scans reach one join, or one UNION ALL, through filters and
projections only, one pass over the records gives the rows of all inputs. It works in both modes.
Otherwise an input of a join has state. Then the rows of the scan are shuffled once and read several
times. If the scans are in equal parts of the query, the shuffle before the state of these parts is
enough. This works in micro-batches only, because a shuffle of real-time mode has one reader. A
checkpoint has a position for each scan in both modes, so a query that may run in real-time mode
reads a table once for each place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from streamtable.core.types import Field
from streamtable.plan.join.temporal_join import TemporalJoin
from streamtable.plan.node import Node
from streamtable.plan.position import POSITION
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.real_time import obstacle
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import ScanReuse, Sink
from streamtable.plan.source.scan import Scan, scans
from streamtable.plan.window.watermark import WatermarkAssigner


@dataclass(frozen=True)
class ReusedScan:
    """A scan that serves several places of a query.

    Attributes:
        scan: it reads the columns of all places.
        observer: the operator that observes its watermark, if any.
        one_pass: whether one pass over the records gives the rows of all places.
        stored: whether its rows are shuffled, for several readers.
        condition: a filter in Spark SQL, over the columns of the scan, that drops rows which no
            place needs; None if a place may need all rows.
    """

    scan: Scan
    observer: WatermarkAssigner | None
    one_pass: bool
    stored: bool
    condition: str | None


def bare(scan: Scan) -> Scan:
    """Return a scan without columns: equal for all scans that may be one."""
    return replace(scan, fields=(), paths=None)


def reused_scans(sink: Sink) -> tuple[ReusedScan, ...]:
    """Return the scans of an INSERT that serve several places of its query."""
    reuse = sink.scan_reuse
    if reuse is ScanReuse.NEVER or any(isinstance(n, TemporalJoin) for n in every(sink.input)):
        return ()
    found = _reused_scans(sink)
    if reuse is ScanReuse.IN_BOTH_MODES and obstacle(sink.input) is None:
        return found if all(scan.one_pass for scan in found) else ()
    return found


def only_in_batches(sink: Sink) -> Sink:
    """Return the plan of an INSERT that only runs in micro-batches."""
    in_both = sink.scan_reuse is ScanReuse.IN_BOTH_MODES
    return replace(sink, scan_reuse=ScanReuse.ALWAYS) if in_both else sink


def reuse_obstacle(sink: Sink) -> str | None:
    """Return why scans that serve several places keep an INSERT in micro-batches; None if not."""
    for found in reused_scans(sink):
        if not found.one_pass:
            return f"one scan of {found.scan.table.name} has served several places so far"
    return None


def _reused_scans(sink: Sink) -> tuple[ReusedScan, ...]:
    kinds: list[Scan] = []
    for scan in scans(sink.input):
        if bare(scan) not in kinds:
            kinds.append(bare(scan))
    found = (_reused(sink.input, kind) for kind in kinds)
    return tuple(scan for scan in found if scan is not None)


def read_scans(sink: Sink) -> tuple[Scan, ...]:
    """Return the scans that a query runs, left to right: those of `scans`, a reused one once."""
    reused = [bare(found.scan) for found in reused_scans(sink)]
    kept: list[Scan] = []
    for scan in scans(sink.input):
        if bare(scan) not in reused or all(bare(scan) != bare(other) for other in kept):
            kept.append(scan)
    return tuple(kept)


def merged(found: Sequence[Scan]) -> Scan:
    """Return a scan that reads the columns of scans of one table, in table order."""
    fields: dict[str, Field] = {f.name: f for scan in found for f in scan.fields}
    order = [column.name for column in found[0].table.schema.columns]
    names = [*order, *(field.name for field in POSITION)]
    paths = [scan.paths for scan in found if scan.paths is not None]
    return replace(
        found[0],
        fields=tuple(fields[name] for name in names if name in fields),
        paths=frozenset().union(*paths) if len(paths) == len(found) else None,
    )


def _reused(root: Node, kind: Scan) -> ReusedScan | None:
    """Return the scan of a table that serves several places; None if there are not several."""
    places = [*_places(root, kind, ())]
    found = [place[-1] for place in places]
    if len(places) < 2 or not kind.mode.is_append:
        return None
    whole = [scan for scan in found if isinstance(scan, Scan)]
    if any(field in POSITION for scan in whole for field in scan.fields):
        return None  # the rows are ordered by their positions
    observers = (n for path in places for n in path if isinstance(n, WatermarkAssigner))
    one_pass = _is_one_pass(places)
    if not one_pass and not all(map(_has_state, places)):
        return None
    return ReusedScan(
        scan=merged(whole),
        observer=next(observers, None),
        one_pass=one_pass,
        stored=not one_pass and len([*_distinct(root, kind, [])]) > 1,
        condition=_condition(places),
    )


def _places(node: Node, kind: Scan, above: tuple[Node, ...]) -> Iterator[tuple[Node, ...]]:
    """Yield the path from the root to each scan of a table."""
    path = (*above, node)
    if isinstance(node, Scan):
        if bare(node) == kind:
            yield path
        return
    for child in node.inputs:
        yield from _places(child, kind, path)


def _distinct(node: Node, kind: Scan, seen: list[Node]) -> Iterator[Scan]:
    """Yield the scans of a table without those in equal parts with state, except the first part."""
    if node.shuffles:
        if node in seen:
            return
        seen.append(node)
    if isinstance(node, Scan) and bare(node) == kind:
        yield node
    for child in node.inputs:
        yield from _distinct(child, kind, seen)


def _is_one_pass(places: Sequence[tuple[Node, ...]]) -> bool:
    """Whether all places reach one operator through filters and projections, one per input."""
    meeting = [
        next((i for i in range(len(path) - 2, -1, -1) if len(path[i].inputs) > 1), -1)
        for path in places
    ]
    at = meeting[0]
    if at < 0 or any(other != at for other in meeting):
        return False
    node = places[0][at]
    if any(path[at] is not node for path in places) or not node.unites_inputs:
        return False
    inputs = node.inputs
    return len(places) == len(inputs) and all(i.runs_together and not i.shuffles for i in inputs)


def _has_state(path: tuple[Node, ...]) -> bool:
    """Whether the rows of a scan reach an operator with state, whose tasks then write to a sink."""
    return any(node.state is not None for node in path)


def _condition(places: Sequence[tuple[Node, ...]]) -> str | None:
    """Return a filter that passes the rows of every place."""
    found = [_filter(path) for path in places]
    texts = [text for text in found if text is not None]
    if len(texts) < len(found):
        return None
    return " OR ".join(f"({text})" for text in dict.fromkeys(texts))


def _filter(path: tuple[Node, ...]) -> str | None:
    """Return the lowest filter above a scan if it only reads columns of the scan."""
    *above, scan = path
    unchanged = {field.name for field in scan.fields}
    for node in reversed(above):
        if isinstance(node, WatermarkAssigner):
            continue
        if not isinstance(node, Calc):
            return None
        if node.condition is not None:
            # The clock is read once for all expressions of an operator.
            is_fixed = "flink_now()" not in node.condition
            return node.condition if is_fixed and node.condition_fields <= unchanged else None
        unchanged &= {p.field.name for p in node.projections if p.source == p.field.name}
    return None
