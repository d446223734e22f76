"""The stored records of the tables of a plan, each with its columns as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.carried import Lineage
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.reading import ReadRequest
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.connector_api.stored import NUMBER_COLUMN, TIME_COLUMN
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.moment import NOW
from streamtable.core.options import Given
from streamtable.core.types import Field, quote
from streamtable.formats.registry import find_format
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.position import without_position
from streamtable.plan.source.scan import Scan
from streamtable.runtime.proof.ranges import Ranges
from streamtable.runtime.stored.read import examined
from streamtable.runtime.why.trace import Pin, condition_of, deciding

#: Type of the records of a row; the first is the newest.
_RECORD = (
    "STRUCT<time: TIMESTAMP, scan: INT, partition: INT, offset: BIGINT, number: INT,"
    " kind: TINYINT, content: STRING>"
)
_SCAN, _CONTENT = "__scan", "__content"

_PLAIN_NUMBERS = {"encode.decimal-as-plain-number": Given("true")}

#: Spark SQL of a record: its parts, newest first as a struct.
RECORD_SQL = (
    f"named_struct('time', {TIME_COLUMN}, 'scan', {_SCAN}, 'partition', {ORDER_COLUMNS[0]},"
    f" 'offset', {ORDER_COLUMNS[1]}, 'number', CAST({NUMBER_COLUMN} AS INT),"
    f" 'kind', {ROW_KIND_COLUMN}, 'content', {_CONTENT})"
)


@dataclass(frozen=True)
class Records(Lineage):
    """The input records of each row, newest first, with their content."""

    column: str = "__records"

    @property
    def constant(self) -> str:
        """No records."""
        return f"CAST(array() AS ARRAY<{_RECORD}>)"

    def of_record(self, scan: int) -> str:
        """Return the record itself; `StoredRecords` numbers the scans."""
        del scan
        return f"CAST(array({RECORD_SQL}) AS ARRAY<{_RECORD}>)"


class StoredRecords:
    """The stored records of the scans of a plan.

    Args:
        scans: the scans; equal scans may occur twice.
        ranges: the offsets of each scan; None to read all records up to now.
        context: the context of the read.
        notice: takes one line for the user.

    Raises:
        StreamtableError: NO_HISTORY for a connector without one; MOMENT_LOST; an error of the
            external system.
    """

    def __init__(
        self,
        scans: Sequence[Scan],
        ranges: Sequence[Ranges] | None,
        context: LoweringContext,
        notice: Notice,
    ) -> None:
        self._numbers: dict[int, int] = {}
        self._scans = list(scans)
        self._frames: dict[int, DataFrame] = {}
        self._cached: list[DataFrame] = []
        distinct = {id(scan): scan for scan in scans}
        told: dict[str, None] = {}
        for found in distinct.values():
            examined(found.table, context, notice)
        for number, scan in enumerate(distinct.values()):
            self._numbers[id(scan)] = number
            fields = _all_columns(scan)
            wanted, source = ReadRequest(fields), source_of(scan.table)
            if ranges is None:
                stored = source.stored(wanted, [NOW], context)
            else:
                reached = next(r for s, r in zip(scans, ranges, strict=True) if s is scan)
                stored = source.stored_between(wanted, reached, context, committed=False)
            told.update(dict.fromkeys(stored.notices))
            content = _content(scan, fields, context.bridge)
            rows = stored.rows.withColumn(_CONTENT, content)
            self._frames[id(scan)] = rows.withColumn(_SCAN, F.expr(str(number)))
        for line in told:
            notice(line)

    def tables(self) -> list[str]:
        """Return the name of the table of each scan, by its number."""
        return [scan.table.name for scan in {id(s): s for s in self._scans}.values()]

    def changes(self, scan: Scan) -> DataFrame:
        """Return the changes of a scan: row kind, fields, order, then the content of the record."""
        return self._frames[id(scan)]

    def matching(self, scan: Scan, pins: Sequence[Pin]) -> DataFrame:
        """Return the changes of a scan with the values of the pins."""
        condition = condition_of(pins)
        changes = self.changes(scan)
        return changes if condition is None else changes.where(condition)

    def narrow(self, scan: Scan, pins: Sequence[Pin]) -> None:
        """Keep only the changes that decide about the rows of a key, in memory or on disk."""
        condition = condition_of(deciding(scan, pins))
        if condition is None or sum(found is scan for found in self._scans) > 1:
            return
        narrowed = self._frames[id(scan)].where(condition).persist()
        self._frames[id(scan)] = narrowed
        self._cached.append(narrowed)

    def close(self) -> None:
        """Release the memory."""
        for frame in self._cached:
            frame.unpersist()


def as_json(fields: Sequence[Field], bridge: Bridge) -> Column:
    """Return a column with the fields as a JSON object, as the format `json` writes it.

    Decimals have no exponent.
    """
    json = find_format("json", "the output", None)
    codec = json.encoder(tuple(fields), json.options.read(_PLAIN_NUMBERS, "the output"))
    row = F.struct(*(F.col(quote(field.name)) for field in fields))
    return F.decode(bridge.encode(codec, row), "UTF-8")


def _all_columns(scan: Scan) -> tuple[Field, ...]:
    """Return the columns that the query reads, and the other columns of key and value."""
    read = without_position(scan.fields)
    names = {field.name for field in read}
    others = (field for field in scan.table.schema.physical if field.name not in names)
    return (*read, *others)


def _content(scan: Scan, fields: Sequence[Field], bridge: Bridge) -> Column:
    """Return the columns of a record as JSON; those of the key for a tombstone."""
    by_name = {field.name: field for field in fields}
    declared = [c.name for c in scan.table.schema.columns if c.name in by_name]
    whole = as_json([by_name[name] for name in declared], bridge)
    key = scan.table.schema.primary_key
    if scan.mode.is_append or scan.mode.has_before or not key:
        return whole
    deletes = F.expr(f"{ROW_KIND_COLUMN} = {RowKind.DELETE.value}")
    return F.when(deletes, as_json([by_name[name] for name in key], bridge)).otherwise(whole)
