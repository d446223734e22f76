"""Plan a read of one table at a moment of its history: a scan, then projections and filters."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtable.catalog.catalog import Catalog
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.table import DYNAMIC_TABLE_OPTIONS
from streamtable.core.types import Field
from streamtable.plan.node import Node
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.query.relation import bound_field, project
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.merge_projections import merge_projections
from streamtable.plan.rules.prune_columns import prune_columns
from streamtable.plan.rules.tree import rebuilt
from streamtable.plan.sink.plan_collect import as_text
from streamtable.plan.sink.sink import Collect
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.watermark import WatermarkAssigner


@dataclass(frozen=True)
class TableRead:
    """A read of one table.

    Attributes:
        scan: the columns of the table that the read needs.
        calcs: projections and filters over the scan, from the lowest up.
        columns: names and types of the result; the names are unique.
        texts: Spark SQL of each column as text, as Flink prints it.
        volatile: columns that are computed anew in each read, such as the processing time.
        at: place of the query.
    """

    scan: Scan
    calcs: tuple[Calc, ...]
    columns: tuple[Field, ...]
    texts: tuple[str, ...]
    volatile: frozenset[str] = frozenset()
    at: Span | None = None


def plan_read(query: exp.Query, at: Span, catalog: Catalog, settings: Settings) -> TableRead:
    """Plan a query that reads one table row by row.

    Raises:
        StreamtableError: an error of the query; NOT_YET for a query with an operator that combines
            rows, or for a column that cannot be displayed.
    """
    planner = QueryPlanner(catalog, options_hints=settings[DYNAMIC_TABLE_OPTIONS])
    relation = planner.plan(query, whole=True)
    outputs = [(c.name, bound_field(c.field)) for c in relation.columns]
    volatile = [c.time_attribute == "proc" for c in relation.columns]
    shown = project(relation.node, outputs).node
    node = rebuilt(shown, lambda n: n.input if isinstance(n, WatermarkAssigner) else n)
    plan = prune_columns(merge_projections(Collect(node, shown.fields, settings, at)))
    scan, calcs = _chain(plan.input, at)
    fields = plan.input.fields
    return TableRead(
        scan,
        calcs,
        fields,
        tuple(as_text(f.name, bound_field(f), at).sql for f in fields),
        frozenset(f.name for f, changes in zip(fields, volatile, strict=True) if changes),
        at,
    )


def _chain(node: Node, at: Span) -> tuple[Scan, tuple[Calc, ...]]:
    calcs: list[Calc] = []
    while isinstance(node, Calc):
        calcs.insert(0, node)
        node = node.input
    if isinstance(node, Scan):
        return node, tuple(calcs)
    raise StreamtableError(
        Condition.NOT_YET,
        at=at,
        what=f"{node.title} in a read at a moment, which reads the rows of one table,",
        hint="read the table, and combine its rows with Spark",
    )
