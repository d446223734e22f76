"""Rescale a checkpoint: give the state of its queries another number of partitions.

Spark fixes the number of state partitions in the first batch of a query. A rescale adds a batch
without rows to each query with state; its state is the state of the last commit in the new
partitions. The batch is committed last, so the earlier state stays valid until then.

While a rescale runs, the file `rescale.json` marks the checkpoint. A job does not start on a marked
checkpoint, and another call with the same number of partitions completes an interrupted rescale.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from streamtable.core.checkpoint_path import MANIFEST, CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.job import PARALLELISM
from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS, newest_batch
from streamtable.runtime.checkpoint.checkpoint import (
    RESCALE_MARK,
    check_not_upgrading,
    rescale_command,
)
from streamtable.runtime.checkpoint.manifest.recorded_query import POSITIONS
from streamtable.runtime.checkpoint.storage.lock import checkpoint_folder, locked
from streamtable.runtime.checkpoint.storage.moved import adopt, operator_metadata
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.checkpoint.storage.whole_files import write_whole

_PARTITIONS = "spark.sql.shuffle.partitions"

#: Repartitions the state of a query: its directory, the new number of partitions.
Repartition = Callable[[str, int], None]


@dataclass(frozen=True)
class QueryState:
    """State of one query in a checkpoint.

    Attributes:
        name: name of the query; the INSERTs that share it, if there are several.
        directory: directory of its offsets and state.
        partitions: number of state partitions at the last commit; None for a query that has no
            state, or has not committed a batch yet. Such a query starts with any parallelism.
        batch: the last committed batch.
    """

    name: str
    directory: CheckpointPath
    partitions: int | None
    batch: int


@dataclass(frozen=True)
class Rescale:
    """A rescale that has been checked and not yet run.

    Attributes:
        path: the checkpoint directory.
        to: new number of state partitions.
        queries: the queries of the checkpoint.
        interrupted: whether an earlier rescale to the same number was interrupted.
    """

    path: CheckpointPath
    to: int
    queries: Sequence[QueryState]
    interrupted: bool

    @property
    def due(self) -> Sequence[QueryState]:
        """The queries whose state has another number of partitions."""
        return [q for q in self.queries if q.partitions not in (None, self.to)]

    def described(self) -> Iterator[str]:
        """Yield one line per query: what the rescale does."""
        if not self.queries:
            yield "no query has state"
        for query in self.queries:
            if query.partitions is None:
                yield f"{query.name}: no state, starts with any parallelism"
            elif query.partitions == self.to:
                yield f"{query.name}: has {self.to} state partitions already"
            else:
                yield (
                    f"{query.name}: {query.partitions} -> {self.to} state partitions, as of"
                    f" batch {query.batch}, in a new batch {query.batch + 1} without rows"
                )

    def run(self, repartition: Repartition, notice: Callable[[str], None]) -> None:
        """Repartition the state of all queries that need it.

        Raises:
            StreamtableError: CHECKPOINT_NOT_RESCALED. The next call with the same number of
                partitions goes on.
        """
        mark = self.path / RESCALE_MARK
        if self.due or self.interrupted:
            write_whole(mark, json.dumps({"to": self.to}))
        for query in self.due:
            _forget_attempt(query.directory, query.batch + 1)
            repartition(str(query.directory), self.to)
            notice(f"{query.name}: {query.partitions} -> {self.to} state partitions")
        for query in self.queries:
            _keep_positions(query.directory)
        mark.unlink(missing_ok=True)


@contextmanager
def open_rescale(
    directory: str,
    to: int,
    notice: Callable[[str], None],
    remote: RemoteCheckpoints | None = None,
) -> Iterator[Rescale]:
    """Lock a checkpoint and check whether it can be rescaled; unlock it at the end of the block.

    Args:
        directory: the checkpoint directory, as for a job.
        to: new number of state partitions.
        notice: takes one line for the user.
        remote: opens the directory if it is not on a local disk.

    Raises:
        StreamtableError: CHECKPOINT_BUSY, CHECKPOINT_HELD, CHECKPOINT_UNREADABLE,
            CHECKPOINT_ENDED or CHECKPOINT_NOT_RESCALED.
    """
    if not (checkpoint_folder(directory, remote) / MANIFEST).exists():
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=f"it has no '{MANIFEST}'",
            hint="name the directory that the job has as its --checkpoint",
        )
    with locked(directory, remote) as path:
        check_not_upgrading(path, directory)
        marked = _marked(path)
        if marked not in (None, to):
            raise _refused(
                directory, f"a rescale to {marked} was interrupted", rescale_command(path, marked)
            )
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["queries"]
        folders: dict[str, list[str]] = {}
        for name, query in found.items():
            folders.setdefault(query.get("directory", name), []).append(name)
        for folder in folders:
            check_whole(path / folder, notice)
            adopt(path / folder)
        queries = [
            _state_of(path / folder, ", ".join(names), directory, to, marked)
            for folder, names in folders.items()
        ]
        yield Rescale(path, to, queries, marked is not None)


def parallelism_notice(
    path: CheckpointPath, folders: Iterable[CheckpointPath], wanted: int
) -> Iterator[str]:
    """Yield a line for each query whose state in the checkpoint has another number of partitions.

    Args:
        path: the checkpoint directory.
        folders: directories of the queries of the job.
        wanted: the job's `parallelism.default`.
    """
    for folder in folders:
        found = _committed_partitions(folder)
        if found not in (None, wanted):
            how = rescale_command(path, wanted)
            yield (
                f"{folder.name}: continues with the {found} state partitions of the checkpoint; for"
                f" '{PARALLELISM.key}' = '{wanted}', stop the job and {how}"
            )


def _state_of(
    query: CheckpointPath, name: str, directory: str, to: int, marked: int | None
) -> QueryState:
    """Check one query of a checkpoint, by its directory."""
    planned, committed = newest_batch(query / "offsets"), newest_batch(query / "commits")
    partitions = _committed_partitions(query)
    if partitions is None or partitions == to:
        return QueryState(name, query, partitions, committed)
    if _metadata(query, planned).get("batchWatermarkMs") == END_WATERMARK_MS:
        raise StreamtableError(
            Condition.CHECKPOINT_ENDED,
            checkpoint=directory,
            hint="no job continues it, so there is nothing to rescale",
        )
    if planned > committed and not (marked == to and _partitions(query, planned) == to):
        raise _refused(
            directory,
            f"batch {planned} of {name} is planned and not committed",
            "run the job until it has committed the batch and stop it with Ctrl-C, then rescale",
        )
    return QueryState(name, query, partitions, committed)


def _committed_partitions(query: CheckpointPath) -> int | None:
    """Return the number of state partitions at the last commit; None without state or commit."""
    committed = newest_batch(query / "commits")
    state = query / "state"
    if committed < 0 or not state.is_dir() or not any(f.name.isdigit() for f in state.iterdir()):
        return None
    return _partitions(query, committed)


def _partitions(query: CheckpointPath, batch: int) -> int:
    return int(_metadata(query, batch)["conf"][_PARTITIONS])


def _metadata(query: CheckpointPath, batch: int) -> dict[str, Any]:
    """Return what Spark's offset log says about a batch: the line after the version."""
    file = query / "offsets" / str(batch)
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8").splitlines()[1])
    except (OSError, ValueError, IndexError) as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE, checkpoint=query, reason=f"'{file}': {error}"
        ) from error
    return found


