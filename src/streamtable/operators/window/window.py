"""Windows: Spark expressions assign rows to windows; Java operators aggregate and rank them."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.settings.table import DISTINCT_BITMAPS
from streamtable.core.types import BIGINT, Field, quote, timestamp
from streamtable.jvm.specs.window import (
    BucketedWindowOperator,
    WindowAggregateOperator,
    WindowTopNOperator,
)
from streamtable.operators.aggregate.group_aggregate import aggregations, folds
from streamtable.operators.context import LoweringContext
from streamtable.operators.rows.kinds import row_kind
from streamtable.operators.schema import changelog_ddl, sort_columns
from streamtable.operators.window.event_times import lateness, required, table_below
from streamtable.plan.aggregate.call import holds_bytes
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.moments import in_utc, micros
from streamtable.plan.window.window import Window, WindowKind
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_table import WindowRows
from streamtable.plan.window.window_top_n import WindowTopN

_LAST = "__last"


def lower_window_table(node: WindowRows, rows: DataFrame, kept: Sequence[str] = ()) -> DataFrame:
    """Emit each row once per window. Times are milliseconds in the time zone of the window.

    Args:
        node: the windowing table function.
        rows: its input.
        kept: additional columns that pass through; they come before the bounds of the window.
    """
    window = node.window
    time = next(f for f in node.input.fields if f.name == node.time)
    moment = micros(Bound(_local(quote(time.name), window), node.fields[-3].type))
    columns = [*(quote(f.name) for f in node.input.fields), *kept]
    millis = f"unix_millis(timestamp_micros({moment}))"
    rows = rows.selectExpr(
        row_kind(node.mode), *columns, f"{required(millis, time.name, table_below(node))} AS __ms"
    )
    first = f"(__ms - pmod(__ms - {window.offset}L, {{}}L))"
    size, step = window.size, window.step
    match window.kind:
        case WindowKind.TUMBLE:
            rows = rows.selectExpr("*", f"{first.format(size)} AS __start")
        case WindowKind.HOP:
            latest = first.format(step)
            most = -(-size // step)
            starts = f"sequence({latest}, {latest} - {(most - 1) * step}L, {-step}L)"
            rows = rows.selectExpr("*", f"explode({starts}) AS __start")
            if size % step:
                rows = rows.where(f"__start + {size}L > __ms")
        case WindowKind.CUMULATE:
            rows = rows.selectExpr("*", f"{first.format(size)} AS __start")
            end = f"__start + ((__ms - __start) div {step}L + 1L) * {step}L"
            rows = rows.selectExpr(
                "*", f"explode(sequence({end}, __start + {size}L, {step}L)) AS __end"
            )
        case WindowKind.SESSION:
            rows = rows.selectExpr("*", "__ms AS __start")
    if window.kind is not WindowKind.CUMULATE:
        rows = rows.selectExpr("*", f"__start + {size}L AS __end")
    start, end = (in_utc(f"timestamp_millis({name})") for name in ("__start", "__end"))
    rows = rows.selectExpr(
        ROW_KIND_COLUMN, *columns, f"{start} AS {quote(node.start)}", f"{end} AS {quote(node.end)}"
    )
    end = quote(node.end)
    if window.local:
        last = f"timestamp_millis(unix_millis(CAST({end} AS TIMESTAMP_LTZ)) - 1L)"
    else:
        last = in_utc(f"timestamp_millis({last_moment(node.end, window)})")
    return rows.selectExpr("*", f"{last} AS {quote(node.last)}")


def _local(time: str, window: Window) -> str:
    return f"CAST({time} AS TIMESTAMP_NTZ)" if window.local else time


def last_moment(end: str, window: Window) -> str:
    """Return the watermark at which a window fires, from its end: its last millisecond.

    In local time, that millisecond may occur twice, or not at all, where the clock changes.
    """
    millis = f"unix_millis(timestamp_micros({local_micros(quote(end))}))"
    if window.local:
        return f"flink_window_last({millis}, current_timezone())"
    return f"({millis} - 1L)"


def local_micros(local: str) -> str:
    """Return microseconds since 1970 of a window bound, in the time zone of the window."""
    return micros(Bound(local, timestamp(3)))


def lower_window_aggregate(
    node: WindowAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a window aggregation: one row per window and group, after the watermark."""
    fields = (*node.input.fields, Field(_LAST, BIGINT))
    names = [ROW_KIND_COLUMN, *(f.name for f in node.input.fields)]
    rows = rows.selectExpr("*", f"{last_moment(node.end, node.window)} AS {_LAST}")
    if node.layout(context.lacking) == node.bucket_state:
        return context.bridge.operator(
            rows,
            BucketedWindowOperator(
                keys=node.keys,
                calls=aggregations(node.calls, fields, context.bridge),
                fold=folds(context),
                lateness=lateness(node.input, context),
                output_ddl=changelog_ddl(node.fields),
            ),
        )
    return context.bridge.operator(
        rows,
        WindowAggregateOperator(
            keys=[*node.keys, _LAST],
            calls=aggregations(node.calls, fields, context.bridge),
            retracting=not node.input.mode.is_append,
            bitmaps=context.settings[DISTINCT_BITMAPS],
            fold=folds(context) and not holds_bytes(node.keys, fields),
            order=[names.index(name) for name in node.order],
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(node.fields),
        ),
    )


def lower_window_top_n(node: WindowTopN, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a window Top-N: the top rows of each partition of a window, after the watermark."""
    rows = rows.selectExpr("*", f"{last_moment(node.end, node.window)} AS {_LAST}")
    output = (*node.input.fields, *((node.rank,) if node.rank else ()))
    top = context.bridge.operator(
        rows,
        WindowTopNOperator(
            keys=[*node.partition, _LAST],
            order=sort_columns(node.order, node.input.fields, node.ties, last=node.last),
            skip=node.skip,
            limit=node.limit,
            ranked=node.rank is not None,
            lateness=lateness(node.input, context),
            output_ddl=changelog_ddl(output),
        ),
    )
    return top.drop(*node.ties)
