"""Checkpoint directory of a job: its lock, and the plans that wrote it.

Layout: `streamtable.json` (versions, the plan of every query and the layouts of its state), `lock`,
and one directory per query, named after its sink. Spark stores offsets and state in the directory
of the query.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from streamtable.core.checkpoint_path import MANIFEST, CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import without_secrets
from streamtable.jvm.planned_batches import newest_batch
from streamtable.plan.explain.explain import explain
from streamtable.plan.rules.shape import shape
from streamtable.plan.rules.state_layouts import layouts
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.lock import Lock, taken
from streamtable.runtime.checkpoint.moved import adopt
from streamtable.runtime.checkpoint.remote import RemoteCheckpoints
from streamtable.runtime.checkpoint.stale_keys import stale_keys_hint
from streamtable.runtime.checkpoint.torn_files import check_whole, write_whole
from streamtable.runtime.status import lock as status_lock
from streamtable.runtime.status.document import DRAFT, FILE

#: Version of the directory layout. Increase it with every incompatible change of the layout.
#: Operators have their own versions of state.
LAYOUT_VERSION = 3

#: File in a checkpoint while its state is repartitioned (`runtime.checkpoint.rescale`).
RESCALE_MARK = "rescale.json"

#: Files that a job writes before the manifest.
_BEFORE_MANIFEST = (status_lock.FILE, "streamtable.tmp", "lease", ".drafts", FILE, DRAFT)

_REBUILD = (
    "start the changed job with a new --checkpoint directory; it rebuilds its state from the topics"
)


@dataclass
class Checkpoint:
    """Open checkpoint directory, locked by this process until `close`.

    Attributes:
        id: id of the checkpoint, generated when the directory was created. Epochs are numbered
            within the checkpoint.
        topic_ids: Kafka's ids of the topics that earlier runs have read.
    """

    directory: CheckpointPath
    _lock: Lock
    id: str
    topic_ids: Mapping[str, str]

    def query_directory(self, name: str) -> CheckpointPath:
        """Return the directory of a query's offsets and state."""
        return self.directory / name

    def has_planned_batch(self, name: str) -> bool:
        """Whether a query has a batch that was planned and not committed."""
        logs = self.directory / name
        return newest_batch(logs / "offsets") > newest_batch(logs / "commits")

    @property
    def is_new(self) -> bool:
        """Whether no run has written to the checkpoint yet."""
        return not (self.directory / MANIFEST).exists()

    def write(self, name: str, text: str) -> None:
        """Write a file of the directory atomically: readers see the old or the new text as a whole.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE if the file cannot be written because the disk
                is full or missing.
        """
        try:
            write_whole(self.directory / name, text)
        except OSError as error:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE, checkpoint=self.directory, reason=error.strerror
            ) from error

    def check(self) -> None:
        """Check that this process still holds the checkpoint.

        Raises:
            StreamtableError: CHECKPOINT_LOST.
        """
        self._lock.check()

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()


def open_checkpoint(
    directory: str,
    plans: Mapping[str, Sink],
    notice: Callable[[str], None] = lambda _: None,
    remote: RemoteCheckpoints | None = None,
) -> Checkpoint:
    """Open or create the checkpoint of a job.

    Args:
        directory: local path, `file:` URI of a local path, or URI in a file system of Hadoop. A
            missing directory is created.
        plans: query name -> plan.
        notice: takes one line for the user.
        remote: opens the directory if `is_remote`.

    Raises:
        StreamtableError: CHECKPOINT_BUSY, CHECKPOINT_HELD, CHECKPOINT_MISMATCH (another plan,
            layout or version) or CHECKPOINT_UNREADABLE; NOT_YET or INVALID_OPTION for a path of
            another kind.
    """
    path, lock = taken(directory, remote)
    try:
        theirs = _check(path, directory, plans)
        _check_not_rescaling(path, directory)
        for name in plans:
            check_whole(path / name, notice, stale_keys_hint(plans))
            adopt(path / name)
    except BaseException:
        lock.close()
        raise
    id_ = theirs.get("id") or uuid.uuid4().hex
    return Checkpoint(path, lock, id_, theirs.get("topics", {}))


@contextmanager
def job_checkpoint(
    directory: str | None,
    plans: Mapping[str, Sink],
    notice: Callable[[str], None],
    remote: RemoteCheckpoints | None,
    *,
    bounded: bool,
) -> Iterator[Checkpoint]:
    """Open the checkpoint of a job, and close it at the end of the block.

    Args:
        directory: as in `open_checkpoint`; None for a temporary directory.
        plans: query name -> plan.
        notice: takes one line for the user.
        remote: opens the directory if it is not on a local disk.
        bounded: whether the job ends by itself, so that a temporary directory needs no notice.

    Raises:
        StreamtableError: the errors of `open_checkpoint`.
    """
    with tempfile.TemporaryDirectory(prefix="streamtable-") as scratch:
        if directory is None and not bounded:
            notice("no --checkpoint: a restart will start from the beginning")
        checkpoint = open_checkpoint(directory or scratch, plans, notice, remote)
        try:
            yield checkpoint
        finally:
            checkpoint.close()


