"""The result of a proof, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from streamtable.runtime.proof.compare import SHOWN, Verdict
from streamtable.runtime.proof.origins import Origin

#: What a proof does not prove, because both sides use it.
SHARED = (
    "Both sides share the parser, the planner, the scalar expressions and the decoders; the"
    " aggregations, joins and rankings of the comparison are Spark's own"
)


@dataclass(frozen=True)
class Proof:
    """The comparison of one query.

    Attributes:
        query: name of the query.
        table: the table that it writes.
        keyed: whether rows are compared by the key of the sink; else by their counts.
        batch: number of the committed batch.
        time_ms: start of the batch, in epoch milliseconds.
        offsets: offsets that the scans of the query have read.
        counts: number of keys, or of different rows, by verdict.
        share: share of the keys that are compared, 0 to 1.
        tolerant: columns that are equal up to a tolerance.
        reasons: why differences are not decided; empty if they are.
        examples: the first differing keys: key, expected and found, as JSON.
        origins: the newest input records of the first of them that the answer has.
    """

    query: str
    table: str
    keyed: bool
    batch: int
    time_ms: int
    offsets: int
    counts: Mapping[Verdict, int]
    share: float = 1.0
    tolerant: Sequence[str] = ()
    reasons: Sequence[str] = ()
    examples: Sequence[tuple[str, str | None, str | None]] = ()
    origins: Sequence[Origin] = ()

    @property
    def keys(self) -> int:
        """Number of compared keys, or of different rows."""
        return sum(self.counts.values())

    @property
    def differ(self) -> int:
        """Number of keys that differ."""
        return differing(self.counts)

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return self.differ == 0

    @property
    def result(self) -> str:
        """`equal`, `differs`, or `undecided` if the input does not determine the answer."""
        if self.equal:
            return "equal"
        return "undecided" if self.reasons else "differs"

    @property
    def time(self) -> str:
        """Start of the batch in UTC."""
        moment = datetime.fromtimestamp(self.time_ms / 1_000, UTC)
        return f"{moment:%Y-%m-%d %H:%M:%S}Z"

    def lines(self) -> Iterator[str]:
        """Yield the summary, then the reasons and the differing keys."""
        noun = "keys" if self.keyed else "different rows"
        share = f" ({self.share:.4%} sample)" if self.share < 1 else ""
        repeated = self.counts.get(Verdict.REPEATED, 0)
        parts = [
            f"{self.keys:,} {noun}{share}",
            f"{self.offsets:,} offsets",
            f"{self.differ:,} differ",
            *([f"{repeated:,} repeated by at-least-once delivery"] if repeated else []),
            f"at batch {self.batch}",
            self.time,
        ]
        yield f"{self.query}: {', '.join(parts)}"
        if self.tolerant:
            names = ", ".join(self.tolerant)
            yield f"  sums of FLOAT or DOUBLE are equal up to 1e-5 or 1e-9: {names}"
        if self.equal:
            return
        kinds = (Verdict.MISSING, Verdict.EXTRA, Verdict.CHANGED, Verdict.ROUNDED)
        found = [f"{self.counts[kind]:,} {kind.value}" for kind in kinds if self.counts.get(kind)]
        yield f"  {', '.join(found)}"
        for reason in self.reasons:
            yield f"  undecided: {reason}"
        for key, expected, row in self.examples:
            yield f"  {key}: expected {expected or 'no row'}, found {row or 'no row'}"
        explained = explained_key(self.examples)
        if self.origins and explained is not None:
            records = ", ".join(origin.text for origin in self.origins)
            yield f"  the expected row of {explained} comes from: {records}"
        if self.differ > SHOWN:
            yield f"  ... and {self.differ - SHOWN:,} more"

    def as_json(self) -> dict[str, Any]:
        """Return the result as data."""
        return {
            "query": self.query,
            "table": self.table,
            "result": self.result,
            "keyed": self.keyed,
            "keys": self.keys,
            "sample": self.share,
            "offsets": self.offsets,
            "batch": self.batch,
            "time": self.time,
            "differ": self.differ,
            **{v.value: self.counts.get(v, 0) for v in Verdict if v is not Verdict.EQUAL},
            "tolerant": list(self.tolerant),
            "undecided": list(self.reasons),
            "examples": [
                {"key": key, "expected": expected, "found": found}
                for key, expected, found in self.examples
            ],
            "origins": [
                {
                    "table": one.table,
                    "partition": one.partition,
                    "offset": one.offset,
                    "time": one.time.isoformat(),
                }
                for one in self.origins
            ],
            "shared": SHARED,
        }


def explained_key(examples: Sequence[tuple[str, str | None, str | None]]) -> str | None:
    """Return the first of the differing keys that the answer has."""
    return next((key for key, expected, _ in examples if expected is not None), None)


def differing(counts: Mapping[Verdict, int]) -> int:
    """Return the number of keys that differ."""
    alike = (Verdict.EQUAL, Verdict.REPEATED)
    return sum(count for verdict, count in counts.items() if verdict not in alike)
