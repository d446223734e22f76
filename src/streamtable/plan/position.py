"""The position of a row: of its record in the source, or in the order of event time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamtable.core.types import BIGINT, INT, Field

if TYPE_CHECKING:
    from streamtable.plan.node import Key, Node

#: Fields for operators whose result depends on the order of the records.
POSITION = (
    Field("__partition", INT.with_nullable(False)),
    Field("__offset", BIGINT.with_nullable(False)),
)
POSITION_NAMES = tuple(field.name for field in POSITION)

#: The number of an element in its array, behind the position of the row. NULL for no element.
PLACE = Field("__place", INT)


def positions_in(fields: Iterable[Field]) -> tuple[Field, ...]:
    """Return the position fields of rows that have a position, with the place if there is one."""
    return (*POSITION, *(field for field in fields if field.name == PLACE.name))


def without_position(fields: Iterable[Field]) -> tuple[Field, ...]:
    """Return the fields without the position of a row."""
    return tuple(field for field in fields if field not in (*POSITION, PLACE))


def with_position(node: Node) -> tuple[Node, Key]:
    """Return an operator with the positions of its rows, and the names of the position fields.

    Without position fields, a consumer processes the rows of a batch in the order of their values.
    """
    found = node.positioned()
    if found is None:
        return node, ()
    return found, tuple(field.name for field in positions_in(found.fields))


def with_ties(node: Node) -> tuple[Node, Key]:
    """Return an operator with position fields that order rows with the same event time.

    Rows whose positions are times need none.
    """
    return (node, ()) if _is_positioned_by_time(node) else with_lasting_position(node)


def with_lasting_position(node: Node) -> tuple[Node, Key]:
    """Return an operator with position fields that also order the rows of different batches."""
    return (node, ()) if _positions_calls(node) else with_position(node)


def is_scattered(node: Node) -> bool:
    """Return whether different tasks emit rows that Flink emits in order, in one task."""
    return node.emits_apart or any(map(is_scattered, node.arrival_inputs))


def _positions_calls(node: Node) -> bool:
    return node.positions_calls or any(map(_positions_calls, node.arrival_inputs))


def _is_positioned_by_time(node: Node) -> bool:
    if node.state is not None:
        return node.emits_by_time
    return any(map(_is_positioned_by_time, node.inputs))
