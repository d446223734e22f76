"""Checks across several keys of a section."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from zoneinfo import ZoneInfo

from streamtable.connectors.kafka.options import apsaramq
from streamtable.connectors.kafka.options.options import (
    DELIVERY,
    TRANSACTION_PREFIX,
    DeliveryGuarantee,
)
from streamtable.connectors.mysql_cdc import server_options as server
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Option, Settings
from streamtable.ingest.file import options as o


def check_source(settings: Settings) -> Iterator[StreamtableError]:
    """Yield errors of `source` that involve several keys."""
    yield from _expected(settings, o.TYPE, settings.get(o.TYPE), "mysql")
    zone = settings.get(server.TIME_ZONE)
    if zone is not None and not _is_zone(zone):
        yield _invalid(settings, server.TIME_ZONE, "a zone such as 'Europe/Berlin' or '+08:00'")
    for option, mode in server.misplaced_startup(settings):
        wanted = f"{server.STARTUP_MODE.key}: {mode.value}"
        reason = f"'{option.key}' has a meaning only with {wanted}"
        yield _conflict(settings, option, reason, f"set {wanted}")
    for name, reason, hint in server.jdbc_faults(jdbc_properties(settings)):
        key = server.JDBC_PREFIX + name
        yield StreamtableError(
            Condition.OPTION_NOT_SETTABLE,
            at=settings.given[key].at,
            option=key,
            reason=reason,
            hint=hint or "remove it",
        )
    missing = server.missing_startup(settings)
    if missing is not None:
        yield _lacks(settings, missing)


def jdbc_properties(settings: Settings) -> dict[str, str]:
    """Return the JDBC properties of `source`, by name."""
    prefix = server.JDBC_PREFIX
    return {
        key.removeprefix(prefix): given.text
        for key, given in settings.given.items()
        if key.startswith(prefix)
    }


def check_sink(settings: Settings) -> Iterator[StreamtableError]:
    """Yield errors of `sink` that involve several keys."""
    yield from _expected(settings, o.TYPE, settings.get(o.TYPE), "upsert-kafka")
    exactly = settings[DELIVERY] is DeliveryGuarantee.EXACTLY_ONCE
    if settings.has(TRANSACTION_PREFIX) and not exactly:
        reason = f"'{TRANSACTION_PREFIX.key}' has a meaning only with {DELIVERY.key}: exactly-once"
        yield _conflict(settings, TRANSACTION_PREFIX, reason, "remove it, or set exactly-once")
    if "properties.bootstrap.servers" in settings.given:
        try:
            apsaramq.complete(settings, "sink")
        except StreamtableError as error:
            yield error


def _is_zone(text: str) -> bool:
    if text[:1] in "+-":
        hours, _, minutes = text[1:].partition(":")
        return hours.isdecimal() and (minutes or "0").isdecimal()
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        return False
    return True


def _expected(
    settings: Settings, option: Option[str], found: str | None, wanted: str
) -> Iterator[StreamtableError]:
    if found is not None and found != wanted:
        yield _invalid(settings, option, f"'{wanted}', the only one here")


def _invalid(settings: Settings, option: Option[str], expected: str) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_OPTION,
        at=settings.at(option),
        option=option.key,
        value=settings[option],
        expected=expected,
    )


def _conflict(settings: Settings, option: Option[Any], reason: str, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_CONFLICT, at=settings.at(option), reason=reason, hint=hint
    )


def _lacks(settings: Settings, option: Option[Any]) -> StreamtableError:
    mode = settings[server.STARTUP_MODE].value
    return StreamtableError(
        Condition.JOB_KEY_MISSING,
        at=settings.at(server.STARTUP_MODE),
        section="source",
        key=option.key,
        hint=f"{server.STARTUP_MODE.key}: {mode} needs it",
    )
