"""Compare the sink of a job with the batch answers of the queries that write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.errors import PySparkException

from streamtable.connector_api.endpoints import sink_of, source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.endpoints import several_tables
from streamtable.runtime.proof.asked import Asked, CheckpointJob
from streamtable.runtime.proof.baseline import (
    Baseline,
    baseline_of,
    say_whole,
)
from streamtable.runtime.proof.commits import (
    Commit,
    has_planned_batch,
    newest_commit,
    settled_commits,
)
from streamtable.runtime.proof.comparison import Comparison, Writer, comparison
from streamtable.runtime.proof.duckdb import DuckDbEngine
from streamtable.runtime.proof.origins import Origin, origins_of
from streamtable.runtime.proof.recorded import RecordedProof
from streamtable.runtime.proof.report import Proof, smallest_key
from streamtable.runtime.proof.sides import compared_fields, compared_key
from streamtable.runtime.proof.written import newest_written
from streamtable.runtime.query.real_time_mark import is_marked

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


@dataclass(frozen=True)
class Prover:
    """Compares one sink with its queries.

    Attributes:
        names: the names of the queries that write the sink.
        job: the job of the checkpoint.
        title: name of the job.
        lowering: the context of the session.
        asked: what to prove.
        notice: takes one line for the user.
        engines: what computes the expected rows of a query, by its name; Spark for others.
    """

    names: Sequence[str]
    job: CheckpointJob
    title: str
    lowering: LoweringContext
    asked: Asked
    notice: Notice
    engines: Mapping[str, DuckDbEngine]

    @property
    def name(self) -> str:
        """The name of the first query."""
        return self.names[0]

    @property
    def sink(self) -> Sink:
        """The first query."""
        return self.job.queries[self.name]

    @property
    def directory(self) -> CheckpointPath:
        """The directory of the first query."""
        return self.job.directories[self.name]

    def difference(self, earlier: RecordedProof | None) -> Difference:
        """Compare the sink; return the result, which is that of each of the queries.

        Args:
            earlier: a recorded proof of a single query, for a proof by induction.

        Raises:
            StreamtableError: an error of the checkpoint, of a topic, or of a read.
        """
        self._check_topics()
        writers = self._writers()
        commit, topics = writers[0].commit, self.job.topics
        try:
            proof = None if earlier is None else self._induced(writers, earlier)
            if proof is None or not proof.equal:
                proof = self._whole(writers, proof)
            return Difference(proof, self.sink, commit, self.lowering, self.title, topics)
        except (PySparkException, JavaError) as error:
            explain = source_of(self.sink.table).explain
            raise job_fault(self.name, str(error), [explain]) from error

    def _induced(self, writers: Sequence[Writer], earlier: RecordedProof) -> Proof | None:
        """Compare what came after an earlier proof; None if this proof is no baseline any more."""
        (writer,) = writers
        by_spark = [replace(writer, engine=None)]
        try:
            baseline = baseline_of(self.sink, earlier, writer.commit, self.lowering)
        except StreamtableError as error:
            if self.asked.since != "last" or error.condition is not Condition.NOT_PROVABLE:
                raise
            say_whole(self.name, error, self.notice)
            return None
        try:
            return self._proof(by_spark, baseline)
        finally:
            baseline.close()

    def _whole(self, writers: Sequence[Writer], induced: Proof | None) -> Proof:
        """Compare the whole input, which also explains and decides what differs by induction."""
        if induced is None:
            return self._proof(writers)
        self.notice(
            f"{self.name}: {induced.differ:,} differ by induction; comparing the whole input"
        )
        try:
            return self._proof(writers)
        except StreamtableError as error:
            if error.condition is not Condition.MOMENT_LOST:
                raise
            self.notice(f"{self.name}: not explained from the whole input: {error.message}")
            return induced

    def _check_topics(self) -> None:
        """Refuse topics that were created again, or whose rows one table does not decode."""
        tables = [scan.table for name in self.names for scan in scans(self.job.queries[name].input)]
        for table in tables:
            for topic, id_ in source_of(table).identities(self.lowering.bridge).items():
                if self.job.topics.get(topic, id_) != id_:
                    msg = f"topic '{topic}' was deleted and created again"
                    raise self._not(msg)
        declared = several_tables(self.job.queries[name] for name in self.names)
        if declared is not None:
            raise self._not(declared)

    def _writers(self) -> Sequence[Writer]:
        """Return the queries at a moment at which all of them have committed what they wrote."""
        sink = sink_of(self.sink.table)
        directories = [self.job.directories[name] for name in self.names]
        if any(newest_commit(directory) < 0 for directory in directories):
            msg = "the query has not committed a batch yet"
            raise self._not(msg)
        found = settled_commits(
            directories,
            lambda batch: sink.recorded_ends(self.job.positions[self.name], batch),
            self._ends,
            lambda: not any(map(is_marked, directories)),
            self.job.lives,
            _PATIENCE_S,
        )
        if found is not None:
            self.job.check_not_upgraded()
            return [
                Writer(
                    self.job.queries[name],
                    commit,
                    self.engines.get(name),
                    self.job.kept_until(name),
                )
                for name, commit in zip(self.names, found, strict=True)
            ]
        hint = "stop the job with `streamtable stop`, and compare again"
        if self.job.lives():
            reason = (
                f"within {_PATIENCE_S:.0f} s, the end of its topic at a commit was not known: the"
                " job writes all the time"
            )
            raise self._not(reason, hint)
        if any(map(has_planned_batch, directories)):
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

    def _proof(self, writers: Sequence[Writer], baseline: Baseline | None = None) -> Proof:
        sink, share = self.sink, self.asked.share
        commit, engine = writers[0].commit, writers[0].engine
        both = comparison(writers, self.lowering, self.lowering, share, baseline)
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
            keeps_rows=writers[0].kept_until is not None,
        )
        if found.equal:
            return found
        if baseline is not None:
            return replace(found, reasons=both.reasons(), examples=both.compared.examples())
        return self._explained(found, both, writers)

    def _explained(self, proof: Proof, both: Comparison, writers: Sequence[Writer]) -> Proof:
        """Add the differing keys, and the records of the smallest of them."""
        sink, lowering = self.sink, self.lowering
        examples = both.compared.examples()
        known = [key for key, expected, _ in examples if expected is not None]
        columns = compared_key(sink) or [f.name for f in compared_fields(sink)]
        origins: dict[str, list[Origin]] = {}
        for writer in writers if known else ():
            found = origins_of(writer.sink, writer.commit, lowering, columns, known)
            for key, records in found.items():
                origins.setdefault(key, []).extend(records)
        smallest = smallest_key(examples, origins)
        written = None
        # The ends of the sink at the commits of one query say nothing about the others.
        if smallest is not None and len(writers) == 1:
            folders = (self.directory, self.job.positions[self.name])
            written = newest_written(sink, writers[0].commit, lowering, *folders, smallest)
        return replace(
            proof,
            reasons=both.reasons(),
            examples=examples,
            smallest=smallest,
            origins=sorted(origins.get(smallest or "", ()), key=lambda o: o.time, reverse=True),
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
