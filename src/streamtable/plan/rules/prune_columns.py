"""Column pruning: drop unread columns, down to record fields that are never decoded."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.plan.sink.sink import Collect, Sink

R = TypeVar("R", Sink, Collect)


def prune_columns(plan: R) -> R:
    """Prune each operator to the columns that its consumer reads.

    before:  Sink(region, n) <- GroupAggregate(region) <- Scan(user, page, time, region)
    after:   Sink(region, n) <- GroupAggregate(region) <- Scan(region)
    """
    return replace(plan, input=plan.input.pruned({f.name for f in plan.input.fields}))
