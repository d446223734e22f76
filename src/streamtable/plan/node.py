"""Base class of all operators of a plan.

A plan is a tree of frozen nodes, with one file per operator. The rules (`rules`, `explain`) call
the methods of the base class and name no operator. A new operator is a subclass that overrides the
defaults. `title`, `state`, `fields` and `mode` have no default.

The names of a node's `fields` are unique, so that Spark SQL can refer to fields by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Self

from streamtable.core.changelog import ChangelogMode
from streamtable.core.types import Field
from streamtable.plan.binding.bound import Path, whole
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.state import StateLayout

if TYPE_CHECKING:
    from streamtable.core.errors import Span
    from streamtable.plan.window.fields import WindowField
    from streamtable.plan.window.window import Window

#: Names of the fields that identify a row of a node's output. Empty: there is at most one row.
Key = tuple[str, ...]


class Node:
    """An operator of the plan.

    Attributes:
        title: name of the operator in EXPLAIN and in messages.
        state: state layout in a checkpoint; None for an operator without state.
        waits: whether rows wait until the watermark passes their time.
        fires_windows: whether rows are emitted as soon as the watermark passes their time, so that
            none of them is late.
        emits_by_time: whether rows are emitted in the order of their event times, or of the ends of
            their windows.
        emits_apart: whether tasks divide the state of a group by its windows. The windows of a
            group then leave different tasks, in any order.
        emits_late: whether rows may be emitted long after the watermark has passed their event
            times, which are therefore ordinary timestamps above the operator.
        passes_late: whether the operator emits rows that were late on arrival, unless
            `without_late` has been applied.
        moves_watermark: whether the operator's rows advance the watermark.
        mixes_inputs: whether the operator interleaves the rows of several inputs.
        positions_calls: whether the positions of `positioned` only order the rows of one call.
        unites_inputs: whether the lowering begins with the union of all inputs, so that one pass
            over a scan can compute them.
    """

    title: ClassVar[str]
    state: ClassVar[StateLayout | None]
    waits: ClassVar[bool] = False
    fires_windows: ClassVar[bool] = False
    emits_by_time: ClassVar[bool] = False
    emits_apart: ClassVar[bool] = False
    emits_late: ClassVar[bool] = False
    passes_late: ClassVar[bool] = False
    moves_watermark: ClassVar[bool] = False
    mixes_inputs: ClassVar[bool] = False
    positions_calls: ClassVar[bool] = False
    unites_inputs: ClassVar[bool] = False

    if TYPE_CHECKING:
        # Some operators declare these as dataclass fields, which a property here would hide.
        @property
        def inputs(self) -> tuple[Node, ...]:
            """The inputs of the operator, left to right."""

        @property
        def fields(self) -> tuple[Field, ...]:
            """Columns of the output."""

    @property
    def arrival_inputs(self) -> tuple[Node, ...]:
        """Inputs whose rows are passed on in the order in which they arrive."""
        return () if self.state is not None else self.inputs

    @property
    def mode(self) -> ChangelogMode:
        """Row kinds that the operator emits."""
        raise NotImplementedError

    def over(self, inputs: Iterable[Node]) -> Self:
        """Return the same operator over other inputs."""
        raise NotImplementedError

    # Keys.

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the unique keys of the output rows, best known first; see `plan.keys`.

        Args:
            ordered: only keys by which a consumer may replace rows.
        """
        del ordered
        return ()

    @property
    def constants(self) -> frozenset[str]:
        """Fields with the same value in every row."""
        return frozenset()

    def decided_by_key(self) -> frozenset[str] | None:
        """Return the fields that a scan's primary key determines; None above most operators.

        Only filters and projections pass these fields on.
        """
        return None

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the fields that deletes carry; None if deletes are whole rows.

        The other fields of a delete are NULL, whatever their type.
        """
        return None

    # Row kinds; `rules.changelog_mode` describes the steps.

    @property
    def retracts_unknown(self) -> bool:
        """Whether the operator may retract rows that it has never added.

        An operator with state drops such retractions.
        """
        return self.state is None and any(child.retracts_unknown for child in self.inputs)

    @property
    def retracts_first(self) -> bool:
        """Whether the first change of a row may be its retraction.

        False if a shuffle may have moved the retraction before the row itself.
        """
        return self.retracts_unknown and not self.shuffles

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return whether an input must emit update-before rows.

        Args:
            child: the input.
            before: whether the consumer needs update-before rows.
        """
        del before
        return not child.mode.is_append

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Return the operator over inputs that emit the row kinds that it needs.

        Args:
            before: whether the consumer needs update-before rows.
            duplicates: whether change events may occur twice.
        """
        pairs = ((child, self.needs_before(child, before)) for child in self.inputs)
        below = [child.satisfied(need, duplicates) for child, need in pairs]
        return self.over(below).settled(before)

    def settled(self, before: bool) -> Node:
        """Return the operator after its inputs emit the row kinds that it needs."""
        del before
        return self

    def in_pairs(self) -> Node:
        """Return the input of a paired filter: no filter below may split the rows of an update."""
        return self

    def with_deletes(self) -> Node:
        """Return the operator over upserts; its filters emit deletes for rows that they drop."""
        return self

    def positioned(self) -> Node | None:
        """Return the operator with position fields; None if its rows have none, as in joins."""
        return None

    # Columns.

    def narrowed(self, wanted: set[str]) -> Self:
        """Return the operator without parts that only unread columns need."""
        del wanted
        return self

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields of each input that the operator reads for a consumer of `wanted`."""
        return tuple(wanted & {f.name for f in node.fields} for node in self.inputs)

    def pruned(self, wanted: set[str]) -> Node:
        """Return the operator over inputs without unread columns."""
        narrow = self.narrowed(wanted)
        pairs = zip(narrow.inputs, narrow.reads(wanted), strict=True)
        return narrow.over([child.pruned(read) for child, read in pairs])

    def in_parts(self, wanted: frozenset[Path]) -> Node:
        """Return the operator over scans that know which parts of their ROW columns are read.

        Args:
            wanted: the fields of the operator that its consumer reads, or the parts of them. Here,
                the operator reads its inputs as a whole.
        """
        del wanted
        below = (node.in_parts(whole(f.name for f in node.fields)) for node in self.inputs)
        return self.over([*below])

    def merged(self) -> Node:
        """Merge the operator with its input, if one operator computes the same."""
        return self

    # State.

    def limited(self, default: timedelta) -> Self:
        """Return the operator with its state TTL; see `plan.state.limit`."""
        del default
        return self

    def layout(self, lacking: Set[str] = frozenset()) -> StateLayout | None:
        """Return the layout of the state; `lacking` are ids of layouts that it must not have."""
        del lacking
        return self.state

    @property
    def kept_for(self) -> Sequence[tuple[str, timedelta | None]]:
        """Parts of the state and their TTLs; None: the state is kept as long as its rows exist."""
        return ()

    @property
    def expires(self) -> bool:
        """Whether Spark removes expired state; operators that wait remove it themselves."""
        return not self.waits and any(ttl is not None for _, ttl in self.kept_for)

    @property
    def state_keys(self) -> tuple[Key, ...]:
        """Return, for each input, the fields by which the operator partitions its state.

        The result is empty if the operator keeps no state by the fields of its input.
        """
        return ()

    @property
    def shuffles(self) -> int:
        """Number of stateful stages in the tree; each of them begins with a shuffle."""
        return int(self.state is not None) + sum(child.shuffles for child in self.inputs)

    # Time.

    def is_event_time(self, name: str) -> bool:
        """Return whether a field is an event time, to which the watermark applies."""
        found = self.window_field(name)
        return found is not None and found.is_time

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound in a field, unchanged since the window table function."""
        del name
        return None

    @property
    def clock_window(self) -> Window | None:
        """The processing-time window that the operator waits for."""
        return None

    @property
    def by_processing_time(self) -> bool:
        """Whether the output depends on the arrival time of records."""
        return self.clock_window is not None

    @property
    def by_arrival(self) -> bool:
        """Whether the output depends on the time or the order in which records arrive."""
        return self.by_processing_time

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with trees of other INSERTs over one scan.

        The lowering of each operator then consists of filters and projections of Spark, and of at
        most one local fold and one processor. See `plan.sink.shared_scan`.
        """
        return False

    def in_time(self, at: Span | None) -> Node:
        """Return the replacement of the operator for input rows with windows or event times.

        Args:
            at: place of the query, for errors.
        """
        del at
        return self

    def without_late(self) -> Node:
        """Return the operator that drops late rows, for an operator above that waits for a time."""
        return self

    def with_sessions(self, *, merged: bool) -> Node:
        """Insert operators that wait for complete sessions, unless an aggregation merges them.

        Args:
            merged: whether an aggregation above merges the sessions of these rows.
        """
        del merged
        return self.over([child.with_sessions(merged=False) for child in self.inputs])

    # Real-time mode and restarts.

    @property
    def spark_texts(self) -> Iterable[str]:
        """The Spark SQL that Spark evaluates for the operator."""
        return ()

    @property
    def pair_condition(self) -> str | None:
        """The condition of a join over the fields of both inputs."""
        return None

    def obstacle(self) -> str | None:
        """Why real-time mode cannot run this operator, inputs excluded; None if it can."""
        if any(map(calls_python, self.spark_texts)):
            return "Spark hands rows to Python functions in batches"
        return None

    @property
    def forwards_every_row(self) -> bool:
        """Whether each input row gives exactly one output row at once, and nothing else does."""
        return False

    @property
    def never_returns(self) -> bool:
        """Whether a result never returns to an earlier value."""
        return False

    @property
    def changes(self) -> str:
        """Name of the operator's changes in messages."""
        return f"its {self.title}"

    # EXPLAIN.

    @property
    def headline(self) -> str:
        """Description of the operator, without row kinds and keys."""
        return self.title

    def line(self, normalized: str | None) -> str:
        """Return the headline; `normalized` names the operator above that keeps upserted rows."""
        del normalized
        return self.headline

    def normalizers(self, above: str | None) -> Sequence[str | None]:
        """Return, for each input, the operator that keeps the rows of its upserts.

        `above` is that operator for this node's own output.
        """
        del above
        return [None for _ in self.inputs]

    @property
    def described(self) -> str:
        """The user's name for the operator."""
        return f"the {self.title}"

    @property
    def compares_all(self) -> bool:
        """Whether one task compares all rows of two inputs of unlimited size."""
        return False

    @property
    def side_tables(self) -> tuple[Node, ...]:
        """Tables that the operator looks up; their rows are not emitted on their own."""
        return ()

    def advice(self) -> Iterator[str]:
        """Yield costs that another query or another setting would avoid."""
        yield from ()

    @property
    def is_static(self) -> bool:
        """Whether the tree reads no source and keeps no state."""
        return False

    def first_changing(self) -> Node:
        """The lowest operator on the path down that turns inserts into changes."""
        child = next((c for c in self.inputs if not c.mode.is_append), None)
        return self if child is None else child.first_changing()
