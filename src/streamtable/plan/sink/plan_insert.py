"""Plan INSERT statements: plan the query, cast to the sink's columns, infer row kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.catalog.catalog import Catalog
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.options import Settings
from streamtable.core.settings.execution import EXECUTION_MODE, ExecutionMode
from streamtable.core.settings.table import (
    CDC_DUPLICATES,
    DYNAMIC_TABLE_OPTIONS,
    UPSERT_MATERIALIZE,
    reuses_sources,
)
from streamtable.core.table import Table
from streamtable.core.types import Field
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.binding.expressions import Bound, implicit_cast
from streamtable.plan.binding.literals import literal
from streamtable.plan.query.hints import with_options
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.query.relation import Relation, bound_field, project
from streamtable.plan.rank.numbering import with_numbering
from streamtable.plan.rows.grouping import with_grouping_values
from streamtable.plan.rules.changelog_mode import infer
from streamtable.plan.rules.event_time import with_event_time
from streamtable.plan.rules.merge_projections import merge_projections
from streamtable.plan.rules.prune_columns import prune_columns
from streamtable.plan.rules.read_parts import read_parts
from streamtable.plan.rules.state_ttl import with_state_ttl
from streamtable.plan.sink.conflicts import materialized, without_conflicts
from streamtable.plan.sink.sink import ScanReuse, Sink
from streamtable.plan.source.metadata_columns import written_metadata
from streamtable.sql.place import place_of
from streamtable.sql.statements.model import Insert


def plan_insert(insert: Insert, catalog: Catalog, settings: Settings) -> Sink:
    """Plan one INSERT up to lowering.

    Args:
        insert: the statement.
        catalog: the tables and views that the statement may use.
        settings: the settings in force at the statement.

    Raises:
        StreamtableError: an error of the query, the sink's columns or the row kinds, with its place
            in the script.
    """
    at = insert.target_at or insert.at
    allowed = settings[DYNAMIC_TABLE_OPTIONS]
    declared = catalog.find_table(insert.target, at)
    table = with_options(declared, insert.hints, catalog, allowed=allowed)
    table.connector.check_sink()
    catalog.check_written(table, at)
    query = QueryPlanner(catalog, options_hints=allowed).plan(insert.query, whole=True)
    query = replace(query, node=with_numbering(query.node))
    wanted = _written_columns(insert, table)
    fitted = _fit(query, wanted, insert, table)
    not_null = tuple(
        to.name
        for to, given in zip(wanted, query.columns, strict=True)
        if not to.type.nullable and given.field.type.nullable
    )
    sink = Sink(
        input=fitted.node,
        table=table,
        settings=settings,
        not_null=not_null,
        at=at,
        scan_reuse=_scan_reuse(settings),
    )
    materialize = materialized(insert.on_conflict, table, settings[UPSERT_MATERIALIZE])
    timed = merge_projections(with_event_time(sink))
    timed = without_conflicts(timed, insert.on_conflict)
    inferred = infer(
        replace(timed, input=with_grouping_values(timed.input)),
        duplicates=settings[CDC_DUPLICATES],
        materialize=materialize,
    )
    return read_parts(prune_columns(with_state_ttl(inferred, settings)))


def _scan_reuse(settings: Settings) -> ScanReuse:
    if not reuses_sources(settings):
        return ScanReuse.NEVER
    in_batches = settings[EXECUTION_MODE] is ExecutionMode.MICRO_BATCH
    return ScanReuse.ALWAYS if in_batches else ScanReuse.IN_BOTH_MODES


def _written_columns(insert: Insert, table: Table) -> tuple[Field, ...]:
    """Return the sink's columns that the query writes, in the query's order."""
    persisted = {f.name: f for f in table.schema.persisted}
    written_metadata(table)  # refuses read-only metadata
    for name in (*insert.columns, *insert.partition):
        if name not in persisted:
            raise StreamtableError(
                Condition.UNKNOWN_COLUMN,
                at=insert.target_at,
                column=name,
                hint=closest(name, persisted) or f"{table.name} has no such column to write",
            )
    _check_partition(insert, table)
    if not insert.columns:
        return tuple(f for f in persisted.values() if f.name not in insert.partition)
    _check_left_out(insert, persisted)
    return tuple(persisted[name] for name in insert.columns)


def _check_partition(insert: Insert, table: Table) -> None:
    """Check that the columns of PARTITION are partition columns of the table, as Flink does."""
    for name, value in insert.partition.items():
        if name not in table.schema.partition_keys:
            raise StreamtableError(
                Condition.INVALID_PARTITIONS,
                at=place_of(value),
                hint=f"select the value of '{name}' in the query",
                table=table.name,
                reason=f"it lacks column '{name}', for which PARTITION has a value",
            )


def _check_left_out(insert: Insert, persisted: Mapping[str, Field]) -> None:
    """Check that columns are given once, and that omitted columns are nullable."""
    given = (*insert.columns, *insert.partition)
    twice = next((n for n in given if given.count(n) > 1), None)
    if twice is not None:
        raise StreamtableError(
            Condition.DUPLICATE_COLUMN,
            at=insert.target_at,
            column=twice,
            table=f"INSERT INTO {insert.target[-1]}",
        )
    for name, field in persisted.items():
        if name not in given and not field.type.nullable:
            raise StreamtableError(
                Condition.NULL_IN_NOT_NULL_COLUMN,
                at=insert.target_at,
                reason=f"column '{name}' is {field.type}, and INSERT INTO does not list it",
                hint="list it, and select a value for it",
            )


def _fit(query: Relation, wanted: tuple[Field, ...], insert: Insert, table: Table) -> Relation:
    """Cast the query's columns to the sink's by position, implicitly as in Flink."""
    if len(query.columns) != len(wanted):
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=insert.target_at,
            table=f"INSERT INTO {table.name}",
            expected=len(wanted),
            columns=f" ({', '.join(f.name for f in wanted)})",
            found=len(query.columns),
        )
    by_name = {}
    for to, given in zip(wanted, query.columns, strict=True):
        cast = implicit_cast(bound_field(given.field), to.type)
        if cast is None:
            raise StreamtableError(
                Condition.COLUMN_TYPE_MISMATCH,
                at=insert.target_at,
                hint=f"write CAST(... AS {to.type.with_nullable(True)}) in the query",
                column=to.name,
                table=table.name,
                expected=to.type.with_nullable(True),
                found=given.field.type.with_nullable(True),
            )
        by_name[to.name] = (to, cast)
    for field in table.schema.persisted:
        value = insert.partition.get(field.name)
        if value is not None:
            constant = literal(value, place_of(value))
            by_name[field.name] = (field, explicit_cast(constant, field.type))
        elif field.name not in by_name:
            null = Bound(f"CAST(NULL AS {field.type.spark_sql()})", field.type)
            by_name[field.name] = (field, null)
    ordered = [by_name[f.name] for f in table.schema.persisted]
    return project(query.node, [(to.name, cast) for to, cast in ordered])
