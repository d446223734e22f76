"""EXPLAIN PLAN_ADVICE: costs of a plan that another query or another setting would avoid."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.core.table import Upserting
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.replacing import replaces_inserts
from streamtable.plan.sink.sink import Root, Sink

#: Flink's text if there is no advice.
NO_ADVICE = "No available advice..."


def advice(plan: Root) -> str:
    """Format the advice on a plan, one line each, numbered as in Flink.

    Args:
        plan: plan of an INSERT or a SELECT.
    """
    of_sink = _of_sink(plan) if isinstance(plan, Sink) else ()
    found = list(
        dict.fromkeys([*of_sink, *(text for node in every(plan.input) for text in node.advice())])
    )
    if not found:
        return NO_ADVICE
    return "\n".join(f"advice[{n}]: [ADVICE] {text}" for n, text in enumerate(found, start=1))


def _of_sink(sink: Sink) -> Iterator[str]:
    if replaces_inserts(sink):
        connector = sink.table.connector
        keeps_all = connector.append_connector if isinstance(connector, Upserting) else None
        way_out = f"; use connector '{keeps_all}' to keep all rows" if keeps_all else ""
        yield (
            f"{sink.table.name}: the query is append-only, so each row replaces the previous"
            f" row of its key{way_out}."
        )