def _marked(path: CheckpointPath) -> int | None:
    """Return the number of partitions of an interrupted rescale, or None."""
    mark = path / RESCALE_MARK
    return json.loads(mark.read_text(encoding="utf-8"))["to"] if mark.exists() else None


def _forget_attempt(query: CheckpointPath, batch: int) -> None:
    """Delete operator metadata that an interrupted rescale has written: Spark replaces none."""
    for file in operator_metadata(query):
        if file.name == str(batch):
            file.unlink()


def _keep_positions(query: CheckpointPath) -> None:
    """Copy the end offsets of the sinks from the batch before the newest one.

    The start after a crash in real-time mode looks for them under the newest commit
    (`connectors.kafka.write.rollback`). The new batch has no rows, so they have not changed.
    """
    batch, sinks = newest_batch(query / "commits"), query / POSITIONS
    shared = [folder for folder in sinks.iterdir() if folder.is_dir()] if sinks.is_dir() else []
    for folder in (sinks, *shared):
        before, after = (folder / str(n) for n in (batch - 1, batch))
        if batch > 0 and before.exists() and not after.exists() and _was_rescaled(query, batch):
            write_whole(after, before.read_text(encoding="utf-8"))


def _was_rescaled(query: CheckpointPath, batch: int) -> bool:
    return _partitions(query, batch) != _partitions(query, batch - 1)


def _refused(directory: str, reason: str, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.CHECKPOINT_NOT_RESCALED, checkpoint=directory, reason=reason, hint=hint
    )
