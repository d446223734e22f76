"""The result of a proof, as lines and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from streamtable.runtime.proof.compare import SHOWN, Verdict
from streamtable.runtime.proof.origins import NAMED, Origin
from streamtable.runtime.proof.written import Written

#: What a proof does not prove, because both sides use it, by the engine of the comparison.
SHARED = {
    "spark": (
        "Both sides share the parser, the planner, the scalar expressions and the decoders; the"
        " aggregations, joins and rankings of the comparison are Spark's own"
    ),
    "duckdb": (
        "Both sides share the parser and the decoders; DuckDB has planned and computed the queries"
    ),
}


@dataclass(frozen=True)
class Since:
    """The baseline of a proof by induction.

    Attributes:
        batch: the batch at which the sink was proved before.
        whole: the batch at which the whole input was compared.
        links: number of proofs by induction from there to `batch`.
    """

    batch: int
    whole: int
    links: int

    @property
    def text(self) -> str:
        """What was proved by induction, for a line."""
        if not self.links:
            return f"by induction from batch {self.batch}, which was compared as a whole"
        return (
            f"by induction from batch {self.batch}: proof {self.links + 1} by induction since batch"
            f" {self.whole}, which was compared as a whole"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the baseline as data."""
        return {"batch": self.batch, "whole": self.whole, "links": self.links}


@dataclass(frozen=True)
class Proof:
    """The comparison of one query.

    Attributes:
        query: name of the query.
        table: the table that it writes.
        keyed: whether rows are compared by the key of the sink; else by their counts.
        batch: number of the committed batch.
        time_ms: start of the batch, in epoch milliseconds.
        offsets: offsets of the input that were read; by induction, those since the baseline.
        counts: number of keys, or of different rows, by verdict.
        share: share of the keys that are compared, 0 to 1.
        tolerant: columns that are equal up to a tolerance.
        reasons: why differences are not decided; empty if they are.
        examples: the first differing keys: key, expected and found, as JSON.
        smallest: the differing key of the examples with the fewest input records, as JSON; a key
            that the answer lacks only if there is no other.
        origins: its input records, newest first.
        written: the newest record of this key in the sink.
        against: the engine that has computed the expected rows.
        since: the baseline of a proof by induction; None if the whole input was compared.
        digest: digest of the rows of a sink with a key; None for others.
        together: the other queries that write the sink; their rows are compared together.
        keeps_rows: whether rows that the sink had before `upgrade --from-now` are not compared.
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
    smallest: str | None = None
    origins: Sequence[Origin] = ()
    written: Written | None = None
    against: str = "spark"
    since: Since | None = None
    digest: str | None = None
    together: Sequence[str] = ()
    keeps_rows: bool = False

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
        if self.together:
            yield f"  with the rows of {' and '.join(self.together)}, in the same target"
        if self.keeps_rows:
            yield (
                f"  not compared: the rows that {self.table} had before `upgrade --from-now`; the"
                " input is read from there on"
            )
        if self.since is not None:
            yield f"  {self.since.text}; only later records were read"
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
        if self.origins:
            records = ", ".join(origin.text for origin in self.origins[:NAMED])
            more = len(self.origins) - NAMED
            others = f" and {more:,} more" if more > 0 else ""
            yield f"  the expected row of {self.smallest} comes from: {records}{others}"
        if self.written is not None:
            yield f"  the newest record of {self.smallest}: {self.written.text}"
        if self.differ > SHOWN:
            yield f"  ... and {self.differ - SHOWN:,} more"

    def as_json(self) -> dict[str, Any]:
        """Return the result as data."""
        return {
            "query": self.query,
            "table": self.table,
            "together": list(self.together),
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
            "smallest": self.smallest,
            "origins": [
                {
                    "table": one.table,
                    "partition": one.partition,
                    "offset": one.offset,
                    "time": one.time.isoformat(),
                }
                for one in self.origins[:NAMED]
            ],
            "written": None if self.written is None else self.written.as_json(),
            "against": self.against,
            "since": None if self.since is None else self.since.as_json(),
            "keeps_rows": self.keeps_rows,
            "shared": SHARED[self.against],
        }


def smallest_key(
    examples: Sequence[tuple[str, str | None, str | None]],
    origins: Mapping[str, Sequence[Origin]],
) -> str | None:
    """Return the differing key with the fewest input records; the first of equal ones.

    Args:
        examples: the differing keys.
        origins: the input records of those that the answer has.
    """
    known = [key for key, expected, _ in examples if expected is not None]
    keys = known or [key for key, _, _ in examples]
    return min(keys, key=lambda key: len(origins.get(key, ())), default=None)


def differing(counts: Mapping[Verdict, int]) -> int:
    """Return the number of keys that differ."""
    alike = (Verdict.EQUAL, Verdict.REPEATED)
    return sum(count for verdict, count in counts.items() if verdict not in alike)
