"""The node that makes several rows of one; see `nodes` for what every node has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, ChangelogMode, RowKind
from streamtable.core.types import Field

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node
    from streamtable.plan.source_nodes import Key


@dataclass(frozen=True)
class Expand:
    """Each row of the input once for every element of an array; keeps no state.

    An update is taken for a delete and an insert, because the old array and the new one need not
    have the same elements.

    Attributes:
        array: Spark SQL of an array of structs with the fields p0, p1, ... over the input's fields.
        reads: the input fields that the array is computed from.
        made: the parts of an element, in order; nullable where `outer`.
        outer: whether a row without elements comes out nevertheless, with NULLs for them.
        place: the one among `made` that counts the elements of a row, where there is one.
        what: what it is for, as EXPLAIN says it.
    """

    input: Node
    array: str
    reads: frozenset[str]
    made: tuple[Field, ...]
    outer: bool = False
    place: str | None = None
    what: str = "Unnest"

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, then what an element is made of."""
        return (*self.input.fields, *self.made)

    @property
    def mode(self) -> ChangelogMode:
        """Inserts of inserts; all else is deletes and inserts."""
        if self.input.mode.is_append:
            return APPEND
        return ChangelogMode(frozenset({RowKind.INSERT, RowKind.DELETE}))

    def keys(self, below: tuple[Key, ...]) -> tuple[Key, ...]:
        """What identifies its rows, given what identifies those of the input.

        An empty array of an outer one gives a row whose place is NULL, once.
        """
        return () if self.place is None else tuple((*key, self.place) for key in below)
