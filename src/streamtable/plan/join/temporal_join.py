"""Temporal join operators: a join with the version of a row at a point in time."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import timedelta

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.plan.inputs import Expiring, PairsChanges
from streamtable.plan.join.time_joins import TimedJoin
from streamtable.plan.keys import distinct, ordered_keys, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.state import StateLayout
from streamtable.plan.window.emission import positioned_by_time


@stable("TemporalJoin", ttl="ttl", drops_late="drops_late")
@dataclass(frozen=True)
class TemporalJoin(TimedJoin, Expiring):
    """Join each left row with the right row's version at the left row's time.

    Attributes:
        ttl: how long a key without rows is kept while no left row waits for it; None: forever.
        drops_late: whether late left rows are dropped, because an operator above waits for their
            time. Otherwise they are joined as well, as in Flink.
    """

    title = "TemporalJoin"
    state = StateLayout(
        "TemporalJoin", 1, ("TemporalJoinProcessor",), frozenset({"waiting", "versions", "used"})
    )

    fires_windows = True
    emits_by_time = True
    passes_late = True

    ttl: timedelta | None = None
    drops_late: bool = False

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is the time of append-only left rows."""
        return name == self.left_time and self.left.mode.is_append

    def without_late(self) -> Node:
        """Return the join that drops late left rows."""
        return replace(self, drops_late=True)

    @property
    def arrival_inputs(self) -> tuple[Node, ...]:
        """No inputs: rows are emitted in the order of their event times."""
        return ()

    def in_time(self, at: Span | None) -> Node:
        """Return an `UpdatingTemporalJoin` if the left input has updates or deletes."""
        del at
        if self.left.mode.is_append:
            return self
        return UpdatingTemporalJoin(**{f.name: getattr(self, f.name) for f in fields(self)})

    def positioned(self) -> Node:
        """Return the operator with positions by event time."""
        return positioned_by_time(self, self.left_time)

    @property
    def headline(self) -> str:
        """Shows join type, equalities and time."""
        kind = "Left" if self.kind.pads_right else ""
        late = ", drops late rows" if self.drops_late else ""
        return f"{kind}TemporalJoin on {self.equal_where} as of {self.left_time}{late}"


@stable("UpdatingTemporalJoin", key="key", before="before")
@dataclass(frozen=True)
class UpdatingTemporalJoin(PairsChanges, TemporalJoin):
    """A temporal join whose left input has updates and deletes.

    The join keeps each emitted left row with the version that it was joined with, until the row is
    retracted. It then retracts what it emitted. Flink's operator keeps no emitted rows: it joins a
    retracted row anew, with the versions that it still has.

    Attributes:
        key: output fields by which a retracted row and an added row are paired to an update.
        before: whether to emit update-before rows.
        ttl: how long an emitted row is kept after the last change of rows with its time; also as in
            `TemporalJoin`.
    """

    state = StateLayout(
        "UpdatingTemporalJoin",
        1,
        ("TemporalJoinProcessor",),
        frozenset({"waiting", "versions", "used", "emitted", "swept"}),
    )

    key: Key | None = None
    before: bool = False

    fires_windows = passes_late = False

    def in_time(self, at: Span | None) -> Node:
        """Return the operator itself."""
        del at
        return self

    def without_late(self) -> Node:
        """Return the operator itself: its rows have no event time."""
        return self

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the left rows, each of which is joined with at most one version.

        An ordered key contains the join key, so that one task has all versions of a left row.
        """
        if not ordered:
            return distinct(v for key in unique_keys(self.left) for v in self.variants(key))
        held = [key for key in ordered_keys(self.left) if set(self.left_keys) <= set(key)]
        return distinct(self.variants(held[0])) if held else ()

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true for the left input: the join finds a retracted row by its value."""
        del before
        return child is self.left

    def obstacle(self) -> str | None:
        """Return the reason for micro-batches, in which both rows of an update are in one batch.

        A timer that fires between them would drop the version of the row.
        """
        reason = "the version of an updated left row is kept only within a batch"
        return super().obstacle() or reason

    def settled(self, before: bool) -> UpdatingTemporalJoin:
        """Return the operator with a key for updates."""
        return replace(self, key=next(iter(ordered_keys(self)), None), before=before)

    @property
    def headline(self) -> str:
        """Shows join type, equalities, time and state."""
        return f"{super().headline}, keeps emitted left rows"
