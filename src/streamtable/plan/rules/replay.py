"""Replay determinism: whether replaying records after a crash gives the same rows again.

Real-time mode writes rows before the checkpoint that covers their records. After a crash, these
records are read again. The interleaving of partitions may differ. When auto mode catches up,
batches give only one change per key. A transient row, which was written and later retracted, may
then be missing in the replay, and nothing in the sink corrects it. Flink's at-least-once sinks have
the same limitation. Micro-batches repeat a batch exactly. If possible, a start rolls the sinks of
such queries back to the checkpoint (`runtime.preflight.rollback`).
"""

from __future__ import annotations

from streamtable.plan.node import Node
from streamtable.plan.rules.tree import every


def replay_obstacle(node: Node) -> str | None:
    """Return the operator that may make a replay differ, as text; None if replay is deterministic.

    Without state, every record gives its rows again. Append-only operators give the same rows from
    the same records in any order. Operators whose rows depend on the arrival of records, such as
    those of processing time, are an exception, as in Flink. Above append-only operators, one
    aggregation that writes its groups unchanged is allowed: every record updates its group again.
    """
    while node.forwards_every_row:
        (node,) = node.inputs
    if node.shuffles == 0:
        return None
    if node.never_returns:
        (node,) = node.inputs
    return _first_retracting(node)


def replay_may_differ(node: Node) -> bool:
    """Return whether a replay may give other rows, also because records arrive differently."""
    by_arrival = any(part.by_arrival for part in every(node))
    return by_arrival or replay_obstacle(node) is not None


def _first_retracting(node: Node) -> str | None:
    """Return the first operator, from the sources on, whose rows may be retracted."""
    below = next(filter(None, map(_first_retracting, node.inputs)), None)
    return below if below is not None or node.mode.is_append else node.changes
