"""Nested projection: decode the fields of ROW columns that an expression reads."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.plan.binding.bound import whole
from streamtable.plan.sink.sink import Collect, Sink

R = TypeVar("R", Sink, Collect)


def read_parts(plan: R) -> R:
    """Mark the read parts of ROW columns in each scan; the columns of the plan do not change.

    before:  Calc(bid.price) <- Scan(bid)
    after:   Calc(bid.price) <- Scan(bid<price>)
    """
    return replace(plan, input=plan.input.in_parts(whole(f.name for f in plan.input.fields)))
