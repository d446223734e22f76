"""Whether records that are read again after a crash give every row again that they gave before.

Real-time mode writes rows before the checkpoint that covers their records. After a crash these
records are read again, but mixed in another way between partitions, or, where auto mode catches up,
in batches that give one change for each key. A row that was given on the way and taken back later
need not come by again; then it stays in the sink, and nothing tells that it is wrong. Flink's
sinks are the same where they are written at least once. Micro-batches repeat a batch as it was.
A start takes the topics of such queries back to its checkpoint where it can (`runtime.restoring`).
"""

from __future__ import annotations

from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.nodes import NODE_NAMES, AggregateCall, Calc, GroupAggregate, Node
from streamtable.plan.real_time import stages_of_state
from streamtable.plan.source_nodes import Scan
from streamtable.plan.time_attributes import by_clock

#: Aggregates of rows that are only added which never come back to a value that they have left.
_ONE_WAY = {"COUNT", "MIN", "MAX"}


def not_repeated(node: Node) -> str | None:
    """What may give a row that repeated records do not give again, in words; None for nothing.

    Without state every record gives its rows again. Operators whose rows are only added give the
    same rows from the same records in any order; all but those that go by processing time, whose
    rows are a matter of when records come in Flink, too. Above them one aggregation may stand that
    writes its groups as they are: every record touches its group again, and changes it.
    """
    while isinstance(node, Calc) and node.condition is None:
        node = node.input
    if stages_of_state(node) == 0:
        return None
    if isinstance(node, GroupAggregate) and _leaves_its_values(node.calls):
        node = node.input
    return _takes_back(node)


def may_differ(node: Node) -> bool:
    """Whether repeated records may give other rows than before, those of processing time too."""
    return not_repeated(node) is not None or _goes_by_the_clock(node)


def _goes_by_the_clock(node: Node) -> bool:
    own = isinstance(node, ArrivalDeduplicate | ArrivalOver) or by_clock(node)
    return own or any(map(_goes_by_the_clock, node.inputs))


def _leaves_its_values(calls: tuple[AggregateCall, ...]) -> bool:
    counts_rows = any(c.function == "COUNT" and not c.argument and not c.filter for c in calls)
    return counts_rows or all(call.function in _ONE_WAY for call in calls)


def _takes_back(node: Node) -> str | None:
    """The first node from the sources on whose rows may be taken back."""
    below = next(filter(None, map(_takes_back, node.inputs)), None)
    if below is not None or node.mode.is_append:
        return below
    if isinstance(node, Scan):
        return f"the changes of {node.table.name}"
    return f"its {NODE_NAMES[type(node)]}"
