"""The baseline of a proof by induction: a recorded proof, whose sink has the same content still."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.batch.increments import increment_refusal
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.runtime.endpoints import words_of
from streamtable.runtime.proof.asked import Asked, CheckpointJob
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.compare import digest_of
from streamtable.runtime.proof.ranges import Ranges, ranges_since
from streamtable.runtime.proof.recorded import RecordedProof, read_proofs
from streamtable.runtime.proof.report import Since
from streamtable.runtime.proof.sides import compared_fields, compared_key, found_side

_HINT = "leave out --since, which compares the whole input"


@dataclass(frozen=True)
class Baseline:
    """A commit at which the sink was right, and what the query has read since.

    Attributes:
        proof: the recorded proof.
        ranges: the ranges of each scan between the two commits, left to right.
        rows: the rows of a sink with a key at the earlier commit, cached; None for other sinks.
    """

    proof: RecordedProof
    ranges: Sequence[Ranges]
    rows: DataFrame | None

    @property
    def commit(self) -> Commit:
        """The earlier commit."""
        return self.proof.commit

    @property
    def since(self) -> Since:
        """The earlier proof, for the report."""
        return Since(self.proof.batch, self.proof.whole, self.proof.links)

    def close(self) -> None:
        """Remove the rows from the cache."""
        if self.rows is not None:
            self.rows.unpersist()


def refused_increment(sink: Sink) -> str | None:
    """Return why a query cannot be proved by induction, as a clause; None if it can."""
    found = increment_refusal(sink, compared_fields(sink), compared_key(sink))
    return None if found is None else f"{found.node.described}: {found.reason}"


def chosen_proofs(
    job: CheckpointJob, asked: Asked, notice: Notice, faults: list[StreamtableError]
) -> dict[str, RecordedProof]:
    """Return the recorded proofs from which proofs by induction start.

    Args:
        job: the job of the checkpoint.
        asked: what to prove.
        notice: takes a line for each query whose whole input is compared instead.
        faults: takes an error for each query without the proof of a batch that is asked for.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE.
    """
    found: dict[str, RecordedProof] = {}
    if asked.since is None:
        return found
    recorded = read_proofs(job.folder)
    groups = {name: group for group in job.groups for name in group}
    for name, sink in job.queries.items():
        proofs = recorded.get(name, ())
        try:
            if len(groups[name]) > 1:
                raise _not(sink, f"several INSERTs write to {words_of(sink)}")
            if name in job.from_now:
                raise _not(sink, "rows from before `upgrade --from-now` are not compared")
            found[name] = _chosen(sink, asked, proofs, job.directories[name], job.plans[name])
        except StreamtableError as error:
            if asked.since != "last":
                faults.append(error)
            else:
                say_whole(name, error, notice)
    return found


def say_whole(name: str, error: StreamtableError, notice: Notice) -> None:
    """Report that the whole input of a query is compared, and why."""
    notice(f"{name}: the whole input is compared, {error.values['reason']}")


def _chosen(
    sink: Sink,
    asked: Asked,
    proofs: Sequence[RecordedProof],
    directory: CheckpointPath,
    plan: str,
) -> RecordedProof:
    """Return the recorded proof of a query; raises NOT_PROVABLE."""
    reason = refused_increment(sink)
    if reason is not None:
        raise _not(sink, reason)
    fitting = [one for one in proofs if one.plan == plan and one.directory == directory.name]
    wanted = [one for one in fitting if asked.since in ("last", one.batch)]
    if not wanted:
        batches = ", ".join(str(one.batch) for one in fitting)
        named = f"; batches with such a proof: {batches}" if batches else ""
        at = "a batch" if asked.since == "last" else f"batch {asked.since}"
        raise _not(sink, f"no proof of this query at {at} is recorded{named}")
    return wanted[-1]


def baseline_of(
    sink: Sink, proof: RecordedProof, commit: Commit, lowering: LoweringContext
) -> Baseline:
    """Check a recorded proof against the topics of now, and read the sink at its commit.

    Raises:
        StreamtableError: NOT_PROVABLE if the proof says nothing about these topics; MOMENT_LOST
            for a sink topic whose first records are deleted.
    """
    ids = topic_ids(sink, lowering.bridge)
    other = next((topic for topic, id_ in proof.topics.items() if ids.get(topic) != id_), None)
    if other is not None:
        raise _not(sink, f"topic '{other}' is not that of the proof at batch {proof.batch}")
    ranges = ranges_since(sink, proof.commit, commit, lowering.bridge)
    shorter = any(commit.ends.get(split, 0) < end for split, end in proof.commit.ends.items())
    if ranges is None or shorter or commit.batch < proof.batch:
        reason = f"batch {commit.batch} does not continue batch {proof.batch} of the proof"
        raise _not(sink, reason)
    if not compared_key(sink):
        return Baseline(proof, ranges, None)
    rows = found_side(sink, proof.commit, lowering).rows.persist()
    if digest_of(rows, compared_fields(sink)) != (proof.keys, proof.digest):
        rows.unpersist()
        reason = (
            f"the sink no longer has the rows of batch {proof.batch}, for example because its topic"
            " was compacted since"
        )
        raise _not(sink, reason)
    return Baseline(proof, ranges, rows)


def topic_ids(sink: Sink, bridge: Bridge) -> dict[str, str]:
    """Return Kafka's ids of the topics that a query reads and writes."""
    found: dict[str, str] = {}
    for scan in scans(sink.input):
        found.update(source_of(scan.table).identities(bridge))
    for topic, id_ in source_of(sink.table).identities(bridge).items():
        # The sink may be a topic of another cluster.
        found[topic if found.get(topic, id_) == id_ else f"{topic} of {sink.table.name}"] = id_
    return found


def _not(sink: Sink, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.NOT_PROVABLE,
        at=sink.at,
        table=sink.table.name,
        reason=f"not by induction: {reason}",
        hint=_HINT,
    )
