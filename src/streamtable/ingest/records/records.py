"""Convert changes of tables into records of topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from streamtable.connectors.mysql_cdc.reader import Change, SchemaChange, TableId, TableSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.options import DropBehavior, SchemaBehavior
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.records.inputs import ComputedRow, ComputedSide, Inputs
from streamtable.ingest.records.planning import input_columns
from streamtable.ingest.records.rules import RecordRules, is_shared
from streamtable.ingest.records.shape import (
    ComputedShape,
    Headers,
    Shape,
    headers_of,
    shape_of,
)
from streamtable.ingest.records.unplanned import unplanned


class Record(NamedTuple):
    """A record of a topic.

    Attributes:
        key: None makes the writer delete every key of the topic; with headers, only the keys whose
            last value has these headers.
        value: None is a tombstone.
        headers: None for none.
        computed: the change from which Spark computes key and value, which are None then.
    """

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers | None
    computed: ComputedRow | None = None


class RecordMaker:
    """Converts the changes that one task reads into records.

    Args:
        rules: the settings of the job.
        tables: finds the current version of a table on the server; None if there is none.
    """

    def __init__(self, rules: RecordRules, tables: Callable[[TableId], TableSchema | None]) -> None:
        self._rules = rules
        self._tables = tables
        self._shapes: dict[int, tuple[TableSchema, Shape | ComputedShape | None]] = {}
        self._inputs: dict[int, tuple[int, Inputs]] = {}

    def records(self, change: Change | SchemaChange) -> Iterator[Record]:
        """Yield the records of a change, in order.

        Raises:
            StreamtableError: SCHEMA_CHANGED if the change must end the job; PRIMARY_KEY_REQUIRED,
                UNKNOWN_COLUMN or INVALID_OPTION for a table that cannot be copied.
        """
        if isinstance(change, SchemaChange):
            return self._schema_change(change)
        return self._row(change)

    def shape(self, table: TableSchema) -> Shape | ComputedShape | None:
        """Return the conversion of a table's rows; None if the table is excluded."""
        known = self._shapes.get(id(table))
        if known is None:
            # The cache also keeps the table object, so that Python does not reuse its id.
            known = self._shapes[id(table)] = (table, shape_of(table, self._rules))
        return known[1]

    def _row(self, change: Change) -> Iterator[Record]:
        shape = self.shape(change.table)
        if shape is None:
            return
        if isinstance(shape, ComputedShape):
            computed = self._computed(shape, change)
            for topic in shape.topics:
                yield Record(topic, None, None, shape.headers, computed)
            return
        after, before = change.after, change.before
        if after is None:
            assert before is not None, "a delete has the row before"  # noqa: S101
            key, value = shape.key.encode(before), None
        else:
            if before is not None and shape.key_of(before) != shape.key_of(after):
                old = shape.key.encode(before)
                for topic in shape.topics:
                    yield Record(topic, old, None, shape.headers)
            key, value = shape.key.encode(after), shape.value.encode(after)
        for topic in shape.topics:
            yield Record(topic, key, value, shape.headers)

    def _computed(self, shape: ComputedShape, change: Change) -> ComputedRow:
        """Return the input of the table's program."""
        known = self._inputs.get(id(change.table))
        if known is None:
            known = self._inputs[id(change.table)] = self._planned(change.table)
        number, inputs = known
        old = new = None
        if (before := change.before) is not None:
            old = ComputedSide(
                shape.key.encode(before), None, inputs.of(change, before, after=False)
            )
        if (after := change.after) is not None:
            key, value = shape.key.encode(after), shape.value.encode(after)
            new = ComputedSide(key, value, inputs.of(change, after, after=True))
        return ComputedRow(number, old, new)

    def _planned(self, table: TableSchema) -> tuple[int, Inputs]:
        """Return the program that takes a version of a table, and its inputs.

        Another program than that of exactly these types may convert the values.
        """
        unfit = StreamtableError(
            Condition.TABLE_UNREADABLE,
            table=table.id,
            reason="the query was planned without its transform",
        )
        known = self._rules.known.get(table.id)
        types = input_columns(known.with_widths(table) if known else table, self._rules).items()
        programs = self._rules.programs.find(table.id)
        for program in sorted(programs, key=lambda p: not types >= set(p.reads)):
            try:
                return program.number, Inputs(table, program, self._tables)
            except StreamtableError as error:
                if error.condition is not Condition.TABLE_UNREADABLE:
                    raise
                unfit = error
        raise unplanned(table, unfit)

    def _schema_change(self, change: SchemaChange) -> Iterator[Record]:
        rules = self._rules
        if change.kind == "database":
            database = change.table.database
            for table in (name for name in rules.known if name.database == database):
                yield from self._schema_change(change._replace(kind="drop", table=table))
            return
        if not rules.selected(change.table):
            return
        if rules.behavior is SchemaBehavior.EXCEPTION and change.kind != "create":
            raise StreamtableError(
                Condition.SCHEMA_CHANGED,
                table=change.table,
                statement=change.statement,
                hint="another 'schema.change.behavior' follows it",
            )
        if change.kind == "truncate":
            option, behavior = "sink.on-truncate", rules.on_truncate
        elif change.kind in ("drop", "rename"):
            option, behavior = "sink.on-drop", rules.on_drop
        elif change.kind == "unlogged":
            # No record tells which keys are gone, so only `fail` has an effect.
            option, behavior = "sink.on-truncate", rules.on_truncate
        else:
            return
        if behavior is DropBehavior.FAIL:
            raise StreamtableError(
                Condition.SCHEMA_CHANGED,
                table=change.table,
                statement=change.statement,
                hint=f"'{option}' says how to go on",
            )
        if behavior is DropBehavior.TOMBSTONE and change.kind != "unlogged":
            names = headers_of(change.table)
            for topic in topics_of(change.table, rules.routes):
                shared = is_shared(topic, change.table, rules)
                if not shared or rules.add_table_id:
                    yield Record(topic, None, None, names if shared else None)
