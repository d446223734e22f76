"""Find types in a schema that a format, or SQL, does not support."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import MAX_DECIMAL_PRECISION, decimal

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamtable.core.types import DataType, Field


def unsupported(found: DataType, column: str, reason: str) -> StreamtableError:
    """Return UNSUPPORTED_TYPE for a column, which may be a path into a ROW (`address.zip`)."""
    return StreamtableError(
        Condition.UNSUPPORTED_TYPE, found=found.sql(), reason=f"column '{column}': {reason}"
    )


def inferred_decimal(precision: int, scale: int) -> DataType:
    """Return the type of a column whose schema has a decimal.

    Raises:
        ValueError: SQL has no such type. Kafka Connect's default, for example, has 64 digits.
    """
    if not 1 <= precision <= MAX_DECIMAL_PRECISION or not 0 <= scale <= precision:
        msg = (
            f"a decimal with {precision} digits and a scale of {scale}; a DECIMAL has at most"
            f" {MAX_DECIMAL_PRECISION}. Declare the columns of the table"
        )
        raise ValueError(msg)
    return decimal(precision, scale)


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
