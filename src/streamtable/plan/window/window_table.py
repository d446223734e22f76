"""Windowing table functions: operators that assign rows to windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import Field, timestamp
from streamtable.plan.binding.bound import Path, whole
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Key, Node
from streamtable.plan.state import StateLayout
from streamtable.plan.window.fields import Role, WindowField
from streamtable.plan.window.window import Window, WindowKind


@stable("", window="window", time="time", start="start", end="end", last="last")
@dataclass(frozen=True)
class WindowRows(UnaryNode):
    """Rows with the bounds of their windows; a NULL time ends the job.

    Attributes:
        time: the event time field, or the processing time field.
        start: name of the field with the start of the window.
        end: name of the field with the exclusive end of the window.
        last: name of the field with the last millisecond of the window, again an event time.
    """

    window: Window
    time: str
    start: str
    end: str
    last: str

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Fields of the input, then start, end and last."""
        plain = timestamp(3).with_nullable(False)
        kind = next(f.type for f in self.input.fields if f.name == self.time)
        last = replace(kind, precision=3, nullable=False)
        return (
            *self.input.fields,
            Field(self.start, plain),
            Field(self.end, plain),
            Field(self.last, last),
        )

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input plus the window: a row occurs once per window."""
        return tuple((*k, self.start, self.end) for k in self.input.row_keys(ordered=ordered))

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true for an input with changes: a moved row must leave its old window."""
        return before or not child.mode.is_append

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input."""
        below = self.input.positioned()
        return None if below is None else self.over([below])

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, the time, and the fields of sessions."""
        own = {self.start, self.end, self.last}
        return (wanted - own | {self.time, *self.window.partition},)

    def is_event_time(self, name: str) -> bool:
        """Return whether the field is an event time; `last` replaces the time field."""
        return name == self.last or (
            name != self.time and self._has(name) and self.input.is_event_time(name)
        )

    def window_field(self, name: str) -> WindowField | None:
        """Return the bound of the operator's own window."""
        own = {self.start: Role.START, self.end: Role.END, self.last: Role.LAST}
        return WindowField(own[name], self.window) if name in own else None


@stable("WindowTable")
@dataclass(frozen=True)
class WindowTable(WindowRows):
    """Emit each row once per window that contains it."""

    title = "WindowTable"
    state = None

    @property
    def mode(self) -> ChangelogMode:
        """Append-only over append-only input; otherwise deletes and inserts.

        An update may move a row to another window, and a row may have several windows.
        """
        return self.input.mode.without_updates()

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input plus the window; none is ordered over changes."""
        if ordered and not self.mode.is_append:
            return ()
        return super().row_keys(ordered=ordered)

    def in_parts(self, wanted: frozenset[Path]) -> Node:
        """Add the time and the fields of sessions to what is passed on."""
        (read,) = self.reads(set())
        own = {self.start, self.end, self.last}
        passed = frozenset(path for path in wanted if path[0] not in own)
        return self.over([self.input.in_parts(passed | whole(read))])

    @property
    def is_session(self) -> bool:
        """Whether the windows are sessions, which an operator above must merge."""
        return self.window.kind is WindowKind.SESSION

    def with_sessions(self, *, merged: bool) -> Node:
        """Return a `SessionTable` if no aggregation merges the sessions."""
        below = self.input.with_sessions(merged=False)
        if not self.is_session or merged:
            return self.over([below])
        return SessionTable(below, self.window, self.time, self.start, self.end, self.last)

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: if each row has one window."""
        return (
            self.window.kind in (WindowKind.TUMBLE, WindowKind.SESSION) and self.input.runs_together
        )

    @property
    def headline(self) -> str:
        """Shows window and time."""
        kind = ", processing time" if self.window.processing else ""
        return f"WindowTable {self.window.described} of {self.time}{kind}"


@stable("SessionTable")
@dataclass(frozen=True)
class SessionTable(WindowRows):
    """Emit each row with its session, once, when the watermark passes the session's end."""

    title = "SessionTable"
    state = StateLayout(
        "SessionTable", 1, ("SessionProcessor",), frozenset({"sessions", "rows"}), by_value=True
    )
    waits = fires_windows = True

    @property
    def grouping(self) -> Key:
        """Fields of sessions."""
        return self.window.partition

    @property
    def mode(self) -> ChangelogMode:
        """Append-only: rows that are retracted before then are not emitted."""
        return APPEND

    @property
    def clock_window(self) -> Window | None:
        """The window of the operator."""
        return self.window if self.window.processing else None

    def positioned(self) -> Node | None:
        """Return None for an input with changes: a retraction must equal its row in all fields."""
        return super().positioned() if self.input.mode.is_append else None

    @property
    def headline(self) -> str:
        """Shows window, time and the fields of sessions."""
        of = self.window.partition
        by = f" by ({', '.join(of)})" if of else ""
        return f"SessionTable {self.window.described} of {self.time}{by}"
