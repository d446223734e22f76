"""Checks across several options of a `jdbc` table."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Option, Rule, Settings


def all_or_none(options: Sequence[Option[Any]]) -> Rule:
    """Refuse some of the options without the others, as Flink does."""

    def check(settings: Settings, table: str) -> None:
        given = [o for o in options if settings.has(o)]
        missing = [o for o in options if not settings.has(o)]
        if given and missing:
            lacking = ", ".join(f"'{o.key}'" for o in missing)
            raise _conflict(
                settings.at(given[0]),
                f"table {table} sets '{given[0].key}' without {lacking}",
                "set all of them, or none",
            )

    return check


def bounds_in_order(lower: Option[int], upper: Option[int]) -> Rule:
    """Refuse a lower bound above the upper bound."""

    def check(settings: Settings, table: str) -> None:
        low, high = settings.get(lower), settings.get(upper)
        if low is not None and high is not None and low > high:
            raise _conflict(
                settings.at(lower),
                f"'{lower.key}' of {table} is {low}, and '{upper.key}' is {high}",
            )

    return check


def caches_agree(
    cache: Option[Any], partial: Enum, new: Sequence[Option[Any]], old: Sequence[Option[Any]]
) -> Rule:
    """Refuse options of a cache that is off, and options of both generations together."""

    def check(settings: Settings, table: str) -> None:
        is_on = settings[cache] is partial
        older = next((o for o in old if settings.has(o)), None)
        if older is not None and is_on:
            raise _conflict(
                settings.at(older),
                f"table {table} sets '{older.key}' and '{cache.key}' = '{partial.value}'",
                f"remove '{older.key}' and use 'lookup.partial-cache.*'",
            )
        # The older options share the option about missing keys.
        unused = new if older is None else new[:-1]
        given = next((o for o in unused if settings.has(o)), None)
        if given is not None and not is_on:
            raise _conflict(
                settings.at(given),
                f"table {table} sets '{given.key}' without '{cache.key}' = '{partial.value}'",
            )

    return check


def cache_has_a_limit(cache: Option[Any], partial: Enum, limits: Sequence[Option[Any]]) -> Rule:
    """Refuse a cache without a limit, as Flink does."""

    def check(settings: Settings, table: str) -> None:
        if settings[cache] is partial and not any(settings.has(o) for o in limits):
            known = ", ".join(f"'{o.key}'" for o in limits)
            raise _conflict(
                settings.at(cache),
                f"the lookup cache of {table} has no limit",
                f"set one of {known}",
            )

    return check


def _conflict(at: Span | None, reason: str, hint: str | None = None) -> StreamtableError:
    return StreamtableError(Condition.OPTION_CONFLICT, at=at, reason=reason, hint=hint)
