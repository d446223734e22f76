"""All operators of plans, and their state layouts."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from streamtable import plan
from streamtable.core.identity import identities
from streamtable.plan.join.join import Join
from streamtable.plan.node import Node
from streamtable.plan.state import StateLayout
from streamtable.plan.window.window_aggregate import WindowAggregate


@cache
def operators() -> tuple[type[Node], ...]:
    """Return the operator classes that a plan may contain, sorted by name."""
    for module in pkgutil.walk_packages(plan.__path__, f"{plan.__name__}."):
        importlib.import_module(module.name)
    found = {cls for cls, ids in identities().items() if ids.id and issubclass(cls, Node)}
    ours = (cls for cls in found if cls.__module__.startswith("streamtable."))
    return tuple(sorted(ours, key=lambda cls: cls.__name__))


def layouts() -> Iterator[StateLayout]:
    """Yield every state layout. `WindowAggregate` has two, and `Join` three."""
    yield from (cls.state for cls in operators() if cls.state)
    yield WindowAggregate.bucket_state
    yield Join.append_state
    yield Join.pair_state
