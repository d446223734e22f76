"""The ranges of offsets that the scans of a query have read up to a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.source import Source, Split
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.reused_scan import bare, reused_scans
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan, scans
from streamtable.runtime.proof.commits import Commit

#: First position and end, exclusive, by split.
Ranges = Mapping[Split, tuple[int, int]]


def ranges_of(sink: Sink, commit: Commit, bridge: Bridge) -> list[Ranges]:
    """Return the ranges of each scan, left to right.

    Spark writes one position per source, in the order of the scans. A source may serve several
    scans (`plan.sink.reused_scan`).

    Raises:
        StreamtableError: NOT_PROVABLE if the positions do not belong to the scans.
    """
    found: list[Ranges] = []
    free = list(commit.positions)
    reused = [bare(found.scan) for found in reused_scans(sink)]
    read: list[tuple[Scan, Ranges]] = []
    for scan in scans(sink.input):
        known = next((r for s, r in read if s == bare(scan)), None)
        if known is not None:
            found.append(known)
            continue
        source = source_of(scan.table)
        place = next((i for i, pair in enumerate(free) if _reads(source, pair, bridge)), None)
        if place is None:
            found.append({})
            continue
        found.append(_ranges(source, free.pop(place), bridge))
        if bare(scan) in reused:
            read.append((bare(scan), found[-1]))
    _check_order(sink, found)
    return found


def ranges_since(
    sink: Sink, earlier: Commit, commit: Commit, bridge: Bridge
) -> list[Ranges] | None:
    """Return the ranges of each scan that it has read between two commits, left to right.

    Returns None if the later commit does not continue the earlier one.

    Raises:
        StreamtableError: as for `ranges_of`.
    """
    found: list[Ranges] = []
    pairs = (ranges_of(sink, each, bridge) for each in (earlier, commit))
    for before, now in zip(*pairs, strict=True):
        for split, (begin, end) in before.items():
            if split not in now or now[split][0] != begin or now[split][1] < end:
                return None
        begins = {split: before[split][1] if split in before else now[split][0] for split in now}
        # A range without offsets may be of records that the brokers have deleted.
        found.append({s: (begins[s], end) for s, (_, end) in now.items() if end > begins[s]})
    return found


def _reads(source: Source, pair: tuple[str | None, str | None], bridge: Bridge) -> bool:
    return bool(source.positions([pair[1]], bridge))


def _ranges(source: Source, pair: tuple[str | None, str | None], bridge: Bridge) -> Ranges:
    first, last = (source.positions([text], bridge) for text in pair)
    return {split: (first.get(split, 0), end) for split, end in last.items()}


def _check_order(sink: Sink, found: Sequence[Ranges]) -> None:
    """Check that scans of one topic have equal ranges: each of them may be that of either scan."""
    seen: dict[Split, tuple[int, int]] = {}
    for ranges in found:
        for split, offsets in ranges.items():
            if seen.setdefault(split, offsets) != offsets:
                raise StreamtableError(
                    Condition.NOT_PROVABLE,
                    at=sink.at,
                    table=sink.table.name,
                    reason=f"two scans of {split} have reached different offsets",
                    hint="stop the job with `streamtable stop`, and compare again",
                )