def begin(checkpoint: Checkpoint, plans: Mapping[str, Sink], topic_ids: Mapping[str, str]) -> None:
    """Write the manifest of the checkpoint. Call this after all checks of the job have passed.

    Args:
        checkpoint: opened with the same plans.
        plans: query name -> plan.
        topic_ids: ids of the topics that the job reads now.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the manifest cannot be written.
    """
    target = checkpoint.directory / MANIFEST
    topics = {**checkpoint.topic_ids, **topic_ids}
    manifest = {**_manifest(plans), "id": checkpoint.id, "topics": topics}
    if checkpoint.is_new or json.loads(target.read_text(encoding="utf-8")) != manifest:
        checkpoint.write(MANIFEST, json.dumps(manifest, indent=2))


def query_names(plans: Sequence[Sink]) -> dict[str, Sink]:
    """Name each query after its sink. Add a number if a script writes a table more than once."""
    named: dict[str, Sink] = {}
    for plan in plans:
        name, number = plan.table.name, 1
        while name in named:
            number += 1
            name = f"{plan.table.name}-{number}"
        named[name] = plan
    return named


def rescale_command(path: CheckpointPath, partitions: int) -> str:
    """Return the hint with the command that rescales a checkpoint."""
    return f"run: streamtable rescale --checkpoint {shlex.quote(str(path))} --to {partitions}"


def _manifest(plans: Mapping[str, Sink]) -> dict[str, Any]:
    return {
        "layout": LAYOUT_VERSION,
        "queries": {name: _fingerprint(plan) for name, plan in plans.items()},
    }


def _fingerprint(plan: Sink) -> dict[str, Any]:
    """Return everything that a query's state depends on, without addresses and tuning options."""
    whole = without_secrets(json.dumps(shape(plan), sort_keys=True))
    return {
        # Used in the message about a difference; the hash does not depend on this text.
        "plan": without_secrets(explain(plan, changeable=False)).splitlines(),
        "hash": hashlib.sha256(whole.encode()).hexdigest(),
        "state": [list(layout) for layout in layouts(plan.input)],
    }


def _check(path: CheckpointPath, directory: str, plans: Mapping[str, Sink]) -> dict[str, Any]:
    """Return the existing manifest, which matches the plans, or an empty dictionary."""
    mine = _manifest(plans)
    manifest = path / MANIFEST
    if not manifest.exists():
        strangers = [p.name for p in path.iterdir() if p.name not in _BEFORE_MANIFEST]
        if strangers:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE,
                checkpoint=directory,
                reason=f"it contains '{strangers[0]}', which is not from a streamtable job",
                hint="use an empty directory",
            )
        return {}
    try:
        theirs: dict[str, Any] = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=error,
            hint=_REBUILD + stale_keys_hint(plans),
        ) from error
    difference = _difference(theirs, mine)
    if difference:
        raise StreamtableError(
            Condition.CHECKPOINT_MISMATCH,
            checkpoint=directory,
            difference=difference,
            hint=_REBUILD + stale_keys_hint(plans),
        )
    return theirs


def _check_not_rescaling(path: CheckpointPath, directory: str) -> None:
    """Refuse a checkpoint in which only some queries, or parts of them, have been rescaled."""
    mark = path / RESCALE_MARK
    if mark.exists():
        partitions = json.loads(mark.read_text(encoding="utf-8"))["to"]
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=f"a rescale to {partitions} state partitions was interrupted",
            hint=rescale_command(path, partitions),
        )


def _difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str | None:
    """Describe the difference between two manifests in words; None if they are equal."""
    if theirs["layout"] != mine["layout"]:
        return f"its state has layout {theirs['layout']}, this version writes {mine['layout']}"
    removed = set(theirs["queries"]) - set(mine["queries"])
    added = set(mine["queries"]) - set(theirs["queries"])
    if removed or added:
        names = ", ".join(sorted(removed or added))
        return f"the script {'no longer writes' if removed else 'now also writes'} {names}"
    for name, query in mine["queries"].items():
        before = theirs["queries"][name]
        if before["hash"] != query["hash"]:
            return f"the query into {name} was {_first_change(before['plan'], query['plan'])}"
        for (operator, old), (_, new) in zip(before["state"], query["state"], strict=True):
            if old != new:
                return f"the state of {operator} in {name} has layout {old}, this version has {new}"
    return None


def _first_change(before: list[str], now: list[str]) -> str:
    for line, new in zip(before, now, strict=False):
        # Older checkpoints have other words for the row kinds.
        old = line.replace("  makes ", "  emits ").replace("  takes ", "  accepts ")
        if old != new:
            return f"'{old.strip()}' and is now '{new.strip()}'"
    return "different in structure, or in a column or format of its tables"
