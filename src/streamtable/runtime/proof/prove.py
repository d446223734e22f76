"""Prove the queries of a job: find a commit of each, compute both sides, and compare them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from pyspark.errors import PySparkException

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError, raise_all
from streamtable.core.options import Settings
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.outline import job_name
from streamtable.runtime.proof.asked import Asked, CheckpointJob, job_of, reads_checkpoint
from streamtable.runtime.proof.baseline import (
    Baseline,
    baseline_of,
    chosen_proofs,
    say_whole,
)
from streamtable.runtime.proof.commits import (
    Commit,
    has_planned_batch,
    newest_commit,
    settled_commit,
)
from streamtable.runtime.proof.comparison import Comparison, comparison
from streamtable.runtime.proof.duckdb import DuckDbEngine
from streamtable.runtime.proof.history import remember
from streamtable.runtime.proof.origins import origins_of
from streamtable.runtime.proof.recorded import RecordedProof
from streamtable.runtime.proof.report import Proof, smallest_key
from streamtable.runtime.proof.sides import compared_fields, compared_key
from streamtable.runtime.proof.written import newest_written
from streamtable.runtime.provable import check_provable
from streamtable.runtime.query.real_time_mark import is_marked
from streamtable.runtime.reading import ReadOpening

#: The longest wait for a moment between two batches of a running job, in seconds.
_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Difference:
    """A query whose sink may differ, and what was compared.

    Attributes:
        proof: the result.
        sink: the query.
        commit: the commit.
        lowering: the context of the session, whose sources read the topics.
        job: name of the job.
        topics: Kafka's ids of the topics that the job has read.
    """

    proof: Proof
    sink: Sink
    commit: Commit
    lowering: LoweringContext
    job: str
    topics: Mapping[str, str]


def prove_job(
    plans: Sequence[Sink],
    asked: Asked,
    settings: Settings,
    master: str | None,
    functions: Sequence[UserFunction],
    notice: Notice,
    show: Callable[[Proof], None],
    keep: Callable[[Difference], None] | None = None,
    engine_of: Callable[[Sink], DuckDbEngine] | None = None,
    *,
    verbose: bool = False,
) -> bool:
    """Compare the sinks of a job with the batch answers over the records of a commit.

    Only `proofs.json` of the checkpoint is written. The job may run.

    Args:
        plans: one per INSERT of the script.
        asked: what to prove.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        show: takes the result of each query.
        keep: takes each query that differs, while Spark runs.
        engine_of: returns what computes the expected rows of a query; None for Spark.
        verbose: whether Spark's own log is shown.

    Returns:
        Whether all sinks are equal to their answers.

    Raises:
        StreamtableError: any error that is known before the records are read, for all queries; or
            the errors of the reads, after the other queries are compared.
    """
    with ExitStack() as stack:
        opening = ReadOpening(stack, settings, master, functions, notice, verbose=verbose)
        job = job_of(plans, asked, opening.checkpoint(asked.directory))
        faults = []
        engines: dict[str, DuckDbEngine] = {}
        for name, sink in job.queries.items():
            try:
                check_provable(sink, settings, functions)
                if engine_of is not None:
                    engines[name] = engine_of(sink)
            except StreamtableError as error:
                faults.append(error)
        baselines = chosen_proofs(job, asked, notice, faults)
        raise_all(faults)
        context = opening.context
        equal = True
        title = job_name(plans, settings)
        for name, sink in job.queries.items():
            lowering = replace(context, query=name, counters={})
            prover = _Prover(name, sink, job, title, lowering, asked, notice)
            try:
                with reads_checkpoint(asked.directory):
                    found = prover.difference(engines.get(name), baselines.get(name))
            except StreamtableError as error:
                faults.append(error)  # the other queries are compared first
                continue
            show(found.proof)
            remember(job, name, found.proof, found.commit, lowering.bridge, notice)
            if not found.proof.equal and keep is not None and found.proof.since is None:
                keep(found)
            equal = equal and found.proof.equal
    raise_all(faults)
    return equal


@dataclass(frozen=True)
class _Prover:
    """Proves one query."""

    name: str
    sink: Sink
    job: CheckpointJob
    title: str
    lowering: LoweringContext
    asked: Asked
    notice: Notice

    @property
    def directory(self) -> CheckpointPath:
        return self.job.directories[self.name]

    def difference(self, engine: DuckDbEngine | None, earlier: RecordedProof | None) -> Difference:
        self._check_topics()
        commit = self._commit()
        topics = self.job.topics
        try:
            proof = None if earlier is None else self._induced(commit, earlier)
            if proof is None or not proof.equal:
                proof = self._whole(commit, engine, proof)
            return Difference(proof, self.sink, commit, self.lowering, self.title, topics)
        except (PySparkException, JavaError) as error:
            explain = source_of(self.sink.table).explain
            raise job_fault(self.name, str(error), [explain]) from error

    def _induced(self, commit: Commit, earlier: RecordedProof) -> Proof | None:
        """Compare what came after an earlier proof; None if this proof is no baseline any more."""
        try:
            baseline = baseline_of(self.sink, earlier, commit, self.lowering)
        except StreamtableError as error:
            if self.asked.since != "last" or error.condition is not Condition.NOT_PROVABLE:
                raise
            say_whole(self.name, error, self.notice)
            return None
        try:
            return self._proof(commit, None, baseline)
        finally:
            baseline.close()

    def _whole(self, commit: Commit, engine: DuckDbEngine | None, induced: Proof | None) -> Proof:
        """Compare the whole input, which also explains and decides what differs by induction."""
        if induced is None:
            return self._proof(commit, engine)
        self.notice(
            f"{self.name}: {induced.differ:,} differ by induction; comparing the whole input"
        )
        try:
            return self._proof(commit, engine)
        except StreamtableError as error:
            if error.condition is not Condition.MOMENT_LOST:
                raise
            self.notice(f"{self.name}: not explained from the whole input: {error.message}")
            return induced

    def _check_topics(self) -> None:
        """Refuse topics that were deleted and created again: their offsets are others."""
        for scan in scans(self.sink.input):
            for topic, id_ in source_of(scan.table).identities(self.lowering.bridge).items():
                if self.job.topics.get(topic, id_) != id_:
                    msg = f"topic '{topic}' was deleted and created again"
                    raise self._not(msg)

    def _commit(self) -> Commit:
        sink = sink_of(self.sink.table)
        if newest_commit(self.directory) < 0:
            msg = "the query has not committed a batch yet"
            raise self._not(msg)
        found = settled_commit(
            self.directory,
            lambda batch: sink.recorded_ends(self.job.positions[self.name], batch),
            self._ends,
            lambda: not is_marked(self.directory),
            self.job.lives,
            _PATIENCE_S,
        )
        if found is not None:
            return found
        hint = "stop the job with `streamtable stop`, and compare again"
        if self.job.lives():
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

    def _proof(
        self, commit: Commit, engine: DuckDbEngine | None, baseline: Baseline | None = None
    ) -> Proof:
        sink, share = self.sink, self.asked.share
        both = comparison(sink, commit, self.lowering, self.lowering, share, engine, baseline)
        counts, digest = both.compared.counts()
        found = Proof(
            query=self.name,
            table=sink.table.name,
            keyed=both.keyed,
            batch=commit.batch,
            time_ms=commit.time_ms,
            offsets=both.expected.offsets,
            counts=counts,
            share=share,
            tolerant=both.tolerant if both.keyed else (),
            against="spark" if engine is None else "duckdb",
            since=None if baseline is None else baseline.since,
            digest=digest,
        )
        if found.equal:
            return found
        if baseline is not None:
            return replace(found, reasons=both.reasons(), examples=both.compared.examples())
        return self._explained(found, both, commit)

    def _explained(self, proof: Proof, both: Comparison, commit: Commit) -> Proof:
        """Add the differing keys, and the records of the smallest of them."""
        sink, lowering = self.sink, self.lowering
        examples = both.compared.examples()
        known = [key for key, expected, _ in examples if expected is not None]
        columns = compared_key(sink) or [f.name for f in compared_fields(sink)]
        origins = origins_of(sink, commit, lowering, columns, known) if known else {}
        smallest = smallest_key(examples, origins)
        written = None
        if smallest is not None:
            folders = (self.directory, self.job.positions[self.name])
            written = newest_written(sink, commit, lowering, *folders, smallest)
        return replace(
            proof,
            reasons=both.reasons(),
            examples=examples,
            smallest=smallest,
            origins=origins.get(smallest or "", ()),
            written=written,
        )

    def _not(self, reason: str, hint: str | None = None) -> StreamtableError:
        return StreamtableError(
            Condition.NOT_PROVABLE,
            at=self.sink.at,
            table=self.sink.table.name,
            reason=reason,
            hint=hint,
        )
