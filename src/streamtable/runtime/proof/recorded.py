"""The file `proofs.json` of a checkpoint: the proofs that have found no difference."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.storage.remote_path import RemotePath
from streamtable.runtime.checkpoint.storage.whole_files import write_whole
from streamtable.runtime.proof.commits import Commit

#: Name of the file in the directory of a checkpoint.
FILE = "proofs.json"

_LAYOUT = 1

#: Number of proofs that are kept per query.
_KEPT = 10


@dataclass(frozen=True)
class RecordedProof:
    """A proof that has found no difference, with all keys compared.

    Attributes:
        commit: the commit at which the sink was compared.
        directory: name of the directory of the query's offsets.
        plan: hash of the plan.
        topics: Kafka's ids of the topics of the input and of the sink.
        keys: number of compared keys, or of different rows.
        digest: digest of the rows of a sink with a key (`compare.digest_of`); None for others.
        whole: the batch at which the whole input was compared.
        links: number of proofs by induction since that batch.
    """

    commit: Commit
    directory: str
    plan: str
    topics: Mapping[str, str]
    keys: int
    digest: str | None
    whole: int
    links: int = 0

    @property
    def batch(self) -> int:
        """Number of the batch."""
        return self.commit.batch

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return a proof from its entry in the file."""
        commit = dict(data["commit"])
        pairs = [(first, last) for first, last in commit.pop("positions")]
        ends: Mapping[Split, int] = commit.pop("ends")
        return cls(**{**data, "commit": Commit(positions=pairs, ends=ends, **commit)})


def read_proofs(checkpoint: CheckpointPath) -> dict[str, list[RecordedProof]]:
    """Return the recorded proofs of each query, by batch.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE for a file that is damaged or of another version.
    """
    file = checkpoint / FILE
    if not file.exists():
        return {}
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["layout"] == _LAYOUT:
            queries = data["queries"].items()
            return {name: list(map(RecordedProof.from_json, found)) for name, found in queries}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(file, error) from error
    raise _unreadable(file, f"it has layout {data['layout']}, and this version reads {_LAYOUT}")


def _unreadable(file: CheckpointPath, reason: object) -> StreamtableError:
    return StreamtableError(
        Condition.CHECKPOINT_UNREADABLE,
        checkpoint=file,
        reason=reason,
        hint="remove this file; the next proof compares the whole input and writes it again",
    )


def write_proof(checkpoint: CheckpointPath, query: str, proof: RecordedProof) -> None:
    """Add a proof of a query, and drop those of another directory or plan, as before an upgrade.

    A proof over the whole input is kept if both are of one batch.

    Raises:
        OSError: the file cannot be written.
    """
    known = read_proofs(checkpoint)
    place = (proof.directory, proof.plan)
    fitting = (one for one in known.get(query, ()) if (one.directory, one.plan) == place)
    by_batch = {one.batch: one for one in fitting}
    old = by_batch.get(proof.batch)
    if old is None or proof.links <= old.links:
        by_batch[proof.batch] = proof
    _write(checkpoint, {**known, query: sorted(by_batch.values(), key=_batch)[-_KEPT:]})


def drop_induced(checkpoint: CheckpointPath, query: str) -> None:
    """Remove the proofs by induction of a query: its whole input has shown a difference.

    Raises:
        OSError: the file cannot be written.
    """
    known = read_proofs(checkpoint)
    whole = [one for one in known.get(query, ()) if not one.links]
    if whole != known.get(query, []):
        _write(checkpoint, {**known, query: whole})


def _batch(proof: RecordedProof) -> int:
    return proof.batch


def _write(checkpoint: CheckpointPath, proofs: Mapping[str, Sequence[RecordedProof]]) -> None:
    queries = {name: [asdict(one) for one in found] for name, found in proofs.items()}
    text = json.dumps({"layout": _LAYOUT, "queries": queries}, indent=1)
    file = checkpoint / FILE
    if isinstance(file, RemotePath):
        file.write_beside(text)  # the job holds the checkpoint
    else:
        write_whole(file, text)
