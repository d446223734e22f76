"""Errors of time-based operators."""

from __future__ import annotations

from datetime import timedelta

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.node import Node


def takes_inserts(
    child: Node, at: Span | None, operator: str, hint: str = "group its rows by the window first"
) -> StreamtableError:
    """Return Flink's error for an input that is not append-only."""
    return StreamtableError(
        Condition.TAKES_INSERTS_ONLY,
        at=at,
        operator=operator,
        source=child.first_changing().described,
        hint=hint,
    )


def refuse_hint(*ttls: timedelta | None) -> None:
    """Refuse the STATE_TTL hint on windows.

    Raises:
        StreamtableError: NOT_YET.
    """
    if any(ttl is not None for ttl in ttls):
        raise StreamtableError(
            Condition.NOT_YET,
            what="the hint STATE_TTL on windows, which are dropped when the watermark passes,",
            hint="remove the hint",
        )
