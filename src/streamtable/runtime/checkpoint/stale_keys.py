"""Hint about a new checkpoint: stale keys stay in the targets of upsert sinks."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connector_api.endpoints import sink_of
from streamtable.plan.sink.sink import Sink


def stale_keys_hint(plans: Mapping[str, Sink]) -> str:
    """Return the end of a hint that proposes a new checkpoint directory.

    A job with a new checkpoint does not know the keys that an earlier job has written. Therefore
    the job deletes none of these keys, and compaction keeps them.

    Args:
        plans: query name -> plan.

    Returns:
        A clause that begins with a semicolon; empty if no sink is an upsert table.
    """
    tables = [plan.table for plan in plans.values()]
    upserts = (t for t in tables if not t.connector.writes.is_append)
    sinks = [sink_of(t) for t in upserts if not t.connector.writes.has_before]
    if not sinks:
        return ""
    targets = dict.fromkeys(f"'{sink.target}'" for sink in sinks)
    nouns = {sink.target_noun for sink in sinks}
    noun = nouns.pop() if len(nouns) == 1 else "target"
    several = len(targets) > 1
    return (
        "; keys that the job no longer writes are not deleted and stay in the"
        f" {noun}{'s' if several else ''} {', '.join(targets)}: write to"
        f" {f'new {noun}s' if several else f'a new {noun}'}, or delete and create"
        f" {('them' if several else 'it')} before the start"
    )
