"""Operators without a batch answer: their result is not determined by the stored input alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.batch.aggregates import aggregate_refusal
from streamtable.batch.joins import interval_refusal
from streamtable.batch.ranks import ranking_refusal
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.table import STATE_TTL
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.join.connector_lookup_join import ConnectorLookupJoin
from streamtable.plan.join.interval_join import IntervalJoin
from streamtable.plan.join.temporal_join import TemporalJoin, UpdatingTemporalJoin
from streamtable.plan.match.match import MatchRecognize, ProcessingTimeMatch
from streamtable.plan.node import Node
from streamtable.plan.over.over_aggregate import OverAggregate
from streamtable.plan.over.processing_time_over import ProcessingTimeOver
from streamtable.plan.over.sorted_over import SortedOver
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.processing_time_deduplicate import ProcessingTimeDeduplicate
from streamtable.plan.rank.temporal_sort import TemporalSort
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.changelog_functions import FromChangelog, ToChangelog
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.window.window_aggregate import MergedWindowAggregate, WindowAggregate
from streamtable.plan.window.window_top_n import WindowTopN

#: Calls of Spark SQL whose result differs between two evaluations, and string literals, whose text
#: is no call.
_RANDOM = re.compile(
    r"'(?:[^'\\]|\\.)*'"
    r"|\b(flink_now|flink_current_watermark|rand|uuid|shuffle)(?:_ltz)?\("
)
_NAMES = {
    "flink_now": "the current time",
    "flink_current_watermark": "the watermark of its micro-batches",
    "rand": "random numbers",
    "uuid": "random ids",
}

_NO_VERSIONS = "Spark's batch has no join with the version of a time"

#: Reasons of the operators that no batch answer covers.
UNSUPPORTED: Mapping[type[Node], str] = {
    ConnectorLookupJoin: "it reads an external system at the time of each row",
    TemporalJoin: _NO_VERSIONS,
    UpdatingTemporalJoin: _NO_VERSIONS,
    OverAggregate: "it is not translated to batch yet",
    ProcessingTimeOver: "it depends on processing time",
    SortedOver: "it is not translated to batch yet",
    MatchRecognize: "Spark's batch has no pattern recognition",
    ProcessingTimeMatch: "it depends on processing time",
    ProcessingTimeDeduplicate: "it depends on processing time",
    ToChangelog: "its rows are the changes, of which a batch has only the last",
    FromChangelog: "it is not translated to batch yet",
    TemporalSort: "a sorted stream has no order in a topic of several partitions",
}

#: Checks of operators that have a batch answer under conditions.
_CHECKS: Mapping[type[Node], Callable[[Any], str | None]] = {
    GroupAggregate: aggregate_refusal,
    WindowAggregate: aggregate_refusal,
    MergedWindowAggregate: aggregate_refusal,
    IntervalJoin: interval_refusal,
    TopN: ranking_refusal,
    Limit: ranking_refusal,
    WindowTopN: ranking_refusal,
    Deduplicate: ranking_refusal,
}


@dataclass(frozen=True)
class Refusal:
    """An operator without a batch answer, and the reason as a clause."""

    node: Node
    reason: str


def refusal(root: Node) -> Refusal | None:
    """Return the first operator of a plan without a batch answer; None if the plan has one."""
    return next(_refusals(root), None)


def refused(sink: Sink, found: Refusal) -> StreamtableError:
    """Return the error of a query without a batch answer."""
    return StreamtableError(
        Condition.NO_BATCH_ANSWER,
        at=sink.at,
        table=sink.table.name,
        operator=found.node.described,
        reason=found.reason,
    )


def _refusals(root: Node) -> Iterator[Refusal]:
    for node in every(root):
        reason = _reason(node)
        if reason is not None:
            yield Refusal(node, reason)
        for table in node.side_tables:
            yield from _refusals(table)


def _reason(node: Node) -> str | None:
    kind = type(node)
    if kind in UNSUPPORTED:
        return UNSUPPORTED[kind]
    if node.by_processing_time:
        return "it depends on processing time"
    if any(ttl is not None for _, ttl in node.kept_for):
        return f"its state expires ('{STATE_TTL.key}' or a STATE_TTL hint)"
    texts = [*node.spark_texts, node.pair_condition or ""]
    for text in texts:
        call = next((m.group(1) for m in _RANDOM.finditer(text) if m.group(1)), None)
        if call is not None:
            return f"it reads {_NAMES.get(call, 'random values')}"
    check = _CHECKS.get(kind)
    return check(node) if check is not None else None
