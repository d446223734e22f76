"""Cases bound to their script: tables, columns and values are checked and converted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Span, StreamtableError, closest
from streamtable.core.settings.job import TIME_ZONE
from streamtable.core.settings.session import zone_named
from streamtable.core.table import MetadataColumn, PhysicalColumn, Table
from streamtable.core.types import TIMESTAMPS, Field, Root
from streamtable.ingest.file.document import Mapped, Node, Text
from streamtable.plan.source.scan import scans
from streamtable.session import Session, fixed_settings
from streamtable.sql.lexer.script import read_script
from streamtable.sqltest.document import Advance, CaseFile, Clock, RawCase, RawRows, invalid
from streamtable.sqltest.model import Batch, Bound, Case, Expected, InputRow, Wanted
from streamtable.sqltest.values import Entries, MisfitError, read_value

#: The clock before the first `advance: {clock: ...}`: 2000-01-01 00:00:00 UTC.
CLOCK_START_MS = 946_684_800_000

_KINDS = {kind.short.lower(): kind for kind in RowKind} | {
    kind.name.lower(): kind for kind in RowKind
}

_OP, _PARTITION, _TIMESTAMP = "op", "partition", "timestamp"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def bind(file: CaseFile) -> Bound:
    """Load the script of a test file and convert the cases.

    Raises:
        StreamtableError: an error of the script, or TEST_FILE_INVALID at a table, column or value.
    """
    for key, (at, value) in file.settings.items():
        try:
            fixed_settings({key: value})
        except StreamtableError as error:
            raise error.located(at) from None
    fixed = fixed_settings({key: value for key, (_, value) in file.settings.items()})
    session = Session(settings=fixed)
    if not file.script.is_file():
        raise invalid(file.script_at, f"script {file.script} does not exist")
    session.load(read_script(file.script), str(file.script), file.variables)
    if not session.plans:
        raise invalid(file.script_at, f"script {file.script} has no INSERT")
    name = session.job_settings[TIME_ZONE]
    try:
        zone: tzinfo = UTC if name == "default" else zone_named(name)
    except (KeyError, ValueError):
        raise invalid(file.script_at, f"time zone '{name}' of the script does not exist") from None
    sources = {scan.table.name: scan.table for plan in session.plans for scan in scans(plan.input)}
    binder = _Binder(session, zone, sources)
    return Bound(file, session, zone, sources, tuple(binder.case(raw) for raw in file.cases))


def input_fields(table: Table) -> tuple[Field, ...]:
    """Return the columns of a scan: metadata columns have the connector's type."""
    return tuple(
        Field(c.name, c.type)
        if isinstance(c, PhysicalColumn)
        else Field(c.name, table.connector.metadata_type(c.key))
        for c in table.schema.columns
        if isinstance(c, PhysicalColumn | MetadataColumn)
    )


