"""What to prove: the job of a checkpoint, and its queries that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.checkpoint import check_not_upgrading
from streamtable.runtime.checkpoint.manifest.file import mismatch, read_manifest
from streamtable.runtime.checkpoint.manifest.from_now import FromNow
from streamtable.runtime.checkpoint.storage.remote_path import RemotePath
from streamtable.runtime.endpoints import by_target
from streamtable.runtime.status.lock import holder_of


@dataclass(frozen=True)
class Asked:
    """What to prove.

    Attributes:
        directory: checkpoint of the job.
        tables: the tables, or the queries by name, that are proved; none for all.
        share: share of the keys that are compared, 0 to 1.
        since: the batch of a recorded proof from which a proof by induction starts; "last" for the
            newest one, or the whole input if there is none; None for the whole input.
    """

    directory: str
    tables: Collection[str] = ()
    share: float = 1.0
    since: int | Literal["last"] | None = None


@dataclass(frozen=True)
class CheckpointJob:
    """The job of a checkpoint.

    Attributes:
        folder: the checkpoint.
        checkpoint: the same, for messages.
        lives: returns whether a process runs the job, or may run it.
        topics: Kafka's ids of the topics that it has read.
        queries: the queries that are asked for and those with the same targets, by name.
        directories: directory of the offsets and state of each query.
        positions: the folder in which each query records the ends of its sink.
        plans: hash of the plan of each query.
        from_now: the queries that have continued without a rebuild, by name.
    """

    folder: CheckpointPath
    checkpoint: str
    lives: Callable[[], bool]
    topics: Mapping[str, str]
    queries: Mapping[str, Sink]
    directories: Mapping[str, CheckpointPath]
    positions: Mapping[str, CheckpointPath]
    plans: Mapping[str, str]
    from_now: Mapping[str, FromNow]

    @property
    def groups(self) -> Sequence[Sequence[str]]:
        """The names of the queries, those with the same target together."""
        return by_target(self.queries, self.queries.__getitem__)

    def kept_until(self, name: str) -> Mapping[Split, int] | None:
        """Return up to where the sink of a query has rows that are not those of its input.

        Returns:
            end of each split, exclusive; None if the sink has no such rows.

        Raises:
            StreamtableError: NOT_PROVABLE if these rows cannot be told apart.
        """
        found = self.from_now.get(name)
        if found is None:
            return None
        writers = next(group for group in self.groups if name in group)
        if found.ends is not None and len(writers) == 1:
            return found.ends
        sink = self.queries[name]
        raise StreamtableError(
            Condition.NOT_PROVABLE,
            at=sink.at,
            table=sink.table.name,
            reason=found.difference,
            hint="name other tables with --table; after a rebuild by a later upgrade, the table can"
            " be compared again",
        )

    def check_not_upgraded(self) -> None:
        """Check that no upgrade has begun since the checkpoint was read.

        An upgrade writes the targets without a commit of the job.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE.
        """
        with reads_checkpoint(self.checkpoint):
            check_not_upgrading(self.folder, self.checkpoint, self.lives)
            manifest = read_manifest(self.folder, self.checkpoint)
        records = {} if manifest is None else manifest.queries
        for name, directory in self.directories.items():
            if name in records and (records[name].directory or name) != directory.name:
                raise StreamtableError(
                    Condition.CHECKPOINT_UNREADABLE,
                    checkpoint=self.checkpoint,
                    reason=f"an upgrade has replaced query {name} meanwhile",
                    hint="repeat the command with the script of the upgrade",
                )


@contextmanager
def reads_checkpoint(directory: str) -> Iterator[None]:
    """Report a checkpoint that cannot be read.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE instead of an `OSError` in the block.
    """
    try:
        yield
    except OSError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=error.strerror or error,
        ) from error


def job_of(plans: Sequence[Sink], asked: Asked, path: CheckpointPath) -> CheckpointJob:
    """Return the job of a checkpoint, and its queries that are asked for.

    Args:
        plans: one per INSERT of the script.
        asked: what to prove.
        path: the checkpoint directory, which may be missing.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE, also during an upgrade; CHECKPOINT_MISMATCH;
            INVALID_OPTION for a table that the job has not written.
    """
    lives = _watch(path)
    with reads_checkpoint(asked.directory):
        check_not_upgrading(path, asked.directory, lives)
        manifest = read_manifest(path, asked.directory) if path.is_dir() else None
    if manifest is None:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=asked.directory,
            reason="no job has written to it",
            hint="pass the --checkpoint of a job that has run",
        )
    queries = assign(query_names(plans), manifest)
    for name, old in queries.changed.items():
        difference = old.difference(name, queries.records[name])
        if difference is not None:
            raise mismatch(asked.directory, difference, "")
    begun = {name: sink for name, sink in queries.plans.items() if name not in queries.starting}
    known = [*begun, *(sink.table.name for sink in begun.values())]
    for table in asked.tables:
        if table not in known:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                option="--table",
                value=table,
                expected=f"a table that the job has written: {', '.join(dict.fromkeys(known))}",
                hint=closest(table, known),
            )
    named = {
        name
        for name, sink in begun.items()
        if not asked.tables or {name, sink.table.name} & {*asked.tables}
    }
    # Only all queries of a target give its rows.
    groups = by_target(begun, begun.__getitem__)
    wanted = {n: begun[n] for group in groups if named.intersection(group) for n in group}
    directories = {name: path / queries.directory_of(name) for name in wanted}
    hashes = {name: queries.records[name].hash for name in wanted}
    positions = {n: queries.records[n].positions(folder) for n, folder in directories.items()}
    found = {name: queries.records[name].from_now for name in wanted}
    return CheckpointJob(
        path,
        asked.directory,
        lives,
        manifest.topics,
        wanted,
        directories,
        positions,
        hashes,
        {name: from_now for name, from_now in found.items() if from_now is not None},
    )


def _watch(path: CheckpointPath) -> Callable[[], bool]:
    if isinstance(path, RemotePath):
        return path.holder_watch()
    return lambda: holder_of(Path(str(path))) is not None
