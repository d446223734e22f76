"""Merge projections that only rename or reorder into the projection below."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from streamtable.plan.rules.tree import rebuilt
from streamtable.plan.sink.sink import Collect, Sink

R = TypeVar("R", Sink, Collect)


def merge_projections(plan: R) -> R:
    """Merge a projection without expressions of its own into the projection below.

    before:  Calc(a AS x, n AS y) <- Calc(a, COUNT AS n, b) <- ...
    after:   Calc(a AS x, COUNT AS y) <- ...
    """
    return replace(plan, input=rebuilt(plan.input, lambda node: node.merged()))