@dataclass(frozen=True)
class _Binder:
    session: Session
    zone: tzinfo
    sources: Mapping[str, Table]

    def case(self, raw: RawCase) -> Case:
        expected = []
        for name, (at, wanted) in raw.expect.items():
            table = self._table(name, at, {p.table.name for p in self.session.plans}, "written")
            rows = changes = None
            if wanted.rows is not None:
                rows = self._wanted(table, wanted.rows, kinds=False)
            if wanted.changes is not None:
                changes = self._wanted(table, wanted.changes, kinds=True)
            expected.append(Expected(table, rows, changes))
        return Case(raw.name, raw.at, self._batches(raw), tuple(expected))

    def _batches(self, raw: RawCase) -> tuple[Batch, ...]:
        clock, found = CLOCK_START_MS, []
        offsets: dict[str, int] = {}
        for step in raw.steps:
            if isinstance(step, RawRows):
                rows = {}
                for name, (at, nodes) in step.tables.items():
                    table = self._table(name, at, self.sources, "read")
                    first = offsets.get(table.name, 0)
                    rows[table.name] = tuple(
                        self._input(node, table, clock, first + i) for i, node in enumerate(nodes)
                    )
                    offsets[table.name] = first + len(nodes)
                found.append(Batch(rows, clock))
                continue
            moment = self._moment(step)
            if step.clock is Clock.PROCESSING and moment is not None:
                local = moment if moment.tzinfo else moment.replace(tzinfo=self.zone)
                later = round((local - _EPOCH).total_seconds() * 1000)
                if later < clock and found:
                    raise invalid(step.at, f"the clock goes back to '{step.moment}'")
                clock = later
                found.append(Batch({}, clock))
            else:
                found.append(Batch({}, clock, moment, moment is None))
        return tuple(found)

    @staticmethod
    def _moment(step: Advance) -> datetime | None:
        if step.moment is None:
            return None
        try:
            return datetime.fromisoformat(step.moment)
        except ValueError:
            raise invalid(
                step.at, f"'{step.moment}' is not a time such as '2026-03-01 00:10:00'"
            ) from None

    def _table(self, name: str, at: Span, known: Iterable[str], verb: str) -> Table:
        table = self.session.catalog.find_table(tuple(name.split(".")), at)
        if table.name not in known:
            raise invalid(
                at,
                f"table {name} is not {verb} by the script's INSERTs",
                closest(name, known) or f"they use {', '.join(sorted(known))}",
            )
        return table

    def _input(self, node: Node, table: Table, clock_ms: int, offset: int) -> InputRow:
        row = _row(node, table)
        fields = input_fields(table)
        names = [f.name for f in fields]
        own = [key for key in (_OP, _PARTITION, _TIMESTAMP) if key not in names]
        _check_columns(row, table, [*names, *own, *(f"${key}" for key in _ENVELOPE)])
        kind = self._kind(_envelope(row, _OP, names), table, row.at)
        partition = self._partition(_envelope(row, _PARTITION, names), table)
        stamp = _envelope(row, _TIMESTAMP, names)
        reads = table.connector.reads
        upsert_delete = kind is RowKind.DELETE and not reads.has_before
        values: list[Any] = []
        for field, column in zip(fields, _stored(table), strict=True):
            if upsert_delete and field.name not in table.schema.primary_key:
                if field.name in row.items and isinstance(column, PhysicalColumn):
                    at = row.items[field.name][0]
                    raise invalid(at, f"a delete of upsert table {table.name} has only its key")
                if isinstance(column, PhysicalColumn):
                    values.append(None)
                    continue
            if isinstance(column, MetadataColumn) and field.name not in row.items:
                values.append(
                    self._metadata(column, field, table, (stamp, clock_ms, partition, offset))
                )
                continue
            values.append(self._value(row, field, table))
        return InputRow(kind, tuple(values), partition)

    def _metadata(
        self,
        column: MetadataColumn,
        field: Field,
        table: Table,
        record: tuple[tuple[Span, Node] | None, int, int, int],
    ) -> Any:
        """Return the default of a metadata column."""
        stamp, clock_ms, partition, offset = record
        if column.key == "timestamp" and field.type.root in TIMESTAMPS:
            if stamp is not None:
                return self._read(stamp[1], field, table)
            return datetime.fromtimestamp(clock_ms / 1000, UTC)
        known = {"partition": partition, "offset": offset, "topic": table.name}
        if column.key in known:
            return known[column.key]
        return Entries() if field.type.root is Root.MAP else None

    def _kind(self, given: tuple[Span, Node] | None, table: Table, at: Span) -> RowKind:
        reads = table.connector.reads
        upserts = not reads.is_append and not reads.has_before
        if given is None:
            return RowKind.UPDATE_AFTER if upserts else RowKind.INSERT
        kind = _kind(given)
        if upserts and kind is RowKind.INSERT:
            return RowKind.UPDATE_AFTER
        if kind not in reads.kinds:
            takes = ", ".join(k.short for k in sorted(reads.kinds))
            raise invalid(
                given[0] or at, f"table {table.name} has no {kind.short}", f"it has {takes}"
            )
        return kind

    @staticmethod
    def _partition(given: tuple[Span, Node] | None, table: Table) -> int:
        if given is None:
            return 0
        text = given[1].text if isinstance(given[1], Text) else None
        if text is None or not text.isdecimal() or int(text) >= _PARTITIONS:
            raise invalid(
                given[0], f"the partition of a row of {table.name} is not a number", "count from 0"
            )
        return int(text)

    def _wanted(self, table: Table, nodes: Sequence[Node], *, kinds: bool) -> Wanted:
        fields = table.schema.persisted
        names = [f.name for f in fields]
        rows = [_row(node, table) for node in nodes]
        for row in rows:
            _check_columns(row, table, [*names, f"${_OP}", *([_OP] if _OP not in names else [])])
            if not kinds and _envelope(row, _OP, names) is not None:
                raise invalid(
                    row.at, f"a row of {table.name} has 'op'", "write it below 'changes:'"
                )
            if kinds and _envelope(row, _OP, names) is None:
                raise invalid(
                    row.at, f"a change of {table.name} lacks 'op'", "write +I, -U, +U or -D"
                )
        used = {name for row in rows for name in row.items}
        columns = tuple(i for i, name in enumerate(names) if name in used)
        found = []
        for row in rows:
            given = _envelope(row, _OP, names)
            kind = RowKind.INSERT if given is None else _kind(given)
            values = (
                self._read(row.items[names[i]][1], _nullable(fields[i]), table)
                if names[i] in row.items
                else None
                for i in columns
            )
            found.append((kind, tuple(values)))
        return Wanted(columns, tuple(found))

    def _value(self, row: Mapped, field: Field, table: Table) -> Any:
        _, node = row.items.get(field.name, (row.at, Text(None, row.at)))
        return self._read(node, field, table)

    def _read(self, node: Node, field: Field, table: Table) -> Any:
        try:
            return read_value(node, field.type, self.zone)
        except MisfitError as error:
            raise invalid(
                error.at, f"column '{field.name}' of table {table.name} is {error}"
            ) from None


_ENVELOPE = (_OP, _PARTITION, _TIMESTAMP)
_PARTITIONS = 1_000


def _nullable(field: Field) -> Field:
    return Field(field.name, field.type.with_nullable(True))


def _stored(table: Table) -> list[PhysicalColumn | MetadataColumn]:
    columns = table.schema.columns
    return [c for c in columns if isinstance(c, PhysicalColumn | MetadataColumn)]


def _row(node: Node, table: Table) -> Mapped:
    if not isinstance(node, Mapped):
        raise invalid(node.at, f"a row of {table.name} is not a mapping of columns to values")
    return node


def _check_columns(row: Mapped, table: Table, known: Sequence[str]) -> None:
    for name, (at, _) in row.items.items():
        if name not in known:
            hint = closest(name, known) or f"its columns are {', '.join(known)}"
            raise invalid(at, f"table {table.name} has no column '{name}'", hint)


def _envelope(row: Mapped, key: str, names: Sequence[str]) -> tuple[Span, Node] | None:
    """Return `op`, `partition` or `timestamp`; with a column of the name only the `$` form."""
    if f"${key}" in row.items:
        return row.items[f"${key}"]
    return None if key in names else row.items.get(key)


def _kind(given: tuple[Span, Node]) -> RowKind:
    at, node = given
    text = node.text if isinstance(node, Text) else None
    kind = _KINDS.get((text or "").lower())
    if kind is None:
        raise invalid(at, f"'op' is '{text}'", "write +I, -U, +U or -D")
    return kind
