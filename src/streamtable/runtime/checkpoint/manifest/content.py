"""Manifest of a checkpoint: the queries that have written it, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from streamtable.runtime.checkpoint.manifest.recorded_query import ADDED_LAYOUTS, RecordedQuery

#: Version of the directory layout. Increase it with every incompatible change of the layout.
#: Operators have their own versions of state.
LAYOUT_VERSION = 3

#: Layout of a checkpoint with retired queries, or with ids or directories of queries. Earlier
#: versions would drop them, so they must refuse it.
EXTENDED_LAYOUT = 4

#: Layout of a checkpoint with INSERTs that share a query. Earlier versions would start a query per
#: INSERT, all in one directory.
SHARED_LAYOUT = 5

#: Layout of a checkpoint with INSERTs whose state is in one operator. Earlier versions would start
#: such an INSERT alone with an operator of its own if the others are removed.
SHARED_STATE_LAYOUT = 6

#: Layout of a checkpoint with a query that reads one table in several places and has one source for
#: it. Earlier versions would start the query with a source for each place.
REUSED_SCANS_LAYOUT = 7

#: The newest layout; see `ADDED_LAYOUTS`.
NEWEST_LAYOUT = max(ADDED_LAYOUTS.values())


@dataclass(frozen=True)
class Manifest:
    """The content of a checkpoint's `streamtable.json`.

    Attributes:
        id: id of the checkpoint.
        queries: the queries of the last run, by name.
        retired: queries that a later script no longer had; their directories are kept.
        topics: Kafka's ids of the topics that the queries have read.
    """

    id: str
    queries: Mapping[str, RecordedQuery]
    retired: Mapping[str, RecordedQuery] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any], new_id: str) -> Self:
        """Return the manifest; `new_id` is the id of a checkpoint that has none yet."""
        return cls(
            id=data.get("id") or new_id,
            queries=_queries(data["queries"]),
            retired=_queries(data.get("retired", {})),
            topics=data.get("topics", {}),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the data of the file, in the oldest layout that can hold it."""
        data: dict[str, Any] = {
            "layout": self._layout,
            "queries": {name: query.to_json() for name, query in self.queries.items()},
            "id": self.id,
            "topics": dict(self.topics),
        }
        if self.retired:
            data["retired"] = {name: query.to_json() for name, query in self.retired.items()}
        return data

    @property
    def shared(self) -> frozenset[str]:
        """Names of the queries that several INSERTs share, those of retired INSERTs included."""
        return frozenset(query.shared.name for query in self._every if query.shared is not None)

    @property
    def _every(self) -> Sequence[RecordedQuery]:
        return (*self.queries.values(), *self.retired.values())

    @property
    def _layout(self) -> int:
        """The oldest layout that can hold the data."""
        added = {ADDED_LAYOUTS[i] for query in self._every for i in query.added_layouts}
        if added:
            return max(added)
        if any(query.reuses_scans for query in self._every):
            return REUSED_SCANS_LAYOUT
        if any(query.number is not None for query in self._every):
            return SHARED_STATE_LAYOUT
        if self.shared:
            return SHARED_LAYOUT
        named = any(query.id or query.directory for query in self.queries.values())
        return EXTENDED_LAYOUT if self.retired or named else LAYOUT_VERSION


def layout_difference(data: Mapping[str, Any]) -> str | None:
    """Return why this version cannot read the layout of a manifest, in words, or None."""
    found = data["layout"]
    if found in range(LAYOUT_VERSION, NEWEST_LAYOUT + 1):
        return None
    return f"its state has layout {found}, this version writes {LAYOUT_VERSION}"


def _queries(data: Mapping[str, Any]) -> dict[str, RecordedQuery]:
    return {name: RecordedQuery.from_json(query) for name, query in data.items()}
