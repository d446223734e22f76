"""The comparison of one query at a commit: both sides, and how they are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import DataFrame

from streamtable.batch.increments import extremes, grown
from streamtable.batch.rounding import rounded_fields
from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.source import Split
from streamtable.core.types import APPROXIMATE
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.proof.baseline import Baseline
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.compare import Compared, by_count, by_key, sampled
from streamtable.runtime.proof.sides import (
    Engine,
    Expected,
    Side,
    compared_fields,
    compared_key,
    expected_side,
    found_side,
    reasons_of,
)


@dataclass(frozen=True)
class Writer:
    """A query that writes the compared sink.

    Attributes:
        sink: the query.
        commit: its commit; the commits of all queries of a sink have the same ends.
        engine: computes the expected rows; None for Spark's batch operators.
        kept_until: end of each split of the sink up to which its rows are not compared; None to
            compare all of them.
    """

    sink: Sink
    commit: Commit
    engine: Engine | None = None
    kept_until: Mapping[Split, int] | None = None


@dataclass(frozen=True)
class Comparison:
    """Both sides of a sink.

    Attributes:
        expected: the batch answers of its queries.
        found: the rows of the sink.
        compared: both, joined; lazy.
        tolerant: columns that are equal up to a tolerance, or rows with sums that may differ.
        keyed: whether rows are compared by a key.
    """

    expected: Expected
    found: Side
    compared: Compared
    tolerant: tuple[str, ...]
    keyed: bool

    def reasons(self) -> list[str]:
        """Return why differences are not decided; runs Spark jobs."""
        reasons = [
            *self.expected.notices,
            *self.found.notices,
            *reasons_of(self.expected.doubts),
        ]
        if self.tolerant and not self.keyed:
            reasons.append(f"rows have sums of FLOAT or DOUBLE: {', '.join(self.tolerant)}")
        return reasons


def comparison(
    writers: Sequence[Writer],
    inputs: LoweringContext,
    target: LoweringContext,
    share: float = 1.0,
    baseline: Baseline | None = None,
) -> Comparison:
    """Compare the batch answers of all queries that write a sink with its rows.

    Args:
        writers: the queries, which write the same table.
        inputs: the context whose sources read the input.
        target: the context whose sources read the sink.
        share: share of the keys that are compared, 0 to 1.
        baseline: an earlier commit at which the sink of a single query was right; only later
            records are read.

    Raises:
        StreamtableError: MOMENT_LOST for records that are no longer kept; NOT_PROVABLE.
    """
    first, *_ = writers
    sink, commit, engine = first.sink, first.commit, first.engine
    fields, key = compared_fields(sink), compared_key(sink)
    if baseline is None:
        expected = _of_all([expected_side(w.sink, w.commit, inputs, w.engine) for w in writers])
        found = found_side(sink, commit, target, first.kept_until)
    else:
        expected = expected_side(
            sink, commit, inputs, engine, baseline.ranges, extremes(sink, fields)
        )
        if baseline.rows is None:
            found = found_side(sink, commit, target, baseline.commit.ends)
        else:
            rows = grown(sink, fields, key, baseline.rows, expected.rows)
            expected, found = replace(expected, rows=rows), found_side(sink, commit, target)
    rounded = {name for w in writers for name in rounded_fields(w.sink.input, lambda _: None)}
    tolerant = tuple(f.name for f in fields if f.name in rounded and f.type.root in APPROXIMATE)
    ours = sampled(expected.rows, fields, key, share)
    theirs = sampled(found.rows, fields, key, share)
    if key:
        compared = by_key(ours, theirs, fields, key, tolerant)
    else:
        compared = by_count(ours, theirs, fields, may_repeat=sink_of(sink.table).may_repeat)
    return Comparison(expected, found, compared, tolerant, bool(key))


def _of_all(answers: Sequence[Expected]) -> Expected:
    """Return the answers of several queries as one."""
    return Expected(
        reduce(DataFrame.union, (answer.rows for answer in answers)),
        tuple(notice for answer in answers for notice in answer.notices),
        [doubt for answer in answers for doubt in answer.doubts],
        sum(answer.offsets for answer in answers),
    )
