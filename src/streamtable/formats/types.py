"""Find types in a schema that a format does not support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamtable.core.types import DataType, Field


def unsupported(found: DataType, column: str, reason: str) -> StreamtableError:
    """Return UNSUPPORTED_TYPE for a column, which may be a path into a ROW (`address.zip`)."""
    return StreamtableError(
        Condition.UNSUPPORTED_TYPE, found=found.sql(), reason=f"column '{column}': {reason}"
    )


def walk(fields: tuple[Field, ...], check: Callable[[DataType], str | None]) -> None:
    """Call `check` for every type and nested type; raise the first reason that it returns."""
    for field in fields:
        _walk(field.type, field.name, check)


def _walk(found: DataType, column: str, check: Callable[[DataType], str | None]) -> None:
    reason = check(found)
    if reason is not None:
        raise unsupported(found, column, reason)
    for part in (found.key, found.element):
        if part is not None:
            _walk(part, column, check)
    for field in found.fields:
        _walk(field.type, f"{column}.{field.name}", check)
