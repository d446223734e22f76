"""The outcome of a proof that ran in a process of its own: results, and why there are none."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.metrics.metrics import ProofState
from streamtable.runtime.repeated_proof.process import EndedProcess

_ERRORS = ("error: ", "internal error: ")


@dataclass(frozen=True)
class Outcome:
    """What `prove --json` has found.

    Attributes:
        results: the objects that it has printed, by query.
        failed: queries without a result.
        reason: why they have none, on one line; None if all have one.
    """

    results: Mapping[str, Mapping[str, Any]]
    failed: Collection[str]
    reason: str | None

    @classmethod
    def of(cls, ended: EndedProcess, queries: Collection[str]) -> Outcome:
        """Read the output of a process that was asked for these queries."""
        results: dict[str, Mapping[str, Any]] = {}
        for line in ended.out.splitlines():
            if line.startswith("{"):
                found = json.loads(line)
                results[found["query"]] = found
        failed = [query for query in queries if query not in results]
        return cls(results, failed, _reason(ended) if failed else None)

    def states(
        self, earlier: Mapping[str, ProofState], began: float
    ) -> Iterator[tuple[str, ProofState]]:
        """Yield the state of each query after this proof.

        Args:
            earlier: the states before it.
            began: start of the proof, in epoch seconds.
        """
        for query, found in self.results.items():
            differ, failures = int(found["differ"]), earlier.get(query, ProofState()).failures
            counts = (0, differ) if found["result"] == "undecided" else (differ, 0)
            yield query, ProofState(began, *counts, failures)
        for query in self.failed:
            yield query, earlier.get(query, ProofState()).failed()

    def differences(self) -> Iterator[StreamtableError]:
        """Yield an error for each query whose sink differs or may differ."""
        for query, found in self.results.items():
            if found["result"] == "equal":
                continue
            examples = {key: (expected, row) for key, expected, row in _examples(found)}
            key = found["smallest"] or next(iter(examples), None)
            shown = ""
            if key is not None:
                expected, row = examples.get(key, (None, None))
                shown = f", such as {key}: expected {expected or 'no row'}, found {row or 'no row'}"
            reasons = found["undecided"]
            doubt = f"; undecided: {'; '.join(reasons)}" if reasons else ""
            yield StreamtableError(
                Condition.SINK_DIFFERS,
                query=query,
                table=found["table"],
                batch=found["batch"],
                what=f"{found['differ']:,} {'keys' if found['keyed'] else 'rows'}{shown}{doubt}",
                hint="`streamtable prove` explains it",
            )


def _examples(found: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str | None]]:
    for one in found["examples"]:
        yield one["key"], one["expected"], one["found"]


def _reason(ended: EndedProcess) -> str:
    """Return the errors that a process has printed, or how it has ended, on one line."""
    lines = [line.strip() for line in ended.err.splitlines() if line.strip()]
    errors = [line.removeprefix(_ERRORS[0]) for line in lines if line.startswith(_ERRORS)]
    if errors:
        return "; ".join(errors)
    how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
    return f"the process ended with {how}" + (f": {lines[-1]}" if lines else "")
