"""Changelog normalization: turns upserts into a full changelog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from streamtable.core.changelog import RETRACT, UPSERT, ChangelogMode
from streamtable.core.errors import InternalError
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import Expiring, UnaryNode
from streamtable.plan.keys import listed
from streamtable.plan.node import Key, Node
from streamtable.plan.state import StateLayout

if TYPE_CHECKING:
    from streamtable.plan.source.scan import Scan


@stable("Normalize", key="key", before="before", ttl="ttl")
@dataclass(frozen=True)
class Normalize(UnaryNode, Expiring):
    """Turns the upserts of a scan into a full changelog; keeps the last row of each key.

    Flink's `ChangelogNormalize`. The operator drops changes without effect: an upsert equal to the
    row that it replaces, and a delete of an unknown key. It therefore also drops duplicate change
    events.

    Attributes:
        before: whether to emit update-before rows.
        ttl: how long a row is kept after its last upsert; None: until its delete.
    """

    title = "ChangelogNormalize"
    state = StateLayout("ChangelogNormalize", 1, ("NormalizeProcessor",), frozenset({"last"}))

    input: Scan
    key: Key
    before: bool = True
    ttl: timedelta | None = None

    @property
    def state_keys(self) -> tuple[Key, ...]:
        """Primary key of the table."""
        return (self.key,)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the scan; a position is that of the record that made the change."""
        return self.input.fields

    @property
    def mode(self) -> ChangelogMode:
        """All four row kinds, or upserts if no consumer needs update-before rows."""
        return RETRACT if self.before else UPSERT

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the key."""
        del ordered
        return (self.key,)

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Raise an error: only a satisfied scan creates this operator."""
        del before, duplicates
        msg = "a ChangelogNormalize before the rule that inserts it"
        raise InternalError(msg)

    def positioned(self) -> Normalize:
        """Return the operator with the positions of the scan."""
        return replace(self, input=self.input.positioned())

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return all fields that are read; a change of an unread column is not a change."""
        return (wanted | set(self.key),)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: always."""
        return True

    def normalizers(self, above: str | None) -> Sequence[str | None]:
        """Return the operator itself."""
        del above
        return [self.title]

    @property
    def headline(self) -> str:
        """Shows the key."""
        return f"ChangelogNormalize by {listed(self.key)}"

    def advice(self) -> Iterator[str]:
        """Advise that the operator keeps a row per key."""
        yield (
            f"an operator needs update-before rows of {self.input.table.name}, so a"
            f" ChangelogNormalize keeps one row per {listed(self.key)}."
        )
