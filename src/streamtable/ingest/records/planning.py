"""Bind the expressions of transforms to the columns of tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamtable.connectors.mysql_cdc.reader import TableId, TableSchema
from streamtable.core import types
from streamtable.core.types import DataType
from streamtable.ingest.file.transforms import DATA_EVENT_TYPE, OP_TS, Transform, transform_of
from streamtable.ingest.records.encoding import topic_type
from streamtable.ingest.records.programs import Program, Programs, new_name, old_name
from streamtable.ingest.records.rules import (
    TABLE_METADATA,
    RecordRules,
    available_columns,
    key_names,
)
from streamtable.plan.transform import BoundTransform, InputColumn, TransformQuery, bind_transform


def plan_programs(tables: Iterable[TableSchema], rules: RecordRules) -> Programs:
    """Return the programs of tables: one for all tables with the same transform and input types.

    Args:
        tables: the tables; several versions of one may follow each other.
        rules: the rules for records.

    Raises:
        StreamtableError: UNKNOWN_COLUMN or another error of an expression, at the job file's key.
    """
    programs: dict[tuple[object, ...], Program] = {}
    of: dict[TableId, tuple[int, ...]] = {}
    for table in tables:
        transform = transform_of(table.id, rules.transforms)
        if transform is None or transform.query is None or not transform.computes:
            continue
        known = rules.known.get(table.id)
        version = known.with_widths(table) if known else table
        query, reads = transform.query, _reads(version, rules, transform)
        computed = [item.name for item in query.computed]
        names = key_names(table, rules.transforms)
        key = tuple(computed.index(name) for name in names if name in computed)
        signature = (rules.transforms.index(transform), reads, key)
        if signature not in programs:
            number = len(programs)
            old = _bound(query, reads, [old_name(number, i) for i in range(len(reads))])
            new = _bound(query, reads, [new_name(number, i) for i in range(len(reads))])
            programs[signature] = Program(number, reads, old, new, key)
        number = programs[signature].number
        if number not in of.get(table.id, ()):
            of[table.id] = (*of.get(table.id, ()), number)
    return Programs(tuple(programs.values()), of)


def _reads(
    table: TableSchema, rules: RecordRules, transform: Transform
) -> tuple[tuple[str, DataType], ...]:
    """Return name and type of the columns that a table's expressions read."""
    assert transform.query is not None, "the caller has checked it"  # noqa: S101
    columns = input_columns(table, rules)
    given = [InputColumn(name, name, kind) for name, kind in columns.items()]
    bound = bind_transform(transform.query, given)
    return tuple((name, kind) for name, kind in columns.items() if name in bound.reads)


def input_columns(table: TableSchema, rules: RecordRules) -> dict[str, DataType]:
    """Return the columns that expressions may name; nullable, as rows of before may lack them."""
    flag = rules.tinyint1_is_boolean
    found = {
        name: topic_type(table, place, tinyint1_is_boolean=flag).with_nullable(True)
        for name, place in available_columns(table, rules)
        if place is not None
    }
    metadata = dict.fromkeys((*TABLE_METADATA, DATA_EVENT_TYPE), types.STRING.with_nullable(False))
    if rules.reads_op_ts:
        metadata[OP_TS] = types.BIGINT.with_nullable(False)
    return metadata | found


def _bound(
    query: TransformQuery, reads: Sequence[tuple[str, DataType]], names: Sequence[str]
) -> BoundTransform:
    pairs = zip(reads, names, strict=True)
    return bind_transform(query, [InputColumn(name, at, kind) for (name, kind), at in pairs])
