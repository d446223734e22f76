"""Top-N operator: ROW_NUMBER and LIMIT without a window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Self

from streamtable.core.errors import InternalError, Span
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.inputs import Expiring, PairsChanges, UnaryNode
from streamtable.plan.keys import by, distinct, ordered_keys, unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_lasting_position
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.processing_time_deduplicate import ProcessingTimeDeduplicate
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.rows.calc import Calc, Projection, below_projections, passed_on
from streamtable.plan.state import StateLayout
from streamtable.plan.window.fields import GroupedWindow, WindowField, grouped_window
from streamtable.plan.window.refusals import takes_inserts
from streamtable.plan.window.window_table import WindowRows
from streamtable.plan.window.window_top_n import WindowTopN


@stable(
    "TopN",
    partition="partition",
    order="order",
    limit="limit",
    skip="skip",
    rank="rank",
    key="key",
    before="before",
    ties="ties",
    last="last",
    arrival="arrival",
    ttl="ttl",
)
@dataclass(frozen=True)
class TopN(PairsChanges, UnaryNode, Expiring):
    """Keep the first rows of each partition, updated on inserts, updates and deletes.

    The position of rows in their source breaks ties. Without positions, all columns from the left
    do.

    Attributes:
        partition: partition fields; empty for a single partition.
        limit: number of rows; None until a WHERE sets it.
        skip: number of rows to skip before these.
        rank: name and type of the row number in the partition, from 1. None: unused.
        key: output fields by which a retracted row and an added row are paired to an update.
        before: whether to emit update-before rows.
        ties: input fields with a row's position in its source, for append-only input.
        last: whether the last of equal rows ranks first. This is so for the last row of each
            partition by event time, which Flink calls a Deduplicate.
        arrival: whether the order is by processing time, in which rows arrive.
        at: place of the ROW_NUMBER.
        ttl: how long a partition is kept after its last change; None: as long as it has rows.
    """

    title = "TopN"
    state = StateLayout(
        "TopN",
        2,
        ("TopNProcessor", "TopOneProcessor"),
        frozenset({"top", "rest", "first"}),
        by_value=True,
    )

    partition: Key
    order: tuple[SortKey, ...]
    limit: int | None = None
    skip: int = 0
    rank: Field | None = None
    key: Key | None = None
    before: bool = False
    ties: Key = ()
    last: bool = False
    arrival: bool = False
    at: Span | None = field(default=None, compare=False)
    ttl: timedelta | None = None

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input without the ties, then the row number."""
        kept = (f for f in self.input.fields if f.name not in self.ties)
        return (*kept, *((self.rank,) if self.rank else ()))

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the row number in the partition and the keys of the input."""
        own: list[Key] = []
        if self.limit == 1:
            own.append(self.partition)
        elif self.rank is not None:
            own.append((*self.partition, self.rank.name))
        if not ordered:
            return distinct([*own, *unique_keys(self.input)])
        held = [k for k in ordered_keys(self.input) if set(self.partition) <= set(k)]
        return tuple([*own, *held][:1])

    def settled(self, before: bool) -> TopN:
        """Return the operator with a key for updates; append-only input also gets row positions."""
        below: Node = self.input
        ties: Key = ()
        if below.mode.is_append:
            below, ties = with_lasting_position(below)
        settled = replace(self, input=below, ties=ties)
        return replace(settled, key=next(iter(ordered_keys(settled)), None), before=before)

    def narrowed(self, wanted: set[str]) -> Self:
        """Return the operator without an unread row number, and so without its updates."""
        if self.rank is None or self.rank.name in wanted:
            return self
        unranked = replace(self, rank=None)
        return replace(unranked, key=next(iter(ordered_keys(unranked)), None))

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the partition, the order and the ties."""
        own = {*self.partition, *(key.field for key in self.order), *self.ties}
        return ((wanted | own) & {f.name for f in self.input.fields},)

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is an event time of rows that no later row replaces."""
        if self.is_final:
            return self._has(name) and self.input.is_event_time(name)
        return super().is_event_time(name)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of an input field.

        It is passed on in a ranking in windows, and with rows that no later row replaces.
        """
        passes = self.is_final or grouped_window(self.input, self.partition) is not None
        return self.passed_window(name) if passes else None

    @property
    def is_final(self) -> bool:
        """Whether the rows are numbered in the order of time: all of them, or the first ones."""
        if len(self.order) != 1 or self.order[0].descending or not self.input.mode.is_append:
            return False
        timed = self.arrival or self.input.is_event_time(self.order[0].field)
        return timed and (self.limit is None or (self.limit == 1 and not self.skip))

    def in_time(self, at: Span | None) -> Node:
        """Return a `WindowTopN` if the partition contains a window; otherwise a deduplication.

        Without order and partition, append-only rows need only be counted, by a `Limit`.
        """
        del at
        if self._counts_rows and self.limit is not None:
            return Limit(self.input, self.limit, self.skip)
        found = grouped_window(self.input, self.partition)
        return self._deduplicated() if found is None else self._in_window(found)

    @property
    def _counts_rows(self) -> bool:
        ordered = self.order or self.partition or self.rank
        return not ordered and self.input.mode.is_append

    def _in_window(self, found: GroupedWindow) -> WindowTopN:
        if not self.input.mode.is_append:
            raise takes_inserts(self.input, self.at, "the ranking in a window")
        if self.limit is None:
            msg = "a ranking without a limit, which planning refuses"
            raise InternalError(msg)
        one = self.limit == 1 and not self.skip
        return WindowTopN(
            self.input,
            found.window,
            self.partition,
            found.end,
            self.order,
            self.limit,
            self.skip,
            self.rank,
            last=one and self._is_newest_first(),
        )

    def _is_newest_first(self) -> bool:
        """Return whether the order is by the event time from which rows got their windows."""
        if len(self.order) != 1 or not self.order[0].descending:
            return False
        below, name = below_projections(self.input, self.order[0].field)
        return isinstance(below, WindowRows) and name == below.time and not below.window.processing

    def _deduplicated(self) -> Node:
        """Return a deduplication, if the order is by time and the limit is one row per partition.

        before:  TopN(k, 1 of ts ASC) <- append-only input
        after:   Deduplicate(k, ts) <- ..., or a ProcessingTimeDeduplicate

        The first row needs no update, because no earlier row can arrive after the watermark has
        passed it. The last row is updated at once, also by a row with the same time. Source:
        Flink's *Deduplication*.
        """
        first = self.order[0] if len(self.order) == 1 else None
        timed = first is not None and self.input.is_event_time(first.field)
        one = self.limit == 1 and not self.skip and self.input.mode.is_append
        if first is None or not (timed or self.arrival) or not one:
            return self
        kept: Node
        if self.arrival:
            kept = ProcessingTimeDeduplicate(self.input, self.partition, first.descending)
        elif first.descending:
            return replace(self, last=True)
        else:
            kept = Deduplicate(self.input, self.partition, first.field)
        if self.rank is None:
            return kept
        place = Projection(self.rank, "1L", constant=True)
        return Calc(kept, (*passed_on(self.input.fields), place))

    @property
    def described(self) -> str:
        """Names the limit."""
        return f"the first {self.limit} rows"

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if the input can."""
        return self.input.runs_together

    @property
    def headline(self) -> str:
        """Shows partition, limit and order."""
        order = ", ".join(key.described for key in self.order)
        skip = f" after {self.skip}" if self.skip else ""
        rank = f" with {self.rank.name}" if self.rank else ""
        kept = "" if self.input.mode.is_append else ", keeps every row"
        if self.last:
            last = f"the last row of {self.order[0].field}{rank}"
            return f"{Deduplicate.title} {by(self.partition)}: {last}"
        rows = f"{self.limit}{skip} of {order or 'any order'}"
        return f"TopN {by(self.partition)}: {rows}{rank}{kept}"

    def advice(self) -> Iterator[str]:
        """Advise that the operator keeps every row of an input with changes."""
        if not self.input.mode.is_append:
            yield (
                "a TopN keeps every row of its input, not only the first ones, because the"
                " input has updates or deletes."
            )
