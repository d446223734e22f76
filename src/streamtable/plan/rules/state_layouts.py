"""State layouts of a plan, as recorded in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Set

from streamtable.core.types import Root
from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every

#: Added to the version of an operator that finds rows or values with maps by their bytes. State has
#: the entries of a map in the order of keys, which state without this number has not.
_SORTED_MAPS = 100


def layouts(node: Node, lacking: Set[str] = frozenset()) -> Iterator[tuple[str, int]]:
    """Yield the stateful operators of a tree from the top, each with its layout version.

    `lacking` is `Sink.lacking`.
    """
    for part in every(node):
        layout = part.layout(lacking)
        if layout is not None:
            yield layout.id, layout.version + _SORTED_MAPS * (layout.by_value and _takes_maps(part))


def _takes_maps(node: Node) -> bool:
    fields = (field for below in node.inputs for field in below.fields)
    return any(field.type.holds(Root.MAP, Root.MULTISET) for field in fields)
