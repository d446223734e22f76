"""What is asked: the INSERTs into a table, the key, and the records that count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamtable.batch.refusals import refusal, refused
from streamtable.connector_api.endpoints import source_of
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.proof.asked import Asked, CheckpointJob, job_of, reads_checkpoint
from streamtable.runtime.proof.commits import Commit, newest_commit, read_commit
from streamtable.runtime.proof.ranges import Ranges, ranges_of
from streamtable.runtime.why.key import KeyColumn, parse_key


@dataclass(frozen=True)
class AskedQuery:
    """An INSERT into the table.

    Attributes:
        sink: its plan.
        commit: the newest commit of a checkpoint; None for all records up to now.
    """

    sink: Sink
    commit: Commit | None = None

    def ranges(self, bridge: Bridge) -> Sequence[Ranges] | None:
        """Return the offsets of each scan up to the commit, left to right; None without one.

        Raises:
            StreamtableError: NOT_PROVABLE if the positions do not belong to the scans.
        """
        return None if self.commit is None else ranges_of(self.sink, self.commit, bridge)

    @property
    def watermark_ms(self) -> int | None:
        """The watermark for operators that wait; None if it has passed all rows."""
        waits = any(node.waits for node in every(self.sink.input))
        return self.commit.watermark_ms if self.commit and waits else None


@dataclass(frozen=True)
class Question:
    """What to explain.

    Attributes:
        plans: one per INSERT of the script.
        queries: the INSERTs into the table, at least one.
        key_text: the key as JSON.
        key: the key, checked.
        limit: maximum number of records per row or operator.
    """

    plans: Sequence[Sink]
    queries: tuple[AskedQuery, ...]
    key_text: str
    key: tuple[KeyColumn, ...]
    limit: int
    _job: CheckpointJob | None = None

    def at_commit(self, checkpoint: str, path: CheckpointPath) -> Question:
        """Return the question about the records that the newest commits of a job cover.

        Args:
            checkpoint: the directory of the job, for messages.
            path: the same.

        Raises:
            StreamtableError: an error of the checkpoint.
        """
        job = job_of(self.plans, Asked(checkpoint, (self.queries[0].sink.table.name,)), path)
        with reads_checkpoint(checkpoint):
            found = [_at_commit(job, name, sink, checkpoint) for name, sink in job.queries.items()]
        job.check_not_upgraded()
        return replace(self, queries=tuple(found), _job=job)

    def check_topics(self, context: LoweringContext) -> None:
        """Check that the topics are those that the job has read.

        Raises:
            StreamtableError: DATA_LOST for a topic that was deleted and created again.
        """
        job = self._job
        if job is None:
            return
        for query in self.queries:
            for scan in scans(query.sink.input):
                for topic, id_ in source_of(scan.table).identities(context.bridge).items():
                    if job.topics.get(topic, id_) != id_:
                        raise StreamtableError(
                            Condition.DATA_LOST,
                            at=scan.table.at,
                            table=scan.table.name,
                            reason=f"topic '{topic}' was deleted and created again",
                            hint="leave out --checkpoint to read the records of now",
                        )


def question(plans: Sequence[Sink], table: str, key: str, limit: int) -> Question:
    """Check a table and a key against the plans of a script, before Spark starts.

    Args:
        plans: one per INSERT.
        table: the table of the row.
        key: its key as JSON.
        limit: maximum number of records per row or operator.

    Raises:
        StreamtableError: INVALID_OPTION for a table without an INSERT, or another key;
            NO_BATCH_ANSWER for an operator that batch does not compute; PRIMARY_KEY_REQUIRED.
    """
    sinks = tuple(sink for sink in plans if sink.table.name == table)
    if not sinks:
        written = ", ".join(dict.fromkeys(sink.table.name for sink in plans))
        raise StreamtableError(
            Condition.INVALID_OPTION,
            option="--table",
            value=table,
            expected=f"a table that the script writes ({written or 'it has no INSERT'})",
        )
    found = parse_key(key, sinks[0])
    for sink in sinks:
        unanswered = refusal(sink.input)
        if unanswered is not None:
            raise refused(sink, unanswered)
    return Question(plans, tuple(map(AskedQuery, sinks)), key, found, limit)


def _at_commit(job: CheckpointJob, name: str, sink: Sink, checkpoint: str) -> AskedQuery:
    directory = job.directories[name]
    batch = newest_commit(directory)
    if batch < 0:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=checkpoint,
            reason=f"query {name} has not committed a batch yet",
            hint="leave out --checkpoint to read the records of now",
        )
    return AskedQuery(sink, read_commit(directory, batch, {}))
