"""Control of running streaming queries: watermark, checkpoint interval, latency tuning."""

from __future__ import annotations

from pyspark.sql.streaming.query import StreamingQuery

from streamtable.jvm.bridge import Bridge


def advance_watermark(bridge: Bridge, query: StreamingQuery, watermark: int) -> bool:
    """Raise the watermark of a running query's next batch to at least a time in milliseconds.

    Return False if the query is constructing a batch; the caller must try again.
    """
    return bool(bridge.java.query.QueryWatermark.advance(query._jsq, watermark))  # noqa: SLF001


def current_watermark(bridge: Bridge, query: StreamingQuery) -> int:
    """Return the watermark of a query's next batch, in milliseconds; 0 if there is none yet."""
    return int(bridge.java.query.QueryWatermark.current(query._jsq))  # noqa: SLF001


def set_real_time_interval(bridge: Bridge, query: StreamingQuery, milliseconds: int) -> None:
    """Set the batch duration of a running query in real-time mode, from its next batch on."""
    bridge.java.query.RealTimeInterval.set(query._jsq, milliseconds)  # noqa: SLF001


def warm_up_planner(bridge: Bridge, query: StreamingQuery, plans: int) -> None:
    """Warm up the planner: plan batches of a running query in the background, up to a number.

    Planned batches of earlier queries in this JVM count.
    """
    bridge.java.query.PlannerWarmUp.begin(query._jsq, plans)  # noqa: SLF001


def warm_up_plans(bridge: Bridge) -> int:
    """Return the number of warm-up plans in this JVM."""
    return int(bridge.java.query.PlannerWarmUp.planned())
