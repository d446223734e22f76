"""Checkpoint directory of a job: its lock, and the plans that wrote it.

Layout: `streamtable.json` (versions, the plan of every query and the layouts of its state), `lock`,
and one directory per query, named after its sink. Spark stores offsets and state in the directory
of the query.

The queries of a script are compared with those of the checkpoint one by one. A new query starts in
a directory of its own; the directory of a removed query is kept, so that the same query continues
if a later script has it again. A changed query is refused.
"""

from __future__ import annotations

import json
import shlex
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from streamtable.core.checkpoint_path import CheckpointPath, numbered
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import mismatch, read_manifest, write_manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.checkpoint.shared_queries import check_sharing, goes_on, sharing
from streamtable.runtime.checkpoint.stale_keys import stale_keys_hint
from streamtable.runtime.checkpoint.storage.lock import Lock, taken
from streamtable.runtime.checkpoint.storage.moved import adopt
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.checkpoint.storage.whole_files import write_file

#: File in a checkpoint while its state is repartitioned (`runtime.checkpoint.rescale`).
RESCALE_MARK = "rescale.json"

#: File in a checkpoint while its queries are rebuilt (`runtime.upgrade`).
UPGRADE_MARK = "upgrade.json"

#: Key in this file: the queries of a new checkpoint adopt topics (`runtime.adopt`).
ADOPTS = "adopts"


