"""Functions that require OVER: ROW_NUMBER, RANK, DENSE_RANK and LAG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BIGINT, DataType, Field, Root
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.aggregate.plan_aggregate import Inputs
from streamtable.plan.aggregate.plan_call import as_row
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.expressions import implicit_cast
from streamtable.plan.binding.literals import constant_number
from streamtable.plan.query.relation import unique_names
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

#: Largest offset of LAG, an INT in Flink.
_MOST_ROWS = 2**31 - 1

#: Arguments of LAG, for messages.
_LAG = (
    f"a value, a number of rows up to {_MOST_ROWS}, and a value to take where there is no such row"
)

#: Functions that read later rows, which a stream does not have yet; Flink refuses them, too.
NOT_IN_STREAMS = frozenset({"LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"})


class Numbering(Protocol):
    """Converts a call of such a function to an aggregate call."""

    def __call__(
        self, node: FlinkCall, inputs: Inputs, taken: Sequence[str], *, grouped: bool
    ) -> AggregateCall:
        """Return the aggregate call; see `aggregate.call_of`."""


def numbering(name: str) -> Numbering | None:
    """Return the converter of a function; None for functions of other modules."""
    return _CALLS.get(name)


def is_numbering(window: exp.Window) -> bool:
    """Return whether a call is a ROW_NUMBER, which a filter on it turns into a Top-N."""
    call = window.this
    plain = isinstance(call, FlinkCall) and call.name == "ROW_NUMBER"
    return plain and not window.args.get("spec")


def _row_number(
    node: FlinkCall, inputs: Inputs, taken: Sequence[str], *, grouped: bool
) -> AggregateCall:
    del inputs, grouped
    _check(node, 0, "nothing")
    return AggregateCall(node.name, _output(node, taken, BIGINT.with_nullable(False)))


def _rank(node: FlinkCall, inputs: Inputs, taken: Sequence[str], *, grouped: bool) -> AggregateCall:
    del grouped
    _check(node, 0, "nothing")
    window = node.parent
    assert window is not None, "a call before OVER"  # noqa: S101
    order = [part.this for part in window.args["order"].expressions]
    name = inputs.add_bound(as_row([inputs.binder.bind(part) for part in order]), node, "order")
    return AggregateCall(node.name, _output(node, taken, BIGINT.with_nullable(False)), name)


def _lag(node: FlinkCall, inputs: Inputs, taken: Sequence[str], *, grouped: bool) -> AggregateCall:
    del grouped
    if not 1 <= len(node.expressions) <= 3:
        raise _mismatch(node, _LAG)
    value, *more = node.expressions
    offset = _offset(node, more[0], inputs) if more else "1"
    bound = inputs.binder.bind(value)
    default: Bound | None = inputs.binder.bind(more[1]) if len(more) > 1 else None
    kind = bound.type.with_nullable(bound.type.nullable or default is None or default.type.nullable)
    if default is None:
        default = Bound(f"CAST(NULL AS {bound.type.spark_sql()})", kind)
    cast = implicit_cast(default, kind)
    if cast is None:
        raise _mismatch(node, f"a default of {bound.type.with_nullable(True)}")
    name = inputs.add_bound(as_row([bound.retyped(kind), cast]), node, "lag")
    return AggregateCall(node.name, _output(node, taken, kind), name, parameters=(offset,))


def _offset(node: FlinkCall, given: exp.Expr, inputs: Inputs) -> str:
    """Return the offset of a LAG, a constant from 0.

    Flink keeps the rows of the latest offset only, so an offset that varies would need its buffer.
    """
    offset = constant_number(given)
    if offset is None:
        if inputs.binder.bind(given).type.root in (Root.TINYINT, Root.SMALLINT, Root.INT):
            raise StreamtableError(
                Condition.NOT_YET,
                at=place_of(node),
                what=f"{node.name} with an offset that is not a constant",
                hint="write a number",
            )
        raise _mismatch(node, _LAG)
    if offset.removeprefix("-").isdigit() and int(offset) < 0:
        raise StreamtableError(
            Condition.INVALID_WINDOW,
            at=place_of(node),
            function=f"{node.name} OVER",
            reason=f"the offset {offset} should be positive, as in Flink",
        )
    if not offset.isdigit() or int(offset) > _MOST_ROWS:
        raise _mismatch(node, _LAG)
    return offset


def _output(node: FlinkCall, taken: Sequence[str], kind: DataType) -> Field:
    return Field(unique_names([*taken, node.name.lower()])[-1], kind)


def _check(node: FlinkCall, most: int, expected: str) -> None:
    if len(node.expressions) > most:
        raise _mismatch(node, expected)


def _mismatch(node: FlinkCall, expected: str) -> StreamtableError:
    return StreamtableError(
        Condition.ARGUMENT_MISMATCH,
        at=place_of(node),
        function=node.name,
        expected=expected,
        found=", ".join(flink_sql(argument) for argument in node.expressions),
    )


_CALLS: Mapping[str, Numbering] = {
    "ROW_NUMBER": _row_number,
    "RANK": _rank,
    "DENSE_RANK": _rank,
    "LAG": _lag,
}
