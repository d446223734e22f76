"""Lag of a query behind its sources, in records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamtable.connector_api.source import Source, Split
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Root, Sink
from streamtable.runtime.endpoints import sources_of


def records_behind(reached: Iterable[str | None], plan: Sink, bridge: Bridge) -> int | None:
    """Return the lag: the number of records between a query's position and the ends of its sources.

    The lag is None while a source does not respond. The Kafka clients decide how long a job waits
    for its brokers, and this check does not end the job sooner.

    Args:
        reached: a position per source, in the form in which Spark stores it.
        plan: the query.
        bridge: the JVM side, which asks the brokers.

    Raises:
        StreamtableError: BROKER_FAILED, LOGIN_FAILED or ACCESS_DENIED.
    """
    reached = list(reached)
    position: dict[Split, int] = {}
    ends: dict[Split, int] = {}
    for source in sources_of([plan]):
        own = source.positions(reached, bridge)
        found = source.ends_of(own, bridge)
        if found is None:
            return None
        position |= own
        ends |= found
    return distance(position, ends)


def ends_ahead(sources: Iterable[Source], bridge: Bridge) -> dict[Split, int]:
    """Return the ends of scans that are beyond the current ends of their splits."""
    found: dict[Split, int] = {}
    for source in sources:
        for split, end in source.ends_ahead(bridge).items():
            found[split] = max(end, found.get(split, 0))
    return found


def all_ends(plan: Sink, bridge: Bridge) -> dict[Split, int]:
    """Return the current ends of all splits of a query's sources, without unknown ends."""
    found: dict[Split, int] = {}
    for source in sources_of([plan]):
        found |= source.ends_of(None, bridge) or {}
    return found


def all_reached(
    ends: Mapping[Split, int], reached: Iterable[str | None], plan: Root, bridge: Bridge
) -> bool:
    """Whether a query has reached the given ends of its scans."""
    reached = list(reached)
    position: dict[Split, int] = {}
    for source in sources_of([plan]):
        position |= source.positions(reached, bridge)
    return all(position.get(split, 0) >= end for split, end in ends.items())


def distance(position: Mapping[Split, int], ends: Mapping[Split, int]) -> int:
    """Return the number of records between positions and the ends of the same splits."""
    return sum(max(0, ends.get(key, offset) - offset) for key, offset in position.items())
