"""Hint about a new checkpoint: stale keys stay in the topics of upsert sinks."""

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
    topics = dict.fromkeys(
        f"'{sink_of(t).target}'" for t in upserts if not t.connector.writes.has_before
    )
    if not topics:
        return ""
    several = len(topics) > 1
    return (
        "; keys that the job no longer writes are not deleted and stay in the"
        f" {('topics' if several else 'topic')} {', '.join(topics)}: write to"
        f" {('new topics' if several else 'a new topic')}, or delete and create"
        f" {('them' if several else 'it')} before the start"
    )
