"""Findings of `streamtable check` about the topics that a table reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from streamtable.connector_api.findings import Finding, ScanFacts, Severity
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.read.bounds import topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.durations import format_duration
from streamtable.core.settings.table import IDLE_TIMEOUT, STATE_TTL
from streamtable.jvm.bridge import Bridge

#: A job that is stopped for longer than the retention of tombstones misses deletes. Shorter
#: retentions than this are reported; Kafka's default is a day.
_TOMBSTONES = timedelta(hours=1)


def topic_findings(table: KafkaTable, facts: ScanFacts, bridge: Bridge) -> Iterator[Finding]:
    """Yield findings about size, cleanup and empty partitions of the existing topics.

    Raises:
        StreamtableError: the brokers do not respond, or deny access.
    """
    admin = KafkaAdmin(bridge, table.properties)
    for topic in topics_of(table, admin):
        found = admin.describe(topic)
        if found:
            yield _size(table, topic, found, admin)
            yield from _cleanup(table, topic, found, facts)
            yield from _empty(table, topic, admin, facts)


def _size(table: KafkaTable, topic: str, found: Mapping[str, str], admin: KafkaAdmin) -> Finding:
    ends, begins = admin.end_offsets([topic]), admin.begin_offsets([topic])
    records = sum(end - begins[p] for p, end in ends.items())
    text = f"topic '{topic}' has {found['partitions']} partitions and at most {records:,} records"
    return _finding(table, Severity.OK, text)


def _cleanup(
    table: KafkaTable, topic: str, found: Mapping[str, str], facts: ScanFacts
) -> Iterator[Finding]:
    policy = found.get("cleanup.policy")
    if policy is None:
        text = f"retention and cleanup of topic '{topic}' are unknown: the user may not read them"
        yield _warning(table, text, f"grant DESCRIBE_CONFIGS of topic '{topic}'")
        return
    retention = _millis(found.get("retention.ms"))
    if table.is_upsert:
        yield from _cleanup_of_upserts(table, topic, policy, found)
    elif facts.stateful and "delete" in policy and retention is not None:
        ttl = facts.ttl
        if ttl is None or ttl > retention:
            kept = "without a limit" if ttl is None else f"for {format_duration(ttl)}"
            text = (
                f"topic '{topic}' deletes records after {format_duration(retention)}, but state is"
                f" kept {kept}: a job with a new checkpoint gives other results"
            )
            fix = f"keep the checkpoint, raise 'retention.ms', or SET '{STATE_TTL.key}'"
            yield _warning(table, text, fix)


def _cleanup_of_upserts(
    table: KafkaTable, topic: str, policy: str, found: Mapping[str, str]
) -> Iterator[Finding]:
    if "delete" in policy:
        text = (
            f"topic '{topic}' has cleanup.policy={policy}: a row that does not change for"
            f" {_shown(found.get('retention.ms'))} disappears without a tombstone"
        )
        yield _warning(table, text, "set 'cleanup.policy' of the topic to 'compact'")
    tombstones = _millis(found.get("delete.retention.ms"))
    if "compact" in policy and tombstones is not None and tombstones < _TOMBSTONES:
        text = (
            f"topic '{topic}' keeps tombstones for only {format_duration(tombstones)}: a job that"
            " is stopped for longer misses deletes"
        )
        yield _warning(table, text, "raise 'delete.retention.ms' of the topic")


def _empty(table: KafkaTable, topic: str, admin: KafkaAdmin, facts: ScanFacts) -> Iterator[Finding]:
    if not facts.event_time or facts.idle_timeout:
        return
    ends, begins = admin.end_offsets([topic]), admin.begin_offsets([topic])
    empty = sorted(p for (_, p), end in ends.items() if begins[topic, p] == end)
    if empty and len(empty) < len(ends):
        numbers = ", ".join(map(str, empty))
        text = f"partitions {numbers} of topic '{topic}' are empty and hold the watermark back"
        yield _warning(table, text, f"SET '{IDLE_TIMEOUT.key}' = '1 min'")


def _warning(table: KafkaTable, text: str, fix: str) -> Finding:
    return _finding(table, Severity.WARNING, text, fix)


def _finding(table: KafkaTable, severity: Severity, text: str, fix: str | None = None) -> Finding:
    return Finding(severity, "topic", table.table, text, table.at, fix)


def _millis(text: str | None) -> timedelta | None:
    """Return a duration of the brokers; None if it is unknown or unlimited (-1)."""
    return None if text is None or int(text) < 0 else timedelta(milliseconds=int(text))


def _shown(text: str | None) -> str:
    found = _millis(text)
    return "some time" if found is None else format_duration(found)
