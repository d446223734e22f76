"""Operators of MATCH_RECOGNIZE: by event time and by processing time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Self

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.types import Field
from streamtable.plan.keys import by
from streamtable.plan.match.pattern import PatternVariable, Skip, described
from streamtable.plan.match.value import MatchDefinition, MatchValue, fields_of
from streamtable.plan.node import Key
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.state import StateLayout
from streamtable.plan.time_ordered import TimeOrdered

_OF_MATCHES = frozenset({"rows", "matches", "timer"})


@stable(
    "",
    partition="partition",
    time="time",
    peers="peers",
    pattern="pattern",
    skip="skip",
    within="within",
    definitions="definitions",
    values="values",
    rowtime="rowtime",
    order="order",
)
@dataclass(frozen=True)
class Match(TimeOrdered):
    """Find a pattern in the rows of each partition, and emit one row per match.

    Attributes:
        partition: partition fields; empty for a single partition.
        time: the time attribute that orders the rows.
        peers: sort keys of rows with the same time.
        within: how long a match may take, in milliseconds; None: no limit.
        values: values of a match, which become fields.
        rowtime: a field with the event time of the match; None: not needed.
        order: input fields that order rows with equal sort keys; ties are ordered by all fields
            from the left.
        at: place of MATCH_RECOGNIZE.
    """

    clause = "MATCH_RECOGNIZE"
    title = "MatchRecognize"
    passes_times = False

    partition: Key
    time: str
    peers: tuple[SortKey, ...]
    pattern: tuple[PatternVariable, ...]
    skip: Skip
    within: int | None
    definitions: tuple[MatchDefinition, ...]
    values: tuple[MatchValue, ...]
    rowtime: Field | None = None
    order: Key = ()
    at: Span | None = field(default=None, compare=False)

    @property
    def grouping(self) -> Key:
        """Partition fields."""
        return self.partition

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The partition fields, the values, and the event time."""
        known = {f.name: f for f in self.input.fields}
        rowtime = () if self.rowtime is None else (self.rowtime,)
        return (
            *(known[name] for name in self.partition),
            *(value.output for value in self.values),
            *rowtime,
        )

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return no keys: a partition may have many matches."""
        del ordered
        return ()

    def narrowed(self, wanted: set[str]) -> Self:
        """Return the operator without unread values."""
        rowtime = self.rowtime if self.rowtime and self.rowtime.name in wanted else None
        kept = tuple(value for value in self.values if value.output.name in wanted)
        return replace(self, values=kept, rowtime=rowtime)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return partition, order, and the fields of conditions and values."""
        del wanted
        read = {*self.partition, self.time, *(key.field for key in self.peers), *self.order}
        conditions = (definition.reads for definition in self.definitions)
        return (read.union(fields_of(self.values), *conditions),)

    @property
    def kept_for(self) -> Sequence[tuple[str, timedelta | None]]:
        """Partial matches; WITHIN limits how long they are kept, and the state TTL does not."""
        limit = None if self.within is None else timedelta(milliseconds=self.within)
        return (("partial matches", limit),)

    @property
    def headline(self) -> str:
        """Shows partition, order, pattern, skip and limit."""
        order = ", ".join([f"{self._clock} ASC", *(key.described for key in self.peers)])
        within = "" if self.within is None else f" within {self.within} ms"
        defined = ", ".join(
            f"{definition.variable} as {definition.column or definition.sql}"
            for definition in self.definitions
        )
        values = ", ".join(value.output.name for value in self.values)
        return (
            f"MatchRecognize {by(self.partition)} in the order of {order}:"
            f" ({described(self.pattern)}){within}, then {self.skip.described},"
            f" with {defined}{': ' if values else ''}{values}"
        )

    @property
    def _clock(self) -> str:
        return self.time

    def advice(self) -> Iterator[str]:
        """Advise that a pattern without a limit may keep its rows for ever."""
        if self.within is None:
            yield (
                "MATCH_RECOGNIZE without WITHIN keeps a partial match until it ends; the state TTL"
                " does not apply to it, as in Flink"
            )


@stable("MatchRecognize")
@dataclass(frozen=True)
class MatchRecognize(Match):
    """Find a pattern in the order of event time, as the watermark passes the rows."""

    state = StateLayout("MatchRecognize", 1, ("MatchProcessor",), _OF_MATCHES | {"waiting"})
    waits = fires_windows = True

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is the event time of the match."""
        return self.rowtime is not None and self.rowtime.name == name


@stable("ArrivalMatch")
@dataclass(frozen=True)
class ProcessingTimeMatch(Match):
    """Find a pattern in arrival order, without waiting for a watermark."""

    state = StateLayout("MatchRecognize", 1, ("ProcessingTimeMatchProcessor",), _OF_MATCHES)

    @property
    def batch_order(self) -> Key:
        """The order fields."""
        return self.order

    @property
    def by_processing_time(self) -> bool:
        """Always true."""
        return True

    @property
    def _clock(self) -> str:
        return "processing time"
