"""State TTL of operators: the setting `table.exec.state.ttl`.

As in Flink, the setting applies to every operator that keeps rows until they are retracted, unless
a hint overrides it (`query.ttl_hints`). With 0, state is kept as long as its rows exist. Windows,
interval joins and time-based OVER frames delete their state by event time. The setting does not
apply to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from streamtable.core.options import Settings
from streamtable.core.settings.table import STATE_TTL
from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every, rebuilt
from streamtable.plan.sink.sink import Collect, Sink

R = TypeVar("R", Sink, Collect)


def with_state_ttl(plan: R, settings: Settings) -> R:
    """Set the state TTL of every operator without a hint."""
    default: timedelta = settings[STATE_TTL]
    return replace(plan, input=rebuilt(plan.input, lambda node: node.limited(default)))


def expiring_nodes(node: Node) -> Iterator[Node]:
    """Yield the operators of a tree whose state Spark expires.

    Operators that wait for the watermark expire their state themselves.
    """
    return (part for part in every(node) if part.expires)
