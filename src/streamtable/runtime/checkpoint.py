"""The checkpoint folder of a job: whose it is, that no one else uses it, which plan wrote it.

Layout: `streamtable.json` (versions, the plan of every query and the layouts of its state), `lock`,
one folder per query named after its sink, in which Spark keeps offsets and state.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import without_secrets
from streamtable.plan.explain import explain
from streamtable.plan.nodes import Sink
from streamtable.plan.shape import shape
from streamtable.plan.state_layouts import layouts

#: Raised whenever this folder's layout changes meaning; `plan.state_layouts` has those of states.
LAYOUT_VERSION = 3

_MANIFEST = "streamtable.json"
_REBUILD = (
    "give the changed job a new --checkpoint directory: it rebuilds its state from the topics"
)


@dataclass
class Checkpoint:
    """An open checkpoint folder, locked by this process until `close`.

    Attributes:
        id: made when the folder began; epochs are numbered within it.
        topic_ids: Kafka's ids of the topics that earlier runs have read.
    """

    directory: Path
    _lock: TextIO
    id: str
    topic_ids: Mapping[str, str]

    def query_directory(self, name: str) -> str:
        """Where one query's offsets and state live."""
        return str(self.directory / name)

    def has_planned_batch(self, name: str) -> bool:
        """Whether a query has a batch that was written down and not committed."""
        logs = self.directory / name
        return newest_batch(logs / "offsets") > newest_batch(logs / "commits")

    @property
    def is_new(self) -> bool:
        """Whether no run has written into it yet."""
        return not (self.directory / _MANIFEST).exists()

    def write(self, name: str, text: str) -> None:
        """Writes a file of the folder so that it is there as a whole, or as it was.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE where there is no room for it, or no disk.
        """
        target = self.directory / name
        draft = target.with_suffix(".tmp")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(target)
        except OSError as error:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE, checkpoint=self.directory, reason=error.strerror
            ) from error

    def close(self) -> None:
        """Lets go of the lock."""
        self._lock.close()


def open_checkpoint(directory: str, plans: Mapping[str, Sink]) -> Checkpoint:
    """Opens, or begins, the checkpoint of a job.

    Args:
        directory: local path; created where it does not exist.
        plans: query name -> plan.

    Raises:
        StreamtableError: CHECKPOINT_BUSY, CHECKPOINT_MISMATCH (another plan, layout or version) or
            CHECKPOINT_UNREADABLE.
    """
    if "://" in directory and not directory.startswith("file://"):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"a checkpoint at {directory}",
            hint="use a local path, or one that all workers mount",
        )
    path = Path(directory.removeprefix("file://")).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / "lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=directory, reason=error.strerror
        ) from error
    _take(lock, directory)
    try:
        theirs = _check(path, directory, _manifest(plans))
    except BaseException:
        lock.close()
        raise
    id_ = theirs.get("id") or uuid.uuid4().hex
    return Checkpoint(path, lock, id_, theirs.get("topics", {}))


def begin(checkpoint: Checkpoint, plans: Mapping[str, Sink], topic_ids: Mapping[str, str]) -> None:
    """Writes down whose checkpoint it is, once everything that could be refused was not.

    Args:
        checkpoint: opened with the same plans.
        plans: query name -> plan.
        topic_ids: of the topics that are read now.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE where it cannot be written.
    """
    target = checkpoint.directory / _MANIFEST
    topics = {**checkpoint.topic_ids, **topic_ids}
    manifest = {**_manifest(plans), "id": checkpoint.id, "topics": topics}
    if checkpoint.is_new or json.loads(target.read_text(encoding="utf-8")) != manifest:
        checkpoint.write(_MANIFEST, json.dumps(manifest, indent=2))


def newest_batch(folder: Path) -> int:
    """The greatest number of a batch in one of Spark's logs; -1 where there is none."""
    return max((int(f.name) for f in folder.glob("[0-9]*") if f.name.isdigit()), default=-1)


def query_names(plans: Sequence[Sink]) -> dict[str, Sink]:
    """A name for each query: its sink's, numbered where a script writes a table twice."""
    named: dict[str, Sink] = {}
    for plan in plans:
        name, number = plan.table.name, 1
        while name in named:
            number += 1
            name = f"{plan.table.name}-{number}"
        named[name] = plan
    return named


def _take(lock: TextIO, directory: str) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        pid = lock.read().strip() or "unknown"
        lock.close()
        raise StreamtableError(
            Condition.CHECKPOINT_BUSY,
            checkpoint=directory,
            pid=pid,
            hint="stop that job first, or use another --checkpoint",
        ) from None
    with suppress(OSError):
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()


def _manifest(plans: Mapping[str, Sink]) -> dict[str, Any]:
    return {
        "layout": LAYOUT_VERSION,
        "queries": {name: _fingerprint(plan) for name, plan in plans.items()},
    }


def _fingerprint(plan: Sink) -> dict[str, Any]:
    """Everything about a query that its state depends on; addresses and tuning are left out."""
    whole = without_secrets(json.dumps(shape(plan), sort_keys=True))
    return {
        # For the message that names a difference; the hash does not depend on its words.
        "plan": without_secrets(explain(plan, changeable=False)).splitlines(),
        "hash": hashlib.sha256(whole.encode()).hexdigest(),
        "state": [list(layout) for layout in layouts(plan.input)],
    }


def _check(path: Path, directory: str, mine: dict[str, Any]) -> dict[str, Any]:
    """The manifest that is there, which fits mine; empty where none is."""
    manifest = path / _MANIFEST
    if not manifest.exists():
        strangers = [p.name for p in path.iterdir() if p.name not in ("lock", "streamtable.tmp")]
        if strangers:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE,
                checkpoint=directory,
                reason=f"it holds '{strangers[0]}', which no streamtable job has written",
                hint="use an empty directory",
            )
        return {}
    try:
        theirs: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=directory, reason=error, hint=_REBUILD
        ) from error
    difference = _difference(theirs, mine)
    if difference:
        raise StreamtableError(
            Condition.CHECKPOINT_MISMATCH,
            checkpoint=directory,
            difference=difference,
            hint=_REBUILD,
        )
    return theirs


def _difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str | None:
    """What tells two manifests apart, in words; None where nothing does."""
    if theirs["layout"] != mine["layout"]:
        return f"its state has layout {theirs['layout']}, this version writes {mine['layout']}"
    gone = set(theirs["queries"]) - set(mine["queries"])
    new = set(mine["queries"]) - set(theirs["queries"])
    if gone or new:
        names = ", ".join(sorted(gone or new))
        return f"the script {'no longer writes' if gone else 'now also writes'} {names}"
    for name, query in mine["queries"].items():
        before = theirs["queries"][name]
        if before["hash"] != query["hash"]:
            return f"the query into {name} was {_first_change(before['plan'], query['plan'])}"
        for (operator, old), (_, new) in zip(before["state"], query["state"], strict=True):
            if old != new:
                return f"the state of {operator} in {name} has layout {old}, this version has {new}"
    return None


def _first_change(before: list[str], now: list[str]) -> str:
    for old, new in zip(before, now, strict=False):
        if old != new:
            return f"'{old.strip()}' and is now '{new.strip()}'"
    return "of another shape, or a column or format of its tables changed"
