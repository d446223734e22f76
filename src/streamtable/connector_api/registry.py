"""Find connectors and formats by the entry points of installed packages, including our own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.metadata import EntryPoints as InstalledPoints
from typing import Generic, TypeVar, cast

from streamtable.core.errors import Condition, StreamtableError

T = TypeVar("T")


@lru_cache(1)
def _installed(_path: tuple[str, ...]) -> InstalledPoints:
    """Return the entry points of all packages on a search path, which must be `sys.path`.

    Python reads a file of each package. All groups share the result.
    """
    # Python 3.11 declares another class, which has the same `select`.
    return cast("InstalledPoints", entry_points())


class EntryPoints(Mapping[str, T], Generic[T]):
    """The entry points of one group by name; each is loaded on first access.

    Args:
        group: the group, such as `streamtable.connectors`.
        kind: the word for a member of the group, for messages.
    """

    def __init__(self, group: str, kind: str) -> None:
        self._group = group
        self._kind = kind
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Load the connector or format with a name.

        Raises:
            KeyError: no package declares the name.
            StreamtableError: PLUGIN_FAILED if two packages declare the name, or its module does not
                load.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)

    def __contains__(self, name: object) -> bool:
        return name in self._declared

    @cached_property
    def _declared(self) -> Mapping[str, list[EntryPoint]]:
        """Entry points by name, sorted; a package that is on the path twice counts once."""
        found: dict[str, list[EntryPoint]] = {}
        points = _installed(tuple(sys.path)).select(group=self._group)
        for point in sorted(points, key=lambda p: p.name):
            same = found.setdefault(point.name, [])
            if all(other.value != point.value for other in same):
                same.append(point)
        return found

    def _load(self, name: str) -> T:
        points = self._declared[name]
        if len(points) > 1:
            modules = " and ".join(point.module for point in points)
            raise self._failed(name, f"both {modules} declare it", "uninstall one of the packages")
        (point,) = points
        try:
            found: T = point.load()
        except Exception as error:
            reason = f"{point.value} cannot be loaded: {error}"
            raise self._failed(name, reason, "install another version of its package") from error
        return found

    def _failed(self, name: str, reason: str, hint: str) -> StreamtableError:
        return StreamtableError(
            Condition.PLUGIN_FAILED, kind=self._kind, name=name, reason=reason, hint=hint
        )
