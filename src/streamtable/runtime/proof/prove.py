"""Prove the queries of a job: find a commit of each, compute both sides, and compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.errors import PySparkException

from streamtable.batch.rounding import rounded_fields
from streamtable.catalog.functions import PythonFunction
from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Split
from streamtable.core.errors import Condition, StreamtableError, closest, raise_all
from streamtable.core.options import Settings
from streamtable.core.types import APPROXIMATE
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest_file import mismatch, read_manifest
from streamtable.runtime.checkpoint.remote import is_remote
from streamtable.runtime.proof.commits import (
    Commit,
    has_planned_batch,
    newest_commit,
    settled_commit,
)
from streamtable.runtime.proof.compare import by_count, by_key, sampled
from streamtable.runtime.proof.in_batches import InBatches
from streamtable.runtime.proof.origins import origins_of
from streamtable.runtime.proof.report import Proof, differing, explained_key
from streamtable.runtime.proof.sides import (
    check_provable,
    compared_fields,
    expected_side,
    found_side,
    reasons_of,
)
from streamtable.runtime.reading import reading_context
from streamtable.runtime.status.document import JobState
from streamtable.runtime.status.found import FoundJob, job_at

#: The longest wait for a moment between two batches of a running job, in seconds.
_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Asked:
    """What to prove.

    Attributes:
        directory: checkpoint of the job.
        table: the table whose queries are proved; None for all.
        share: share of the keys that are compared, 0 to 1.
    """

    directory: str
    table: str | None = None
    share: float = 1.0


def prove_job(
    plans: Sequence[Sink],
    asked: Asked,
    settings: Settings,
    master: str | None,
    functions: Sequence[PythonFunction],
    notice: Notice,
    show: Callable[[Proof], None],
    *,
    verbose: bool = False,
) -> bool:
    """Compare the sinks of a job with the batch answers over the records of a commit.

    Nothing is written. The job may run.

    Args:
        plans: one per INSERT of the script.
        asked: what to prove.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's Python functions.
        notice: takes one line for the user.
        show: takes the result of each query.
        verbose: whether Spark's own log is shown.

    Returns:
        Whether all sinks are equal to their answers.

    Raises:
        StreamtableError: any error that is known before the records are read, for all queries; or
            an error of a read.
    """
    job = job_of(plans, asked)
    faults = []
    for sink in job.queries.values():
        try:
            check_provable(sink, settings, functions)
        except StreamtableError as error:
            faults.append(error)
    raise_all(faults)
    with reading_context(settings, master, functions, notice, verbose=verbose) as context:
        equal = True
        for name, sink in job.queries.items():
            lowering = replace(context, query=name, counters={})
            prover = _Prover(name, sink, job.found, job.topics, job.directories[name], lowering)
            proof = prover.proof(asked.share)
            show(proof)
            equal = equal and proof.equal
    return equal


@dataclass(frozen=True)
class CheckpointJob:
    """The job of a checkpoint.

    Attributes:
        found: the job.
        topics: Kafka's ids of the topics that it has read.
        queries: the queries that are asked for, by name.
        directories: directory of the offsets and state of each query.
    """

    found: FoundJob
    topics: Mapping[str, str]
    queries: Mapping[str, Sink]
    directories: Mapping[str, Path]


def job_of(plans: Sequence[Sink], asked: Asked) -> CheckpointJob:
    """Return the job of a checkpoint, and its queries that are asked for.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE, CHECKPOINT_MISMATCH; INVALID_OPTION for a table
            that the job has not written.
    """
    if is_remote(asked.directory):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"'prove' and 'why' with the remote checkpoint '{asked.directory}'",
        )
    path = Path(asked.directory)
    manifest = read_manifest(path, asked.directory) if path.is_dir() else None
    job = job_at(path) if manifest is not None else None
    if manifest is None or job is None:
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
    wanted = {
        name: sink
        for name, sink in queries.plans.items()
        if name not in queries.starting and asked.table in (None, sink.table.name, name)
    }
    if not wanted:
        known = [sink.table.name for sink in queries.plans.values()]
        raise StreamtableError(
            Condition.INVALID_OPTION,
            option="--table",
            value=asked.table,
            expected=f"a table that the job has written: {', '.join(known)}",
            hint=closest(asked.table or "", known),
        )
    directories = {name: job.directory / queries.directory_of(name) for name in wanted}
    return CheckpointJob(job, manifest.topics, wanted, directories)


@dataclass(frozen=True)
class _Prover:
    """Proves one query."""

    name: str
    sink: Sink
    job: FoundJob
    topics: Mapping[str, str]
    directory: Path
    lowering: LoweringContext

    def proof(self, share: float) -> Proof:
        self._check_topics()
        commit = self._commit()
        try:
            return self._proof(commit, share)
        except (PySparkException, JavaError) as error:
            explain = source_of(self.sink.table).explain
            raise job_fault(self.name, str(error), [explain]) from error

    def _check_topics(self) -> None:
        """Refuse topics that were deleted and created again: their offsets are others."""
        for scan in scans(self.sink.input):
            for topic, id_ in source_of(scan.table).identities(self.lowering.bridge).items():
                if self.topics.get(topic, id_) != id_:
                    msg = f"topic '{topic}' was deleted and created again"
                    raise self._not(msg)

    def _commit(self) -> Commit:
        sink = sink_of(self.sink.table)
        if newest_commit(self.directory) < 0:
            msg = "the query has not committed a batch yet"
            raise self._not(msg)
        job = self.job
        lives = job.state.lives or job.state is JobState.IN_USE
        in_batches = InBatches(self.name, self.sink, job, self.lowering.settings)
        found = settled_commit(
            self.directory,
            lambda batch: sink.recorded_ends(self.directory, batch),
            self._ends,
            in_batches,
            _PATIENCE_S if lives else 0,
        )
        if found is not None:
            return found
        hint = "stop the job with `streamtable stop`, and compare again"
        if lives:
            reason = (
                f"within {_PATIENCE_S:.0f} s, the end of its topic at a commit was not known: the"
                " job writes all the time"
            )
            raise self._not(reason, hint)
        if has_planned_batch(self.directory):
            reason = "the topic may have a part of a batch that is planned and not committed"
            raise self._not(reason, "run the job once, which repeats the batch, and compare again")
        reason = "a run in real-time mode was killed, and the topic may have rows after the commit"
        raise self._not(reason, "run the job once, stop it, and compare again")

    def _ends(self) -> Mapping[Split, int]:
        found = source_of(self.sink.table).ends_of(None, self.lowering.bridge)
        if found is None:
            msg = "the brokers do not answer"
            raise self._not(msg)
        return found

    def _proof(self, commit: Commit, share: float) -> Proof:
        sink, fields = self.sink, compared_fields(self.sink)
        expected = expected_side(sink, commit, self.lowering)
        found = found_side(sink, commit, self.lowering)
        key = () if sink.table.connector.writes.is_append else sink.key
        rounded = rounded_fields(sink.input, lambda _: None)
        tolerant = [f.name for f in fields if f.name in rounded and f.type.root in APPROXIMATE]
        ours = sampled(expected.rows, fields, key, share)
        theirs = sampled(found.rows, fields, key, share)
        if key:
            compared = by_key(ours, theirs, fields, key, tolerant)
        else:
            compared = by_count(ours, theirs, fields, may_repeat=sink_of(sink.table).may_repeat)
        counts = compared.counts()
        reasons: list[str] = []
        examples = compared.examples() if differing(counts) else []
        explained = explained_key(examples)
        columns = key or [f.name for f in fields]
        origins = (
            [] if explained is None else origins_of(sink, commit, self.lowering, columns, explained)
        )
        if differing(counts):
            reasons = [*expected.notices, *found.notices, *reasons_of(expected.doubts)]
            if tolerant and not key:
                reasons.append(f"rows have sums of FLOAT or DOUBLE: {', '.join(tolerant)}")
        return Proof(
            query=self.name,
            table=sink.table.name,
            keyed=bool(key),
            batch=commit.batch,
            time_ms=commit.time_ms,
            offsets=expected.offsets,
            counts=counts,
            share=share,
            tolerant=tolerant if key else (),
            reasons=reasons,
            examples=examples,
            origins=origins,
        )

    def _not(self, reason: str, hint: str | None = None) -> StreamtableError:
        return StreamtableError(
            Condition.NOT_PROVABLE,
            at=self.sink.at,
            table=self.sink.table.name,
            reason=reason,
            hint=hint,
        )
