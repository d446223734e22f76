"""A SELECT on its own -> a plan whose changes are shown."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtable.catalog.catalog import Catalog
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings import CDC_DUPLICATES, DYNAMIC_TABLE_OPTIONS
from streamtable.core.types import BYTES_ROOTS, INT, STRING, DataType, Field, Root, map_of
from streamtable.plan.binding.bound import Bound, derived
from streamtable.plan.binding.cast_text import to_text
from streamtable.plan.changelog_mode import infer_changes
from streamtable.plan.nodes import Collect
from streamtable.plan.query import QueryPlanner
from streamtable.plan.relation import bound_field, project
from streamtable.plan.rules.event_time import with_event_time
from streamtable.plan.rules.merge_projections import merge_projections
from streamtable.plan.rules.numbering import with_numbering
from streamtable.plan.rules.prune_columns import prune_columns
from streamtable.plan.state_ttl import with_state_ttl


def plan_collect(query: exp.Query, at: Span, catalog: Catalog, settings: Settings) -> Collect:
    """The plan of a query whose rows are shown: every column as text, every change with its kind.

    Raises:
        StreamtableError: whatever is wrong in the query; NOT_YET for a column that cannot be
            shown.
    """
    planner = QueryPlanner(catalog, options_hints=settings[DYNAMIC_TABLE_OPTIONS])
    relation = planner.plan(query)
    relation = replace(relation, node=with_numbering(relation.node))
    columns = tuple(Field(c.name, c.field.type) for c in relation.columns)
    texts = [(c.name, _as_text(c.name, bound_field(c.field), at)) for c in relation.columns]
    shown = Collect(project(relation.node, texts).node, columns, at)
    changes = infer_changes(
        merge_projections(with_event_time(shown)), duplicates=settings[CDC_DUPLICATES]
    )
    return prune_columns(with_state_ttl(changes, settings))


def _as_text(name: str, value: Bound, at: Span) -> Bound:
    kind = value.type
    if kind.root is Root.MULTISET and kind.element is not None:
        kind = map_of(kind.element, INT)
    sql = _hexadecimal(value) or (None if _holds_bytes(kind) else to_text(value.sql, kind))
    if sql is None:
        raise StreamtableError(
            Condition.NOT_YET,
            at=at,
            what=f"showing column '{name}' of type {value.type.with_nullable(True)}",
            hint="select a CAST or a function of it",
        )
    return derived(sql, STRING, (value,))


def _hexadecimal(value: Bound) -> str | None:
    """Bytes as Flink shows them, `x'0aff'`."""
    if value.type.root not in BYTES_ROOTS:
        return None
    return f"concat('x\\'', lower(hex({value.sql})), '\\'')"


def _holds_bytes(kind: DataType | None) -> bool:
    """Whether bytes are inside, which a CAST would show as characters."""
    if kind is None:
        return False
    parts = (kind.element, kind.key, *(f.type for f in kind.fields))
    return kind.root in BYTES_ROOTS or any(map(_holds_bytes, parts))
