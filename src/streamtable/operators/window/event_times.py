"""Event times of rows for operators that use event time."""

from __future__ import annotations

from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.types import quote
from streamtable.jvm.specs.operator import Lateness
from streamtable.operators.context import LoweringContext
from streamtable.plan.node import Node
from streamtable.plan.rules.watermarks import is_complete
from streamtable.plan.source.scan import scans


def table_below(node: Node) -> str:
    """Return the name of the first table below, which is used in counters and messages."""
    return scans(node)[0].table.name


def lateness(below: Node, context: LoweringContext) -> Lateness:
    """Return how an operator detects and counts late rows; `below` is its input."""
    complete = is_complete(below)
    return Lateness(
        checked=not complete,
        # Real-time mode hands over the rows of a key one by one.
        complete=complete and context.mode is ExecutionMode.MICRO_BATCH,
        counters=context.counters_of(table_below(below)),
    )


def required(moment: str, column: str, table: str, *, where: str = "TRUE") -> str:
    """Return an event time in milliseconds that fails the job if it is NULL, as in Flink.

    Args:
        moment: Spark SQL of the milliseconds.
        column: the event-time field.
        table: table of the rows, for the message.
        where: Spark SQL condition; rows that do not meet it may lack the time.
    """
    text = f"NULL_EVENT_TIME {quote(column)} of {table}".replace("'", "''")
    failing = f"CAST(raise_error('{text}') AS BIGINT)"
    return f"CASE WHEN {moment} IS NULL AND {where} THEN {failing} ELSE {moment} END"
