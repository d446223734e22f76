"""Both sides of a proof as DataFrames: the rows of the batch answer, and those of the sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from streamtable.batch.answer import answer
from streamtable.batch.carried import Carried
from streamtable.batch.context import BatchContext, Doubt
from streamtable.batch.fold import content
from streamtable.batch.rounding import rounded_fields
from streamtable.connector_api.reading import ReadRequest
from streamtable.connector_api.source import Split
from streamtable.connector_api.stored import StoredChanges
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.types import Field, quote
from streamtable.operators.context import LoweringContext
from streamtable.operators.sink.sink import checked, encoded
from streamtable.plan.node import Node
from streamtable.plan.position import without_position
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan, scans
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.ranges import Ranges, ranges_of

_KEPT = f"{ROW_KIND_COLUMN} IN ({RowKind.INSERT.value}, {RowKind.UPDATE_AFTER.value})"


@dataclass(frozen=True)
class Side:
    """Rows of one side.

    Attributes:
        rows: the columns of the sink, and no others; a batch DataFrame.
        notices: reasons why rows may be missing from the input.
    """

    rows: DataFrame
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected(Side):
    """The batch answer, as the sink would decode it.

    Attributes:
        doubts: cases in which the input does not determine the answer.
        offsets: offsets that the scans have read.
    """

    doubts: Sequence[Doubt] = ()
    offsets: int = 0


def compared_fields(sink: Sink) -> tuple[Field, ...]:
    """Return the columns that are compared: the physical ones; metadata is not."""
    metadata = {column.name for column in sink.table.schema.metadata}
    return tuple(f for f in sink.table.schema.persisted if f.name not in metadata)


def compared_key(sink: Sink) -> tuple[str, ...]:
    """Return the columns by which rows are compared; none if they are counted."""
    return () if sink.table.connector.writes.is_append else tuple(sink.key)


def sink_ranges(commit: Commit, since: Mapping[Split, int] | None = None) -> Ranges:
    """Return the ranges of the splits of the sink up to a commit, or since some earlier ends."""
    ranges = {split: ((since or {}).get(split, 0), end) for split, end in commit.ends.items()}
    if since is None:
        return ranges
    return {split: (begin, end) for split, (begin, end) in ranges.items() if end > begin}


#: Computes the rows of a query from the current rows of its tables, by name: row kind, fields.
Engine = Callable[[Mapping[str, DataFrame], LoweringContext], DataFrame]


def expected_side(
    sink: Sink,
    commit: Commit,
    lowering: LoweringContext,
    engine: Engine | None = None,
    ranges: Sequence[Ranges] | None = None,
    optional: Sequence[str] = (),
) -> Expected:
    """Return the rows of the batch answer over the input of a commit.

    Args:
        sink: the query.
        commit: the commit.
        lowering: the context of the session.
        engine: computes the rows; None for Spark's batch operators.
        ranges: the ranges of its scans, left to right; None for those of the commit.
        optional: columns for which a NULL that the sink writes as another value is a doubt.

    Raises:
        StreamtableError: MOMENT_LOST for input that is no longer kept; NOT_PROVABLE.
    """
    ranges = ranges_of(sink, commit, lowering.bridge) if ranges is None else ranges
    notices: list[str] = []
    context = answer_context(sink, commit, ranges, lowering, notices.extend)
    waits = _waits(sink)
    answered = answer(sink.input, context)  # also for another engine: it collects the doubts
    if engine is not None:
        answered = engine(_tables(sink, ranges, lowering), lowering)
    rows = checked(sink, answered, lowering)
    if waits:
        context.doubt(sink.input, "rows may have been dropped as late")
    noted: list[Node] = []
    rounded_fields(sink.input, noted.append)
    for node in noted:
        context.doubt(node, "it decides by a sum of FLOAT or DOUBLE, whose last digits may differ")
    if optional:
        columns = (
            f"CAST(NULL AS {f.type.spark_sql()}) AS {quote(f.name)}"
            if f.name in optional
            else quote(f.name)
            for f in sink.input.fields
        )
        empty = _written(sink, rows.limit(1).selectExpr(ROW_KIND_COLUMN, *columns), lowering)
        lost = " OR ".join(f"{quote(name)} IS NOT NULL" for name in optional)
        context.doubt(
            sink.input, "the format of the sink writes NULL as a value", empty.where(lost)
        )
    offsets = sum(end - begin for one in ranges for begin, end in one.values())
    return Expected(_written(sink, rows, lowering), tuple(notices), context.doubts, offsets)


def _written(sink: Sink, rows: DataFrame, lowering: LoweringContext) -> DataFrame:
    """Return rows as the sink would encode and decode them."""
    fields = compared_fields(sink)
    records = encoded(sink, rows, lowering)
    decoded = lowering.source_of(sink.table).decoded(ReadRequest(fields), records, lowering)
    return _plain(decoded, fields)


def answer_context(
    sink: Sink,
    commit: Commit,
    ranges: Sequence[Ranges],
    lowering: LoweringContext,
    notice: Callable[[Sequence[str]], None] = lambda _: None,
    carried: Carried | None = None,
) -> BatchContext:
    """Return the context of a batch answer over the input of a commit.

    Args:
        sink: the query.
        commit: the commit.
        ranges: the ranges of its scans, left to right.
        lowering: the context of the session.
        notice: takes reasons why rows of a scan may be missing.
        carried: the column that the answer carries.
    """
    pending = list(ranges)

    def changes_of(scan: Scan) -> DataFrame:
        found = _changes(scan, pending.pop(0), lowering)
        notice(found.notices)
        return found.rows

    merged = {
        scan.table.name
        for scan, one in zip(scans(sink.input), ranges, strict=True)
        if len({split.rpartition("/")[0] for split in one}) > 1
    }
    return BatchContext(
        lowering,
        changes_of,
        carried,
        watermark_ms=commit.watermark_ms if _waits(sink) else None,
        merged=lambda scan: scan.table.name in merged,
    )


def found_side(
    sink: Sink, commit: Commit, lowering: LoweringContext, since: Mapping[Split, int] | None = None
) -> Side:
    """Return the rows that the sink has at a commit.

    Args:
        sink: the query.
        commit: the commit.
        lowering: the context of the session.
        since: earlier ends of the sink; only rows that were written since then are returned.

    Raises:
        StreamtableError: MOMENT_LOST for a topic whose first records are deleted.
    """
    fields, mode = compared_fields(sink), sink.table.connector.writes
    key = compared_key(sink)
    wanted = ReadRequest(fields, last_only=bool(key))
    source = lowering.source_of(sink.table)
    found = source.stored_between(wanted, sink_ranges(commit, since), lowering, committed=True)
    rows = found.rows if mode.is_append else content(found.rows, fields, key)
    # An append-only topic is read as a whole: compaction would be a loss.
    return Side(_plain(rows, fields), found.notices)


def _tables(
    sink: Sink, ranges: Sequence[Ranges], lowering: LoweringContext
) -> dict[str, DataFrame]:
    """Return the current rows of each table of a query, with all physical columns."""
    pairs = zip(scans(sink.input), ranges, strict=True)
    return {scan.table.name: _table(scan, reached, lowering) for scan, reached in pairs}


def _table(scan: Scan, ranges: Ranges, lowering: LoweringContext) -> DataFrame:
    whole = replace(scan, fields=scan.table.schema.physical)
    changes = _changes(whole, ranges, lowering).rows
    context = BatchContext(lowering, lambda _: changes)
    return answer(whole, context).drop(ROW_KIND_COLUMN)


def _changes(scan: Scan, ranges: Ranges, lowering: LoweringContext) -> StoredChanges:
    fields = without_position(scan.fields)
    last_only = bool(scan.table.schema.primary_key) and not scan.mode.is_append
    wanted = ReadRequest(fields, last_only=last_only and not scan.mode.has_before)
    source = lowering.source_of(scan.table)
    return source.stored_between(wanted, ranges, lowering, committed=False)


def _waits(sink: Sink) -> bool:
    return any(node.waits for node in every(sink.input))


def _plain(rows: DataFrame, fields: Sequence[Field]) -> DataFrame:
    return rows.where(_KEPT).selectExpr(*(quote(f.name) for f in fields))


def reasons_of(doubts: Sequence[Doubt]) -> list[str]:
    """Return the reasons of the doubts that apply to this input."""
    return [
        f"{doubt.node.described}: {doubt.reason}"
        for doubt in doubts
        if doubt.cases is None or not doubt.cases.isEmpty()
    ]
