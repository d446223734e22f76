"""Checks of sources and sinks before a job starts, and the resources that a job creates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from streamtable.core.options import Settings
from streamtable.jvm.bridge import Bridge

#: A function that shows one line to the user.
Notice = Callable[[str], None]


class Resource(Protocol):
    """A resource that a job writes to and that does not exist yet, such as a topic."""

    @property
    def name(self) -> str:
        """The name, for messages."""

    @property
    def place(self) -> str:
        """What tells it from resources of the same name in other systems."""

    def check(self) -> None:
        """Check that `create` would succeed, without creating anything.

        Raises:
            StreamtableError: the reason why `create` would fail.
        """

    def create(self) -> None:
        """Create the resource."""


@dataclass(frozen=True)
class Preflight:
    """The context of the checks before one start.

    Attributes:
        bridge: the JVM side of the session.
        settings: the session's settings.
        notice: called with one line for the user.
        bounded: whether the job stops at the current end of its sources.
        first_run: whether the queries start for the first time. For a source: whether they have not
            stored yet where its scan begins.
        to_create: places of the resources that the job itself will create.
        read_only: whether a check must not even register a schema, because no job starts.
    """

    bridge: Bridge
    settings: Settings
    notice: Notice
    bounded: bool
    first_run: bool
    to_create: frozenset[str] = frozenset()
    read_only: bool = False
