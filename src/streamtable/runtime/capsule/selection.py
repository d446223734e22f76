"""The input records that decide about one key, and the records of the key in the sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.connector_api.stored import RECORD
from streamtable.core.types import quote
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import Scan, scans
from streamtable.runtime.capsule.file import RawRecord
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.ranges import Ranges, ranges_of
from streamtable.runtime.proof.sides import sink_ranges
from streamtable.runtime.proof.written import positions_in_sink
from streamtable.runtime.why.key import known_columns
from streamtable.runtime.why.records import StoredRecords
from streamtable.runtime.why.rows import KeyRows
from streamtable.runtime.why.trace import Pin, below, condition_of, gives_join_keys, pins_of

#: Maximum number of records of one table in a capsule.
LIMIT = 100_000


class TooManyRecordsError(Exception):
    """A table has more than `LIMIT` records that decide about the key; its name."""


def all_inputs(
    sink: Sink, commit: Commit, lowering: LoweringContext
) -> dict[str, Sequence[RawRecord]]:
    """Return all input records of a query up to a commit, by table.

    Raises:
        TooManyRecordsError: a table has too many.
    """
    ranges = _by_table(sink, commit, lowering.bridge)
    tables = {scan.table.name: scan for scan in scans(sink.input)}
    return {name: _raw(scan, ranges[name], None, lowering) for name, scan in tables.items()}


def deciding_inputs(
    sink: Sink, commit: Commit, lowering: LoweringContext, key: str
) -> dict[str, Sequence[RawRecord]]:
    """Return the input records that decide about a key, by table.

    The columns of the key are followed to the scans. A table without any of them, or whose rows are
    ranked with rows of other keys, gives all its records. A row of a table with a primary key
    gives all its versions, because an earlier one may have had another key.

    Args:
        sink: the query.
        commit: the commit that ends the input.
        lowering: the context of the session.
        key: the key as JSON.

    Raises:
        TooManyRecordsError: a table has too many.
    """
    tables = list(scans(sink.input))
    read = ranges_of(sink, commit, lowering.bridge)
    stored = StoredRecords(tables, read, lowering, lambda _: None)
    waits = any(node.waits for node in every(sink.input))
    rows = KeyRows(stored, lowering, 1, commit.watermark_ms if waits else None)
    found: dict[str, DataFrame] = {}
    scan_of: dict[str, Scan] = {}
    try:
        for scan, pins in _reached(
            sink.input, pins_of(known_columns(key, sink.input.fields)), rows
        ):
            name = scan.table.name
            positions = _kept(scan, pins, stored).select(*ORDER_COLUMNS)
            found[name] = found[name].union(positions) if name in found else positions
            scan_of[name] = scan
        ranges = _by_table(sink, commit, lowering.bridge)
        return {
            name: _raw(scan_of[name], ranges[name], positions.distinct(), lowering)
            for name, positions in found.items()
        }
    finally:
        stored.close()


def target_records(
    sink: Sink, commit: Commit, lowering: LoweringContext, key: str
) -> Sequence[RawRecord]:
    """Return the records of a key in the sink of a query."""
    positions = positions_in_sink(sink, commit, lowering, key)
    source = lowering.source_of(sink.table)
    frame = source.records_between(sink_ranges(commit), lowering, committed=True)
    return _collected(frame, positions)


def _by_table(sink: Sink, commit: Commit, bridge: Bridge) -> Mapping[str, Ranges]:
    pairs = zip(scans(sink.input), ranges_of(sink, commit, bridge), strict=True)
    return {scan.table.name: ranges for scan, ranges in pairs}


def _reached(
    node: Node, pins: Sequence[Pin], rows: KeyRows
) -> Iterator[tuple[Scan, Sequence[Pin]]]:
    """Yield each scan of a tree with the pins that reach it, also through the keys of joins."""
    if isinstance(node, Scan):
        yield node, pins
        return
    found: list[Sequence[Pin]] = [each.pins for each in below(node, pins)]
    if isinstance(node, PairNode):
        first = 0 if found[0] or not found[1] else 1
        other = 1 - first
        if found[first] and not gives_join_keys(node, found[other], other):
            pin = rows.matches(node, first, found[first])
            found[other] = (*found[other], *([pin] if pin else []))
    for child, reached in zip(node.inputs, found, strict=True):
        yield from _reached(child, reached, rows)


def _kept(scan: Scan, pins: Sequence[Pin], stored: StoredRecords) -> DataFrame:
    """Return the changes of a scan that decide about the values of the pins."""
    changes = stored.changes(scan)
    condition = condition_of([pin for pin in pins if pin.exact])
    key = scan.table.schema.primary_key
    if condition is None:
        return changes
    if scan.mode.is_append or not key:
        return changes.where(condition)
    named = [f"{quote(name)} AS __key_{place}" for place, name in enumerate(key)]
    keys = changes.where(condition).selectExpr(*named).distinct()
    same = " AND ".join(f"{quote(name)} <=> __key_{place}" for place, name in enumerate(key))
    return changes.join(keys, F.expr(same), "left_semi")


def _raw(
    scan: Scan, ranges: Ranges, positions: DataFrame | None, lowering: LoweringContext
) -> Sequence[RawRecord]:
    source = lowering.source_of(scan.table)
    frame = source.records_between(ranges, lowering, committed=False)
    found = _collected(frame, positions)
    if len(found) > LIMIT:
        raise TooManyRecordsError(scan.table.name)
    return found


def _collected(records: DataFrame, positions: DataFrame | None) -> Sequence[RawRecord]:
    """Collect the records of some positions; one more than the limit shows that there are more."""
    if positions is not None:
        partition, offset = ORDER_COLUMNS
        same = F.expr(f"partition = {partition} AND offset = {offset}")
        records = records.join(positions, same, "left_semi")
    columns = (f"unix_millis({n}) AS {n}" if n == "timestamp" else n for n in RECORD)
    found = map(_record, records.selectExpr(*columns).limit(LIMIT + 1).collect())
    return sorted(found, key=lambda one: (one.topic, one.partition, one.offset))


def _record(row: Row) -> RawRecord:
    headers = row["headers"]
    if headers is not None:
        headers = [(header["key"], _bytes(header["value"])) for header in headers]
    position = (row["topic"], row["partition"], row["offset"])
    sides = (_bytes(row["key"]), _bytes(row["value"]))
    return RawRecord(*position, row["timestamp"], row["timestampType"], *sides, headers)


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
