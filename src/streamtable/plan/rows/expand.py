"""Expand operator: several rows per input row, for UNNEST and GROUPING SETS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import PLACE


@stable(
    "Expand",
    derived=("array_fields",),
    array="array",
    made="made",
    outer="outer",
    place="place",
    what="what",
    placed="placed",
)
@dataclass(frozen=True)
class Expand(UnaryNode):
    """Emit each input row once per element of an array; no state.

    An update becomes a delete and an insert, because the old and the new array may differ in
    elements.

    Attributes:
        array: Spark SQL of an array of structs with the fields p0, p1, ... over the input's fields.
        array_fields: input fields from which the array is computed.
        made: the parts of an element, in order; nullable if `outer`.
        outer: whether a row without elements is also emitted, with NULL elements.
        place: field of `made` with the number of the element in its row, if there is one.
        what: purpose of the operator, shown in EXPLAIN.
        placed: whether rows have the field `PLACE`, for operators whose result depends on the order
            of the elements.
    """

    title = "Expand"
    state = None
    passes_times = True

    array: str
    array_fields: frozenset[str]
    made: tuple[Field, ...]
    outer: bool = False
    place: str | None = None
    what: str = "Unnest"
    placed: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, then the parts of an element and its place."""
        return (*self.input.fields, *self.made, *((PLACE,) if self.placed else ()))

    @property
    def mode(self) -> ChangelogMode:
        """Append-only over append-only input; otherwise deletes and inserts."""
        return self.input.mode.without_updates()

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input plus the place of the element.

        With `outer`, an empty array gives one row whose place is NULL.
        """
        if ordered or self.place is None:
            return ()
        return tuple((*key, self.place) for key in unique_keys(self.input))

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input, and the place of each element."""
        below = self.input.positioned()
        if below is None:
            return None
        has_place = any(field.name == PLACE.name for field in below.fields)
        return replace(self, input=below, placed=not has_place)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on and those of the array."""
        own = {f.name for f in self.made} | ({PLACE.name} if self.placed else set())
        return ((wanted - own) | self.array_fields,)

    @property
    def headline(self) -> str:
        """Shows the array and the names of its parts."""
        made = ", ".join(f.name for f in self.made)
        return f"{self.what} {self.array} AS ({made}){', or NULLs' if self.outer else ''}"
