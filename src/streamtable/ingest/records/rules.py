"""Rules of a job file for the records of a table: key, columns, topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from streamtable.connectors.mysql_cdc.reader import TableId, Tables, TableSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.columns import ColumnLists
from streamtable.ingest.file.options import DropBehavior, SchemaBehavior
from streamtable.ingest.file.routes import Route, topics_of
from streamtable.ingest.file.transforms import Transform, transform_of
from streamtable.ingest.records.encoding import Constant, Hole, Place
from streamtable.ingest.records.known import KnownTable
from streamtable.ingest.records.programs import Programs
from streamtable.plan.transform import Computed

#: Metadata columns of Flink CDC's *Transform* page that identify a row's table.
TABLE_METADATA: Mapping[str, Callable[[TableId], str]] = {
    "__namespace_name__": lambda _: "",
    "__schema_name__": lambda table: table.database,
    "__table_name__": lambda table: table.table,
}


@dataclass(frozen=True)
class RecordRules:
    """The job file's settings for records.

    Attributes:
        selected: the tables that the job copies.
        programs: the expressions of transforms, bound to the tables' columns.
        reads_op_ts: whether transforms may name the metadata column `op_ts`.
        known: the tables that the job copies or has copied.
        add_table_id: whether records have headers with the names of their table.
    """

    selected: Tables
    routes: tuple[Route, ...]
    transforms: tuple[Transform, ...]
    columns: ColumnLists
    behavior: SchemaBehavior
    on_truncate: DropBehavior
    on_drop: DropBehavior
    add_table_id: bool
    tinyint1_is_boolean: bool
    ignore_keyless: bool
    known: Mapping[TableId, KnownTable] = field(default_factory=dict)
    programs: Programs = field(default_factory=Programs)
    reads_op_ts: bool = False


def key_names(table: TableSchema, transforms: Iterable[Transform]) -> tuple[str, ...]:
    """Return the columns of the record's key; empty if the table has none."""
    transform = transform_of(table.id, transforms)
    return transform.primary_keys if transform and transform.primary_keys else table.primary_key


def available_columns(table: TableSchema, rules: RecordRules) -> list[tuple[str, int | None]]:
    """Return the columns before a projection: name and position in the row; None is null.

    Column lists apply first, then `schema.change.behavior`.
    """
    there = [
        (column.name, place)
        for place, column in enumerate(table.columns)
        if rules.columns.copies(table.id, column.name)
    ]
    known = rules.known.get(table.id)
    if known is None or rules.behavior not in (SchemaBehavior.LENIENT, SchemaBehavior.IGNORE):
        return [*there]
    places = dict(there)
    kept: list[tuple[str, int | None]] = [(name, places.get(name)) for name in known.columns]
    if rules.behavior is SchemaBehavior.LENIENT:
        kept += [(name, place) for name, place in there if name not in known.columns]
    return kept


def chosen_columns(
    table: TableSchema, rules: RecordRules, transform: Transform | None
) -> list[tuple[str, Place]]:
    """Return the columns of the value: name and origin.

    A column that the projection names replaces a column of `*` with the same name.
    """
    found = available_columns(table, rules)
    if transform is None or transform.query is None:
        return [*found]
    by_name = dict(found)
    given = {item.name for item in transform.query.items}
    chosen: list[tuple[str, Place]] = []
    for item in transform.query.items:
        if isinstance(item, Computed):
            chosen.append((item.name, Hole()))
        elif item.column == "*":
            chosen += [(name, place) for name, place in found if name not in given]
        elif item.column in by_name:
            chosen.append((item.name, by_name[item.column]))
        elif item.column in TABLE_METADATA:
            chosen.append((item.name, Constant(TABLE_METADATA[item.column](table.id))))
        else:
            raise StreamtableError(
                Condition.UNKNOWN_COLUMN,
                at=transform.at,
                column=item.column,
                hint=f"table {table.id} has {', '.join(by_name)}",
            )
    return chosen


def is_shared(topic: str, table: TableId, rules: RecordRules) -> bool:
    """Return whether rows of other tables than `table` may go to one of its topics."""
    routes = rules.routes
    if any(r.collects and r.pattern.matches(table) and r.target(table) == topic for r in routes):
        return True
    sources = sum(route.may_target(topic) for route in routes)
    return sources + sum(1 for _ in _unrouted(topic, rules)) > 1


def _unrouted(topic: str, rules: RecordRules) -> Iterator[TableId]:
    """Yield the tables without a route whose name is a topic's; both names may have dots."""
    for dot, sign in enumerate(topic):
        table = TableId(topic[:dot], topic[dot + 1 :])
        if sign != "." or not rules.selected(table):
            continue
        if not any(route.pattern.matches(table) for route in rules.routes):
            yield table


def shared_topics(tables: Iterable[TableId], rules: RecordRules) -> Iterator[str]:
    """Yield a line for each shared topic in which TRUNCATE and DROP cannot separate tables."""
    if rules.add_table_id or DropBehavior.TOMBSTONE not in (rules.on_truncate, rules.on_drop):
        return
    found = {
        topic
        for table in tables
        for topic in topics_of(table, rules.routes)
        if is_shared(topic, table, rules)
    }
    for topic in sorted(found):
        yield (
            f"topic '{topic}' may hold rows of several tables: TRUNCATE and DROP leave them there;"
            " sink.add-tableId-to-header-enabled: true tells them apart"
        )
