"""Checks across several options of one table. They run after all values have been read."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Option, Rule, Settings

#: Client settings that the connector sets, with the reason why a script cannot set them.
OWNED_CLIENT_PROPERTIES = {
    "key.deserializer": "the connector reads bytes and lets key.format decode them",
    "value.deserializer": "the connector reads bytes and lets value.format decode them",
    "key.serializer": "the connector writes bytes that key.format has encoded",
    "value.serializer": "the connector writes bytes that value.format has encoded",
    "enable.auto.commit": "progress is kept in the checkpoint",
    "transactional.id": (
        "each task has its own id, which starts with 'sink.transactional-id-prefix'"
    ),
    "interceptor.classes": "an interceptor could change or drop records unseen",
}


def client_properties_are_free(settings: Settings, table: str) -> None:
    """Refuse `properties.*` keys that the connector sets itself (same keys as on Flink's page)."""
    for key, reason in OWNED_CLIENT_PROPERTIES.items():
        if key in settings.passthrough:
            option = f"properties.{key}"
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.given[option].at,
                option=option,
                reason=reason,
                hint=f"remove it from the WITH clause of {table}",
            )


def one_of(first: Option[Any], second: Option[Any]) -> Rule:
    """Require exactly one of two options; messages propose the first."""

    def check(settings: Settings, table: str) -> None:
        if not settings.has(first) and not settings.has(second):
            raise StreamtableError(
                Condition.MISSING_OPTION,
                at=settings.given["connector"].at,
                hint=f"add '{first.key}' = '...' to its WITH clause",
                table=table,
                option=first.key,
                owner=f"connector '{settings.given['connector'].text}'",
            )
        if settings.has(first) and settings.has(second):
            raise _conflict(
                settings, second, f"{table} sets both '{first.key}' and '{second.key}'", first
            )

    return check


def both_or_neither(first: Option[Any], second: Option[Any]) -> Rule:
    """Require both options on or both off; a value equal to the default counts as off."""

    def check(settings: Settings, table: str) -> None:
        on = [option for option in (first, second) if settings[option] != option.default]
        if len(on) == 1:
            other = second if on[0] is first else first
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(on[0]),
                reason=f"{table} sets '{on[0].key}' without '{other.key}'",
                hint="set both above zero to buffer, or neither",
            )

    return check


def together(first: Option[Any], second: Option[Any]) -> Rule:
    """Require both options or none."""

    def check(settings: Settings, table: str) -> None:
        if settings.has(first) != settings.has(second):
            there, lacking = (first, second) if settings.has(first) else (second, first)
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(there),
                reason=f"{table} sets '{there.key}' without '{lacking.key}'",
                hint=f"add '{lacking.key}' = '...' or remove '{there.key}'",
            )

    return check


def needs(option: Option[Any], other: Option[Any], value: Enum) -> Rule:
    """Require a value of `other` if `option` is set."""

    def check(settings: Settings, table: str) -> None:
        if settings.get(option) and settings.get(other) is not value:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(option),
                reason=f"{table} sets '{option.key}', which needs '{other.key}' = '{value.value}'",
                hint=f"add '{other.key}' = '{value.value}' or remove '{option.key}'",
            )

    return check


def required_with(option: Option[Any], other: Option[Any], value: Enum) -> Rule:
    """Require `option` for one `value` of `other`."""

    def check(settings: Settings, table: str) -> None:
        if settings.get(other) is value and not settings.has(option):
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(other),
                reason=f"{table} sets '{other.key}' = '{value.value}' without '{option.key}'",
                hint=f"add '{option.key}' = '...'",
            )

    return check


def skips_or_keeps(dead_letters: Option[Any]) -> Rule:
    """Refuse skipping records that do not parse together with a dead-letter topic.

    The options of a format are in the same WITH clause, with the prefix of the format.
    """

    def check(settings: Settings, table: str) -> None:
        for key, value in settings.values.items():
            if key.endswith(".ignore-parse-errors") and value and settings.has(dead_letters):
                raise StreamtableError(
                    Condition.OPTION_CONFLICT,
                    at=settings.at(dead_letters),
                    reason=f"{table} sets '{dead_letters.key}', but '{key}' skips such records",
                    hint=f"remove '{key}'",
                )

    return check


def another_topic(
    option: Option[str], topics: Option[tuple[str, ...]], pattern: Option[str]
) -> Rule:
    """Refuse a topic that the job reads, because the job would read its own output.

    A pattern that only Java understands is checked at the start, with `reads_its_output`.
    """

    def check(settings: Settings, table: str) -> None:
        if not settings.has(option):
            return
        topic = settings[option]
        if topic in (settings.get(topics) or ()) or _matches(settings.get(pattern), topic):
            raise reads_its_output(table, topic, settings.at(option))

    return check


def reads_its_output(table: str, topic: str, at: Span | None) -> StreamtableError:
    """Return the error of a table that reads its own dead-letter topic."""
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=at,
        reason=f"{table} reads '{topic}', which 'scan.dead-letter.topic' also names",
        hint="use a separate topic for dead letters",
    )


def _matches(pattern: str | None, topic: str) -> bool:
    try:
        return pattern is not None and re.fullmatch(pattern, topic) is not None
    except re.error:  # a syntax that only Java supports
        return False


def not_with_keys(option: Option[str], value: str, keys: Option[Any]) -> Rule:
    """Refuse a partitioner that spreads the records of one key (Flink's rule)."""

    def check(settings: Settings, table: str) -> None:
        if settings[option] == value and settings.has(keys):
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(option),
                reason=f"{table} sets '{option.key}' = '{value}', but its records have keys",
                hint=f"remove '{option.key}', so that records of one key share a partition",
            )

    return check


def one_topic(
    offsets: Option[Any], other: Option[Any], value: Enum, topics: Option[tuple[str, ...]]
) -> Rule:
    """Require one topic for offsets by partition, which one `value` of `other` uses (Flink's)."""

    def check(settings: Settings, table: str) -> None:
        named: tuple[str, ...] = settings.get(topics) or ()
        if settings.get(other) is value and settings.has(offsets) and len(named) != 1:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(offsets),
                reason=f"{table} sets '{offsets.key}', which needs one '{topics.key}' by its name",
                hint="declare one table for each topic",
            )

    return check


def stays_on(interval: Option[timedelta]) -> Rule:
    """Refuse an interval of 0: it disables a feature in Flink that Spark runs in every batch."""

    def check(settings: Settings, table: str) -> None:
        if settings.has(interval) and not settings[interval]:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.at(interval),
                option=interval.key,
                reason="every batch discovers new topics and partitions; 0 would disable this",
                hint=f"remove it from the WITH clause of {table}",
            )

    return check


def _conflict(
    settings: Settings, option: Option[Any], reason: str, keep: Option[Any]
) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=settings.at(option),
        reason=reason,
        hint=f"keep one of them, e.g. '{keep.key}'",
    )
