"""Window bounds that an operator computes: milliseconds in its output, timestamps in the plan."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import BIGINT, Field, quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.binding.moments import in_utc
from streamtable.plan.window.fields import Role
from streamtable.plan.window.window import Window
from streamtable.plan.window.window_aggregate import WindowAggregate

#: Bounds of a window, and its last millisecond on the time scale of the watermark.
BOUNDS = tuple(Field(name, BIGINT) for name in ("__start", "__end", "__last"))


def keys_without_window(node: WindowAggregate) -> list[str]:
    """Return the grouping fields of an aggregation without those of the window."""
    return [name for name in node.keys if node.input.window_field(name) is None]


def aggregated_fields(node: WindowAggregate, keys: list[str]) -> tuple[Field, ...]:
    """Return the columns of an operator that computes the bounds: keys, bounds, aggregates."""
    by_name = {f.name: f for f in node.fields}
    return (*(by_name[k] for k in keys), *BOUNDS, *(c.output for c in node.calls))


def with_bounds(rows: DataFrame, node: WindowAggregate) -> DataFrame:
    """Return the fields of an aggregation from the columns of `aggregated_fields`."""
    roles = {name: node.input.window_field(name) for name in node.keys}
    bounds = {name: field.role for name, field in roles.items() if field is not None}
    return named_bounds(rows, node.fields, bounds, node.window)


def named_bounds(
    rows: DataFrame, fields: tuple[Field, ...], bounds: dict[str, Role], window: Window
) -> DataFrame:
    """Return these fields, of which some are bounds, from columns of the names of `BOUNDS`."""
    texts = {
        Role.START: in_utc("timestamp_millis(__start)"),
        Role.END: in_utc("timestamp_millis(__end)"),
        Role.LAST: "timestamp_millis(__last)",
    }
    if not window.local:
        texts[Role.LAST] = in_utc(texts[Role.LAST])
    values = {name: texts[role] for name, role in bounds.items()}
    columns = [f"{values.get(f.name, quote(f.name))} AS {quote(f.name)}" for f in fields]
    return rows.selectExpr(ROW_KIND_COLUMN, *columns)


def zone_of(window: Window, context: LoweringContext) -> str:
    """Return the time zone of the windows; UTC unless their times are local."""
    return str(context.spark.conf.get("spark.sql.session.timeZone")) if window.local else "UTC"
