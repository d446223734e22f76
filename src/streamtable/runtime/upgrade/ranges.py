"""What a rebuild of a query reads: from where its first run began to where its last run stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.connector_api.source import Source, Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.storage.trees import replace_tree
from streamtable.runtime.endpoints import sources_of

#: Folder in the directory of a query that did not begin where its first run did: the positions of
#: the first run, as in Spark's folder for the positions of the directory's own first run.
_FIRST, _OWN = "first-sources", "sources"


@dataclass(frozen=True)
class ReadRange:
    """The records that a rebuild reads.

    Attributes:
        begins: first position of each split that the old query has read.
        ends: end position of each split, exclusive.
        records: number of positions between them.
        lost: why they can no longer be read, in words; None if they can.
    """

    begins: Mapping[Split, int]
    ends: Mapping[Split, int]
    records: int = 0
    lost: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the range as JSON data."""
        return {"begins": dict(self.begins), "ends": dict(self.ends)}


def read_range(query: CheckpointPath, plan: Sink, bridge: Bridge) -> ReadRange:
    """Return what a rebuild of a query reads.

    The old query ends at its last commit. Topics that it has not read end at their current end.

    Args:
        query: directory of the old query.
        plan: the new plan.
        bridge: the JVM side.

    Raises:
        StreamtableError: an error of a source.
    """
    reached, initial, earlier = _committed(query), _initial(query / _OWN), _initial(query / _FIRST)
    begins: dict[Split, int] = {}
    ends: dict[Split, int] = {}
    records = 0
    lost = None
    for source in sources_of([plan]):
        first, last = source.begins_of(bridge), source.ends_of(None, bridge)
        if first is None or last is None:
            lost = lost or f"the connector of {source.table} keeps no history of positions"
            continue
        old = source.positions(reached, bridge)
        began, other = _begun(source, initial, bridge)
        first_run, another = _begun(source, earlier, bridge)
        lost = lost or other or another
        began |= {split: offset for split, offset in first_run.items() if split in began}
        known = {topic_of(split) for split in old}
        for split, end in last.items():
            # A partition that the old query has not seen is read by the next run as a whole.
            ends[split] = old.get(split, 0) if topic_of(split) in known else end
        begins |= began
        records += sum(
            max(0, ends[s] - max(begins.get(s, 0), first.get(s, 0))) for s in last if s in ends
        )
        lost = lost or lost_records(source, began, ends, first, "the first run read")
    return ReadRange(begins, ends, records, lost)


def keep_first(old: CheckpointPath, new: CheckpointPath) -> None:
    """Keep the positions at which the first run of a query began, for a later rebuild.

    Args:
        old: directory of the query so far.
        new: the directory with which it continues at its last commit.
    """
    found = next((folder for folder in (old / _FIRST, old / _OWN) if folder.is_dir()), None)
    if found is not None:
        replace_tree(found, new / _FIRST)


def stopped_at(query: CheckpointPath, plan: Sink, bridge: Bridge) -> ReadRange:
    """Return the empty range at the last commit of a query."""
    reached = _committed(query)
    ends: dict[Split, int] = {}
    for source in sources_of([plan]):
        ends |= source.positions(reached, bridge)
    return ReadRange(ends, ends)


def other_begin(
    source: Source, begins: Mapping[Split, int], more: Mapping[Split, int]
) -> str | None:
    """Return which split two scans begin to read at different positions; None if there is none.

    A shadow run begins to read a split at one position.

    Args:
        source: the source, for the words.
        begins: first position of each split in some scans.
        more: the same of another scan.
    """
    for split, begin in sorted(more.items()):
        if begins.get(split, begin) != begin:
            return (
                f"{source.table}: the query reads {words(split)} twice, from offset"
                f" {begins[split]} and from offset {begin}"
            )
    return None


def lost_records(
    source: Source,
    began: Mapping[Split, int],
    ends: Mapping[Split, int],
    first: Mapping[Split, int],
    who: str,
) -> str | None:
    """Return why the records of a range can no longer be read, in words; None if they can.

    Args:
        source: the source.
        began: first position of each split.
        ends: end position of each split, exclusive.
        first: the first position that each split still has.
        who: subject and verb of the sentence about the first position.
    """
    for split, begin in sorted(began.items()):
        now = first.get(split)
        if now is None and ends.get(split, 0) > begin:
            return f"{source.table}: {words(split)} is gone"
        if now is not None and now > begin and ends.get(split, 0) > begin:
            return (
                f"{source.table}: {words(split)} has no records before offset {now} any more, and"
                f" {who} from offset {begin}"
            )
    return None


def words(split: Split) -> str:
    """Return a split in words."""
    return f"partition {split.rpartition('/')[2]} of topic '{topic_of(split)}'"


def topic_of(split: Split) -> str:
    """Return the topic of a split."""
    return split.rpartition("/")[0]


def _committed(query: CheckpointPath) -> list[str | None]:
    """Return the position of each source at the last commit, as Spark writes it."""
    batch = newest_batch(query / "commits")
    if batch < 0:
        return []
    lines = (query / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[2:]
    return [None if line in ("", "-") else line for line in lines]


def _begun(
    source: Source, texts: Iterable[str | None], bridge: Bridge
) -> tuple[dict[Split, int], str | None]:
    """Return the first position of each split, and which split has several, in words."""
    found: dict[Split, int] = {}
    other = None
    for text in texts:
        scan = source.positions([text], bridge)
        other = other or other_begin(source, found, scan)
        found |= scan
    return found, other


def _initial(folder: CheckpointPath) -> list[str | None]:
    """Return the positions at which the first run began, as Spark writes them."""
    found: list[str | None] = []
    sources = folder.iterdir() if folder.is_dir() else ()
    for source in sorted(sources, key=lambda place: place.name):
        file = source / "0"
        if file.exists() and not file.is_dir():
            text = file.read_bytes().decode("utf-8", "replace").lstrip("\0").strip()
            line = text.splitlines()[-1] if text else ""
            found.append(line if _is_json(line) else None)
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
