"""State of operators: its layout in a checkpoint, and its TTL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class StateLayout:
    """State layout of one kind of operator, as a checkpoint records it.

    Increase the version when the meaning of a processor's state changes. A newer release then
    refuses an older checkpoint by name instead of misreading it. Variables that only some plans
    have are listed, too.

    Attributes:
        id: name of the operator in a checkpoint, independent of EXPLAIN; never changed.
        processors: the Java classes that keep the state.
        variables: names of the state variables; `aggN` stands for the number of an aggregate.
        by_value: whether whole rows or aggregated values are keys of a variable.
    """

    id: str
    version: int
    processors: tuple[str, ...]
    variables: frozenset[str]
    by_value: bool = False


#: State variables of aggregates.
OF_GROUPS = frozenset({"group", "aggN_chunks", "aggN_distinct", "aggN_values"})


def limit(own: timedelta | None, default: timedelta) -> timedelta | None:
    """Return the state TTL: the hint's value, or else the setting's.

    Args:
        own: TTL of the hint; None: no hint.
        default: TTL of `table.exec.state.ttl`; 0: state is kept as long as its rows exist.

    Returns:
        The TTL; None: state is kept as long as its rows exist.
    """
    return (default if own is None else own) or None
