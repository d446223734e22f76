"""Plan a SELECT whose changes are displayed."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtable.catalog.catalog import Catalog
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.table import CDC_DUPLICATES, DYNAMIC_TABLE_OPTIONS
from streamtable.core.types import BYTES_ROOTS, INT, STRING, Field, Root, map_of
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.cast_text import to_text
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.query.relation import bound_field, project
from streamtable.plan.rank.numbering import with_numbering
from streamtable.plan.rows.grouping import with_grouping_values
from streamtable.plan.rules.changelog_mode import infer_changes
from streamtable.plan.rules.event_time import with_event_time
from streamtable.plan.rules.merge_projections import merge_projections
from streamtable.plan.rules.prune_columns import prune_columns
from streamtable.plan.rules.read_parts import read_parts
from streamtable.plan.rules.state_ttl import with_state_ttl
from streamtable.plan.sink.sink import Collect


def plan_collect(
    query: exp.Query, at: Span, catalog: Catalog, settings: Settings, *, texts: bool = True
) -> Collect:
    """Plan a displayed query: every change with its row kind.

    Args:
        query: the query.
        at: place of the SELECT.
        catalog: catalog of its tables.
        settings: the settings in force at the statement.
        texts: whether every column is displayed as text; else columns keep their types.

    Raises:
        StreamtableError: an error of the query; NOT_YET for a column that cannot be displayed.
    """
    planner = QueryPlanner(catalog, options_hints=settings[DYNAMIC_TABLE_OPTIONS])
    relation = planner.plan(query, whole=True)
    relation = replace(relation, node=with_numbering(relation.node))
    columns = tuple(Field(c.name, c.field.type) for c in relation.columns)
    value = as_text if texts else _as_value
    values = [(c.name, value(c.name, bound_field(c.field), at)) for c in relation.columns]
    shown = Collect(project(relation.node, values).node, columns, settings, at)
    timed = merge_projections(with_event_time(shown))
    timed = replace(timed, input=with_grouping_values(timed.input))
    changes = infer_changes(timed, duplicates=settings[CDC_DUPLICATES])
    return read_parts(prune_columns(with_state_ttl(changes, settings)))


def as_text(name: str, value: Bound, at: Span) -> Bound:
    """Return a column as text, as Flink prints it; NOT_YET for a type without a text."""
    kind = value.type
    if kind.root is Root.MULTISET and kind.element is not None:
        kind = map_of(kind.element, INT)
    sql = _hexadecimal(value) or (
        # A CAST would print bytes as characters.
        None if kind.holds(*BYTES_ROOTS) else to_text(value.sql, kind)
    )
    if sql is None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what=f"showing column '{name}' of type {value.type.with_nullable(True)}",
            hint="select a CAST or a function of it",
        )
    return derived(sql, STRING, (value,))


def _as_value(name: str, value: Bound, at: Span) -> Bound:
    """Return the column itself, unless Python has no type for it."""
    if value.type.holds(Root.INTERVAL_YEAR_MONTH):
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what=f"column '{name}' of type {value.type.with_nullable(True)} in Python",
            hint="select a CAST to STRING of it",
        )
    return value


def _hexadecimal(value: Bound) -> str | None:
    """Format bytes like Flink, `x'0aff'`."""
    if value.type.root not in BYTES_ROOTS:
        return None
    return f"concat('x\\'', lower(hex({value.sql})), '\\'')"
