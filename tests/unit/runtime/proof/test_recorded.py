"""The proofs of a query that a checkpoint keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.recorded import RecordedProof, read_proofs, write_proof


def _proof(batch: int, directory: str = "q", plan: str = "p", links: int = 0) -> RecordedProof:
    commit = Commit(batch, 0, None, [], {})
    return RecordedProof(commit, directory, plan, {}, 1, None, 0, links)


#: Proofs in the order in which they are written, and the proofs that are kept.
KEPT = {
    "the last ten": ([_proof(n) for n in range(12)], [_proof(n) for n in range(2, 12)]),
    "by batch": ([_proof(3), _proof(1)], [_proof(1), _proof(3)]),
    "an upgrade begins at batch 0": (
        [*(_proof(n) for n in range(100, 112)), _proof(0, "q@2", "other")],
        [_proof(0, "q@2", "other")],
    ),
    "the same batch of a new directory": (
        [_proof(0), _proof(0, "q@2", links=1)],
        [_proof(0, "q@2", links=1)],
    ),
    "from now: the same directory": (
        [_proof(7), _proof(8, plan="other")],
        [_proof(8, plan="other")],
    ),
    "over the whole input": ([_proof(3), _proof(3, links=1)], [_proof(3)]),
    "by induction, shorter": ([_proof(3, links=2), _proof(3, links=1)], [_proof(3, links=1)]),
}


@pytest.mark.parametrize("case", KEPT)
def test_kept_proofs(case: str, tmp_path: Path) -> None:
    made, kept = KEPT[case]
    for proof in made:
        write_proof(tmp_path, "o", _proof(5))
        write_proof(tmp_path, "q", proof)
    assert read_proofs(tmp_path) == {"o": [_proof(5)], "q": kept}
