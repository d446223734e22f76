"""Record the result of a proof in the checkpoint, as a baseline of later proofs by induction."""

from __future__ import annotations

from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.runtime.proof.asked import CheckpointJob
from streamtable.runtime.proof.baseline import refused_increment, topic_ids
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.recorded import FILE, RecordedProof, drop_induced, write_proof
from streamtable.runtime.proof.report import Proof


def remember(
    job: CheckpointJob, query: str, proof: Proof, commit: Commit, bridge: Bridge, notice: Notice
) -> None:
    """Record a proof without differences, or take back the proofs by induction before it.

    A proof of a sample, of rows since an upgrade, or of a query that cannot be proved by induction
    is not recorded.

    Args:
        job: the job of the checkpoint.
        query: name of the query.
        proof: the result.
        commit: the commit at which the sink was compared.
        bridge: the JVM side.
        notice: takes one line for the user, if the file cannot be written.
    """
    sink, checkpoint = job.queries[query], job.folder
    try:
        if not proof.equal:
            if proof.since is None:
                drop_induced(checkpoint, query)
        elif proof.share == 1 and not proof.keeps_rows and refused_increment(sink) is None:
            write_proof(checkpoint, query, _recorded(job, query, proof, commit, bridge))
    except (OSError, StreamtableError) as error:
        notice(f"{query}: the proof is not recorded in {FILE}: {error}")


def _recorded(
    job: CheckpointJob, query: str, proof: Proof, commit: Commit, bridge: Bridge
) -> RecordedProof:
    return RecordedProof(
        commit,
        job.directories[query].name,
        job.plans[query],
        topic_ids(job.queries[query], bridge),
        proof.keys,
        proof.digest,
        commit.batch if proof.since is None else proof.since.whole,
        0 if proof.since is None else proof.since.links + 1,
    )
