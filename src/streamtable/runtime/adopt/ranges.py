"""What an adoption reads: from the startup positions of the tables to where the engine stopped."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connector_api.source import Source, Split
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.endpoints import sources_of
from streamtable.runtime.upgrade.ranges import ReadRange, lost_records, other_begin, topic_of, words


def adopted_range(plan: Sink, options: AdoptOptions, bridge: Bridge) -> ReadRange:
    """Return what the query of an adoption reads; `lost` says why it cannot.

    Args:
        plan: the query.
        options: the ends of the topics.
        bridge: the JVM side.

    Raises:
        StreamtableError: an error of a source.
    """
    begins: dict[Split, int] = {}
    ends: dict[Split, int] = {}
    records = 0
    for source in sources_of([plan]):
        found = _of_source(source, options, bridge)
        if isinstance(found, str):
            return ReadRange({}, {}, lost=found)
        other = other_begin(source, begins, found.begins)
        if other is not None:
            return ReadRange({}, {}, lost=other)
        begins |= found.begins
        ends |= found.ends
        records += found.records
    return ReadRange(begins, ends, records)


def described(range_: ReadRange) -> str:
    """Return the ends of a range in words, with the offsets as Flink's options write them."""
    by_topic: dict[str, list[str]] = {}
    for split, end in sorted(range_.ends.items(), key=_order):
        offset = f"partition:{split.rpartition('/')[2]},offset:{end}"
        by_topic.setdefault(topic_of(split), []).append(offset)
    ends = (f"{';'.join(offsets)} of topic '{topic}'" for topic, offsets in by_topic.items())
    return f"reads {range_.records:,} records, up to {', '.join(ends)}"


def _order(end: tuple[Split, int]) -> tuple[str, int]:
    topic, _, number = end[0].rpartition("/")
    return topic, int(number)


def _of_source(source: Source, options: AdoptOptions, bridge: Bridge) -> ReadRange | str:
    """Return the range of one source, or why there is none."""
    if source.is_bounded:
        return f"{source.table} is bounded, so that no later run could go on"
    begins = source.first_positions(bridge)
    if isinstance(begins, str):
        return begins
    kept, now = source.begins_of(bridge), source.ends_of(None, bridge)
    if kept is None or now is None:
        return f"the positions of {source.table} are not known, because its servers do not respond"
    ends = _ends(source, options, begins, now, bridge)
    if isinstance(ends, str):
        return ends
    lost = lost_records(source, begins, ends, kept, "the other engine may have read")
    if lost is not None:
        return lost
    return ReadRange(begins, ends, sum(end - begins[split] for split, end in ends.items()))


def _ends(
    source: Source,
    options: AdoptOptions,
    begins: Mapping[Split, int],
    now: Mapping[Split, int],
    bridge: Bridge,
) -> dict[Split, int] | str:
    """Return the end of each split, or which of them is not known."""
    committed = source.committed_by(options.group, bridge) if options.group else None
    ends: dict[Split, int] = {}
    for split, last in now.items():
        topic, _, number = split.rpartition("/")
        given = options.at.get(topic)
        if given is not None:
            end = given.get(int(number))
            if end is None:
                return f"{words(split)} has no end offset"
        elif committed is not None:
            # Flink commits no offset for a partition in which it has not read a record.
            end = committed.get(split, begins[split])
            if split not in committed and last > end:
                return f"group '{options.group}' has no committed offset for {words(split)}"
        else:
            end = last
        if not begins[split] <= end <= last:
            return (
                f"{words(split)} goes from offset {begins[split]} to {last}, and its end offset"
                f" is {end}"
            )
        ends[split] = end
    for topic, given in options.at.items():
        for partition in given:
            if any(topic_of(s) == topic for s in now) and f"{topic}/{partition}" not in now:
                return f"topic '{topic}' has no partition {partition}"
    return ends
