"""Errors of time-based operators."""

from __future__ import annotations

from datetime import timedelta

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.plan.node import Node
from streamtable.plan.rows.calc import below_projections


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


def refuse_lost_time(node: Node, name: str, at: Span | None) -> None:
    """Refuse a field that is an event time only below an operator whose rows may be late.

    Raises:
        StreamtableError: NOT_YET.
    """
    below, found = below_projections(node, name)
    if below.emits_late and any(found and child.is_event_time(found) for child in below.inputs):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what=f"a time attribute from {below.described}, whose rows may be older than the"
            " watermark,",
            hint="write the rows into a table with a WATERMARK, and read it in another query",
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