@dataclass
class Checkpoint:
    """Open checkpoint directory, locked by this process until `close`.

    Attributes:
        queries: the queries of the script, and their relation to those of the checkpoint.
        is_new: whether no run has written to the checkpoint yet.
    """

    directory: CheckpointPath
    _lock: Lock
    queries: Assignment
    _manifest: Manifest
    is_new: bool

    @property
    def plans(self) -> Mapping[str, Sink]:
        """The plans by the names of their queries, in the order of the script."""
        return self.queries.plans

    @property
    def id(self) -> str:
        """Id of the checkpoint, generated when the directory was created."""
        return self._manifest.id

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """Kafka's ids of the topics that earlier runs have read."""
        return self._manifest.topics

    def id_of(self, name: str) -> str:
        """Return the id in which the epochs of a query are numbered."""
        record = self.queries.records.get(name)
        return self.id if record is None or record.id is None else record.id

    def record_of(self, name: str) -> RecordedQuery:
        """Return the record of an INSERT."""
        return self.queries.records[name]

    def retired_topic_ids(self, name: str) -> Mapping[str, str]:
        """Return the ids of the topics that a query had read before it was removed."""
        return self._manifest.retired[name].topics

    def query_directory(self, name: str) -> CheckpointPath:
        """Return the directory of a query's offsets and state."""
        return self.directory / self.queries.directory_of(name)

    def has_planned_batch(self, name: str) -> bool:
        """Whether a query has a batch that was planned and not committed."""
        logs = self.query_directory(name)
        return newest_batch(logs / "offsets") > newest_batch(logs / "commits")

    def reads_first(self, name: str) -> bool:
        """Whether a query has not stored yet where its scans begin.

        This is true after a first run that ended before its first batch. In real-time mode, scans
        begin before the first batch is planned.
        """
        query = self.query_directory(name)
        sources = query / "sources"
        begun = sources.iterdir() if sources.is_dir() else ()
        return newest_batch(query / "offsets") < 0 and not any(map(numbered, begun))

    def write(self, name: str, text: str) -> None:
        """Write a file of the directory; see `write_file`."""
        write_file(self.directory / name, text)

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
        plans: plans by the names that their queries have in a new checkpoint (`query_names`).
        notice: takes one line for the user.
        remote: opens the directory if `is_remote`.

    Raises:
        StreamtableError: CHECKPOINT_BUSY, CHECKPOINT_HELD, CHECKPOINT_MISMATCH (a changed query,
            another job, layout or version) or CHECKPOINT_UNREADABLE; NOT_YET or INVALID_OPTION for
            a path of another kind.
    """
    path, lock = taken(directory, remote)
    try:
        check_not_upgrading(path, directory)
        theirs = read_manifest(path, directory, stale_keys_hint(plans))
        manifest = theirs or Manifest(uuid.uuid4().hex, {})
        queries = sharing(assign(plans, manifest), manifest, path)
        if theirs is not None:
            check_same_job(directory, plans, manifest, queries)
            check_sharing(directory, queries, stale_keys_hint(plans))
        check_not_rescaling(path, directory)
        for name in queries.plans:
            own = path / queries.directory_of(name)
            check_whole(own, notice, stale_keys_hint(plans))
            adopt(own)
    except BaseException:
        lock.close()
        raise
    if theirs is not None:
        for line in _changes(queries, path):
            notice(line)
    return Checkpoint(path, lock, queries, manifest, theirs is None)


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
    with ExitStack() as stack:
        if directory is None:
            # Threads of Spark may still write there.
            directory = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="streamtable-", ignore_cleanup_errors=True)
            )
            if not bounded:
                notice("no --checkpoint: a restart will start from the beginning")
        checkpoint = open_checkpoint(directory, plans, notice, remote)
        stack.callback(checkpoint.close)
        yield checkpoint


def begin(checkpoint: Checkpoint, topic_ids: Mapping[str, str]) -> None:
    """Write the manifest of the checkpoint. Call this after all checks of the job have passed.

    Args:
        checkpoint: opened with the plans of the job.
        topic_ids: ids of the topics that the job reads now.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the manifest cannot be written.
    """
    before, queries = checkpoint._manifest, checkpoint.queries  # noqa: SLF001
    gone = {n: replace(q, topics=before.topics) for n, q in queries.removed.items()}
    removed = {n: q for n, q in gone.items() if not goes_on(q, queries)}
    kept = {
        n: q
        for n, q in before.retired.items()
        if n not in queries.plans and not goes_on(q, queries)
    }
    # Only removed queries may have read the other topics; such topics may be created again.
    known = topic_ids if gone else {**before.topics, **topic_ids}
    manifest = Manifest(before.id, queries.records, {**kept, **removed}, known)
    write_manifest(checkpoint.directory, manifest)


def rescale_command(path: CheckpointPath, partitions: int) -> str:
    """Return the hint with the command that rescales a checkpoint."""
    return f"run: streamtable rescale --checkpoint {shlex.quote(str(path))} --to {partitions}"


def check_same_job(
    directory: str,
    plans: Mapping[str, Sink],
    manifest: Manifest,
    queries: Assignment,
    *,
    refuse_changed: bool = True,
) -> None:
    """Refuse a script that shares no query with the checkpoint, and a changed query."""
    for name, old in queries.changed.items() if refuse_changed else ():
        difference = old.difference(name, queries.records[name])
        if difference is not None:
            raise mismatch(directory, difference, stale_keys_hint(plans), upgrade=True)
    if queries.kept or queries.changed or not (plans or manifest.queries):
        return
    before = ", ".join(manifest.queries) or "no table"
    now = ", ".join(plans) or "no table"
    raise mismatch(
        directory,
        f"its queries write {before}, and the script writes {now}",
        stale_keys_hint(plans),
    )


def _changes(queries: Assignment, path: CheckpointPath) -> Iterator[str]:
    """Yield a line for each query that the script has in addition, again, or no longer."""
    for name in sorted(queries.added):
        yield f"{name}: new in the script, starts at the startup positions of its tables"
    for name in sorted(queries.restored):
        yield f"{name}: in the script again, continues at its last commit"
    for name, old in queries.removed.items():
        stay = f"{name}: no longer in the script; its rows stay in {old.table_or(name)}, and"
        if goes_on(old, queries):
            yield f"{stay} its query goes on without it, so that the same INSERT would start anew"
            continue
        yield (
            f"{stay} '{path / (old.directory or name)}' is kept, so that the same INSERT would"
            " continue"
        )


def check_not_rescaling(path: CheckpointPath, directory: str) -> None:
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


def check_not_upgrading(
    path: CheckpointPath, directory: str, is_held: Callable[[], bool] = lambda: False
) -> None:
    """Refuse a checkpoint of which only some queries have been upgraded, or adopt topics.

    Args:
        path: the checkpoint directory.
        directory: the same, for messages.
        is_held: returns whether another process holds the checkpoint, such as a running upgrade.
    """
    mark = path / UPGRADE_MARK
    if not mark.exists():
        return
    adopts = ADOPTS in json.loads(mark.read_text(encoding="utf-8"))
    command, noun = ("adopt", "adoption") if adopts else ("upgrade", "upgrade")
    running = is_held()
    command = f"run: streamtable {command} FILE --checkpoint {shlex.quote(directory)}"
    raise StreamtableError(
        Condition.CHECKPOINT_UNREADABLE,
        checkpoint=directory,
        reason=f"an {noun} {'is running' if running else 'was interrupted'}",
        hint=f"repeat the command after the {noun}" if running else command,
    )
