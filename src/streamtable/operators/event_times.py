"""Event times on their way into operators that go by them."""

from __future__ import annotations

from streamtable.core.types import quote
from streamtable.plan.nodes import Node, scans


def table_below(node: Node) -> str:
    """The table under whose name rows are counted and refused: the first one below."""
    return scans(node)[0].table.name


def required(moment: str, column: str, table: str, *, where: str = "TRUE") -> str:
    """Milliseconds of an event time, or the end of the job where it is NULL, as in Flink.

    Args:
        moment: Spark SQL of the milliseconds.
        column: the field that is the event time.
        table: whose rows they are, for the message.
        where: Spark SQL; rows without it may lack the time.
    """
    text = f"NULL_EVENT_TIME {quote(column)} of {table}".replace("'", "''")
    failing = f"CAST(raise_error('{text}') AS BIGINT)"
    return f"CASE WHEN {moment} IS NULL AND {where} THEN {failing} ELSE {moment} END"
