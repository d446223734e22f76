"""Plan a table in FROM: the scan, casts of metadata columns, and computed columns."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import MetadataColumn, PhysicalColumn, Table, Watermark
from streamtable.core.types import INTEGERS, TIMESTAMPS, DataType, Field, quote
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.moments import micros
from streamtable.plan.query.relation import Relation, bound_field, project
from streamtable.plan.source.metadata_columns import read_metadata
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.watermark import WatermarkAssigner


def plan_scan(table: Table) -> Relation:
    """Plan the scan of a table with every column, in declared order.

    A metadata column is cast from the connector's type to its declared type. A computed column is
    bound over the other columns. The watermark is checked here. Operators that wait for the
    watermark read it from the table.

    Raises:
        StreamtableError: a column or the watermark is wrong.
    """
    connector = table.connector
    fields = tuple(
        Field(c.name, connector.metadata_type(c.key) if isinstance(c, MetadataColumn) else c.type)
        for c in table.schema.columns
        if isinstance(c, PhysicalColumn | MetadataColumn)
    )
    metadata = {c.name: c for c in table.schema.metadata}
    stored = project(
        Scan(table, fields),
        [
            (
                f.name,
                read_metadata(metadata[f.name], table) if f.name in metadata else bound_field(f),
            )
            for f in fields
        ],
    )
    bound = {c.name: bound_field(c.field) for c in stored.columns}
    binder = Binder(Input(stored.columns))
    for column in table.schema.computed:
        bound[column.name] = binder.bind(column.expression)
    relation = project(stored.node, [(c.name, bound[c.name]) for c in table.schema.columns])
    return _with_watermark(table, relation)


def _with_watermark(table: Table, relation: Relation) -> Relation:
    """Add a `WatermarkAssigner` if the table declares a watermark.

    The watermark's column and expression must be timestamps, as in Flink. Flink also requires at
    most three fractional digits. Its own pageviews example declares six, so six are accepted here.
    """
    watermark = table.schema.watermark
    if watermark is None:
        return relation
    column = next(c for c in relation.columns if c.name == watermark.column)
    _check_time(table, watermark, column, f"column '{column.name}'", column.field.type)
    expression = Binder(Input(relation.columns)).bind(watermark.expression)
    _check_time(table, watermark, column, "its expression", expression.type)
    reason = None
    if column.time_attribute == "proc":
        reason = f"column '{column.name}' is the processing time, which needs no watermark"
    elif expression.type.root is not column.field.type.root:
        kinds = [kind.with_nullable(True) for kind in (column.field.type, expression.type)]
        reason = f"column '{column.name}' is {kinds[0]}, and its expression {kinds[1]}"
    if reason is not None:
        raise StreamtableError(
            Condition.INVALID_WATERMARK,
            at=watermark.at,
            table=table.name,
            reason=reason,
            hint="put it on a column that the records bring, by an expression of the same type",
        )
    node = WatermarkAssigner(
        relation.node, column.field.name, micros(expression), expression.fields, table.name
    )
    return Relation(node, relation.columns)


def _check_time(
    table: Table, watermark: Watermark, column: InputField, what: str, kind: DataType
) -> None:
    """Raise INVALID_WATERMARK, with the function that converts the column, for another type."""
    if kind.root in TIMESTAMPS:
        return
    name = quote(column.name)
    epoch = column.field.type.root in INTEGERS
    time = f"TO_TIMESTAMP_LTZ({name}, 3)" if epoch else f"TO_TIMESTAMP({name})"
    raise StreamtableError(
        Condition.INVALID_WATERMARK,
        at=watermark.at,
        table=table.name,
        reason=f"{what} is {kind.with_nullable(True)}, not a TIMESTAMP or TIMESTAMP_LTZ",
        hint=f"add a column ts AS {time} and a WATERMARK FOR ts",
    )
