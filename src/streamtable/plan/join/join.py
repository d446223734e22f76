"""Regular join operator: a join without time bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Self

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.settings.table import STATE_TTL
from streamtable.core.types import Field
from streamtable.plan.inputs import PairsChanges
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.join.window_join import WindowJoin
from streamtable.plan.keys import (
    distinct,
    is_single,
    ordered_keys,
    side_key,
    unique_keys,
    upsert_key,
)
from streamtable.plan.node import Key, Node
from streamtable.plan.position import (
    POSITION,
    POSITION_NAMES,
    is_scattered,
    without_position,
)
from streamtable.plan.source.scan import scans
from streamtable.plan.state import StateLayout, limit
from streamtable.plan.window.fields import WindowField, joined_window
from streamtable.plan.window.refusals import refuse_hint, takes_inserts


@stable(
    "Join",
    key="key",
    before="before",
    left_upserts="left_upserts",
    right_upserts="right_upserts",
    left_ttl="left_ttl",
    right_ttl="right_ttl",
    positions="positions",
)
@dataclass(frozen=True)
class Join(PairsChanges, PairNode):
    """Regular join of two inputs on equal keys, updated on changes of both.

    Attributes:
        key: output fields by which a retracted row and an added row are paired to an update. None:
            there are no such fields, and every change is a delete or an insert.
        before: whether to emit update-before rows.
        left_upserts: key fields of a left input of upserts and deletes. The join then finds the
            replaced row in its own state. None: the left input retracts rows itself.
        right_upserts: the same for the right input.
        left_ttl: how long a left row is kept after its last change; None: as long as it exists.
        right_ttl: the same for right rows.
        positions: whether an output row has the position of its left row, or else of its right row,
            if the call added that row; otherwise -1. The positions of windows come first. Inputs of
            upserts have positions anyway.
    """

    title = "Join"
    positions_calls = unites_inputs = True
    state = StateLayout("Join", 1, ("JoinProcessor",), frozenset({"left", "right"}), by_value=True)
    #: The layout with rows of append-only inputs, which are not looked for.
    append_state = replace(state, id="AppendJoin")
    #: The layout with one state for both inputs, which have at most one row per join key.
    pair_state = replace(state, id="PairedJoin", variables=frozenset({"rows"}), by_value=False)

    condition: str | None = None
    condition_fields: frozenset[str] = frozenset()
    key: Key | None = None
    before: bool = False
    left_upserts: Key | None = None
    right_upserts: Key | None = None
    left_ttl: timedelta | None = None
    right_ttl: timedelta | None = None
    positions: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the left input, then of the right, without their positions; then its own."""
        left, right = without_position(self.left.fields), without_position(self.right.fields)
        return (*self.kind.fields(left, right), *(POSITION if self.positions else ()))

    @property
    def mode(self) -> ChangelogMode:
        """Append-only, if the inputs are and no late match can change a result; else changes."""
        growing = self.kind in (JoinKind.INNER, JoinKind.SEMI)
        if growing and all(node.mode.is_append for node in self.inputs):
            return APPEND
        return super().mode

    @property
    def retracts_unknown(self) -> bool:
        """Whether an input retracts such rows, and the state does not tell them from others.

        The state lacks expired rows, and unmatched rows whose join key is NULL.
        """
        knows = self.kind in (JoinKind.INNER, JoinKind.SEMI) and not self.expires
        return not knows and any(child.retracts_unknown for child in self.inputs)

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return combinations of the keys of the inputs.

        An ordered key contains the join key and combines ordered keys of the inputs. Updates are
        paired by the first ordered key, so the other ordered keys must be equivalent to it.
        """
        if not ordered:
            return self.unique()
        found = self.combined(ordered_keys(self.left), ordered_keys(self.right))
        held = [key for key in found if self._holds_join_key(set(key))]
        return distinct(self.variants(held[0])) if held else ()

    def _holds_join_key(self, key: set[str]) -> bool:
        """Return whether equal values of the key imply equal join keys, with or without a match."""
        by_left, by_right = set(self.left_keys) <= key, set(self.right_keys) <= key
        if self.kind.left_only:
            return by_left
        if self.kind is JoinKind.INNER:
            return by_left or by_right
        return (by_left or not self.kind.pads_right) and (by_right or not self.kind.pads_left)

    def satisfied(self, before: bool, duplicates: bool) -> Join:
        """Return the join over inputs that retract rows: a join must know each row it retracts."""
        left, left_upserts = _satisfied(self.left, self.left_keys, duplicates)
        right, right_upserts = _satisfied(self.right, self.right_keys, duplicates)
        node = replace(
            self, left=left, right=right, left_upserts=left_upserts, right_upserts=right_upserts
        )
        return replace(node, key=next(iter(ordered_keys(node)), None), before=before)

    def positioned(self) -> Node | None:
        """Return the join with the positions of the rows that a call adds.

        None for append-only output, whose rows are emitted in their order, and for rows with a key,
        of which only the net change of a call is emitted. Windows arrive in any order, so they
        always have positions.
        """
        if (self.mode.is_append or unique_keys(self)) and not is_scattered(self):
            return None
        sides = ((self.left, self.left_upserts), (self.right, self.right_upserts))
        below = [None if upserts else node.positioned() for node, upserts in sides]
        if not any(below) and not any(upserts for _, upserts in sides):
            return None
        inputs = (found or node for found, node in zip(below, self.inputs, strict=True))
        return replace(self.over(inputs), positions=True)

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that a consumer needs, including the keys of upserts."""
        positions = POSITION_NAMES if self.positions else ()
        upserts = {*(self.left_upserts or ()), *(self.right_upserts or ())}
        return super().reads({*wanted, *upserts, *positions})

    def limited(self, default: timedelta) -> Self:
        """Return the join with a TTL for each side."""
        left, right = limit(self.left_ttl, default), limit(self.right_ttl, default)
        return replace(self, left_ttl=left, right_ttl=right)

    @property
    def kept_for(self) -> Sequence[tuple[str, timedelta | None]]:
        """State of each side and its TTL."""
        return (("left rows", self.left_ttl), ("right rows", self.right_ttl))

    def appends(self, *, left: bool) -> bool:
        """Whether the rows of an input may be stored without a search for equal rows.

        An append-only input never removes a row. Such rows have neither a key nor a TTL, and the
        number of their matches is not kept.
        """
        side, keys, ttl = (
            (self.left, self.left_keys, self.left_ttl)
            if left
            else (self.right, self.right_keys, self.right_ttl)
        )
        if not side.mode.is_append or ttl is not None or side_key(side, keys) is not None:
            return False
        single_pairs = self.condition is not None or self.expires
        return not (single_pairs and self.kind.depends_on_unmatched(left=left))

    @property
    def is_paired(self) -> bool:
        """Whether the rows of both inputs may be stored as one, because each key has only these.

        Rows with a TTL expire one by one.
        """
        sides = ((self.left, self.left_keys), (self.right, self.right_keys))
        return not self.expires and all(side_key(side, keys) == () for side, keys in sides)

    def layout(self, lacking: Set[str] = frozenset()) -> StateLayout:
        """Return the layout for pairs of rows, or for rows of append-only inputs, if possible."""
        if self.is_paired and self.pair_state.id not in lacking:
            return self.pair_state
        appends = self.appends(left=True) or self.appends(left=False)
        has_appended = appends and self.append_state.id not in lacking
        return self.append_state if has_appended else self.state

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of an input field, if the join is by window."""
        joined = joined_window(self.left, self.right, self.keys)
        return self.side_window(name) if joined else None

    def in_time(self, at: Span | None) -> Node:
        """Return a `WindowJoin` if the join is by window."""
        found = joined_window(self.left, self.right, self.keys)
        if found is None:
            return self
        refuse_hint(self.left_ttl, self.right_ttl)
        for child in self.inputs:
            if not child.mode.is_append:
                raise takes_inserts(child, at, "the window join")
        return WindowJoin(
            self.left,
            self.right,
            self.kind,
            self.keys,
            self.condition,
            self.condition_fields,
            found.window,
            found.left_end,
            found.right_end,
        )

    @property
    def compares_all(self) -> bool:
        """Whether the join has no equality and neither input is a single row."""
        return not self.keys and not any(is_single(side, ()) for side in self.inputs)

    @property
    def described(self) -> str:
        """Names the join type."""
        return f"the {self.kind.name.lower()} join"

    @property
    def headline(self) -> str:
        """Shows join type, equalities, condition and state."""
        on = f"on {self.equal}" if self.keys else "of all pairs, in one task"
        where = f", where {self.condition}" if self.condition else ""
        kept = ", ".join(
            f"{side} {_kept(child, keys)}{' of upserts' if upserts is not None else ''}"
            for side, child, keys, upserts in (
                ("left", self.left, self.left_keys, self.left_upserts),
                ("right", self.right, self.right_keys, self.right_upserts),
            )
        )
        return f"{self.kind.value} {on}{where}, keeps {kept}"

    def normalizers(self, above: str | None) -> Sequence[str | None]:
        """Return the join itself for inputs whose upserts it reads without a normalizer."""
        del above
        upserts = (self.left_upserts, self.right_upserts)
        return ["the join" if key is not None else None for key in upserts]

    def advice(self) -> Iterator[str]:
        """Advise on a missing equality, and on append-only inputs, whose state only grows."""
        if self.compares_all:
            yield (
                "a join has no equality between a column of each input, so one task holds both"
                " inputs and compares every pair of rows; add an equality."
            )
        for child, ttl in zip(self.inputs, (self.left_ttl, self.right_ttl), strict=True):
            if child.mode.is_append and ttl is None:
                tables = {scan.table.name for scan in scans(child)}
                names = ", ".join(sorted(tables)) or "a list of values"
                yield (
                    f"a join keeps every row of {names}. The input is append-only and"
                    f" '{STATE_TTL.key}' is 0, so the state never expires."
                )


def _satisfied(node: Node, join_key: Key, duplicates: bool) -> tuple[Node, Key | None]:
    """Return an input of a join, and the key of its rows if the input may emit upserts.

    The join finds the row before an upsert in its own state, if all versions of a row have the same
    join key. That saves the normalizer's state and shuffle.
    """
    key = upsert_key(node, join_key)
    if key is not None:
        return node.with_deletes(), key
    return node.satisfied(not node.mode.is_append, duplicates), None


def _kept(node: Node, join_key: Key) -> str:
    """Describe how the join stores the rows of one join key; later options need more state."""
    key = side_key(node, join_key)
    if key is None:
        return "every row"
    return f"by ({', '.join(key)})" if key else "one row"
