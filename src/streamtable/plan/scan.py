"""A table in FROM -> its scan, with metadata cast and computed columns added."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import MetadataColumn, PhysicalColumn, Table
from streamtable.core.types import TIMESTAMPS, Field
from streamtable.plan.binding.moments import micros
from streamtable.plan.expressions import Binder, Input, explicit_cast
from streamtable.plan.relation import Relation, bound_field, project
from streamtable.plan.source_nodes import Scan
from streamtable.plan.time_nodes import WatermarkAssigner


def plan_scan(table: Table) -> Relation:
    """Every column of a table, in its declared order.

    A metadata column comes in the connector's type and is cast to its own; a computed column is
    bound over the others. The watermark is checked here; operators that wait for it read it from
    the table.
    """
    connector = table.connector
    fields = tuple(
        Field(c.name, connector.metadata_type(c.key) if isinstance(c, MetadataColumn) else c.type)
        for c in table.schema.columns
        if isinstance(c, PhysicalColumn | MetadataColumn)
    )
    declared = {f.name: f.type for f in table.schema.stored}
    stored = project(
        Scan(table, fields),
        [(f.name, explicit_cast(bound_field(f), declared[f.name])) for f in fields],
    )
    bound = {c.name: bound_field(c.field) for c in stored.columns}
    binder = Binder(Input(stored.columns))
    for column in table.schema.computed:
        bound[column.name] = binder.bind(column.expression)
    relation = project(stored.node, [(c.name, bound[c.name]) for c in table.schema.columns])
    return _with_watermark(table, relation)


def _with_watermark(table: Table, relation: Relation) -> Relation:
    """The rows under a `WatermarkAssigner`, where the table declares one.

    Its column and expression are timestamps, as Flink demands.

    Flink also demands at most three fractional digits; its own pageviews example declares six, so
    six are taken here.
    """
    watermark = table.schema.watermark
    if watermark is None:
        return relation
    column = next(c for c in relation.columns if c.name == watermark.column)
    expression = Binder(Input(relation.columns)).bind(watermark.expression)
    checked = ((f"column '{column.name}'", column.field.type), ("its expression", expression.type))
    for what, kind in checked:
        if kind.root not in TIMESTAMPS:
            raise StreamtableError(
                Condition.INVALID_WATERMARK,
                at=watermark.at,
                table=table.name,
                reason=f"{what} is {kind.with_nullable(True)}, not a TIMESTAMP or TIMESTAMP_LTZ",
                hint="compute a column with TO_TIMESTAMP(...) and put the watermark on that",
            )
    node = WatermarkAssigner(
        relation.node, column.field.name, micros(expression), expression.fields, table.name
    )
    return Relation(node, relation.columns)
