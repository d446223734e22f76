"""Aggregate call of an operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from streamtable.catalog.functions import PythonFunction
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.identity import stable
from streamtable.core.types import BYTES_ROOTS, Field, Root
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.node import Key, Node
from streamtable.plan.position import with_position

#: Aggregates that, over append-only input, never return to an earlier value.
_ONE_WAY = {"COUNT", "MIN", "MAX"}
_SPREADS = {"VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV"}
#: Aggregates over append-only input whose state is a few columns that merge.
_MERGING = {"COUNT", "SUM", "AVG", "MIN", "MAX", *_SPREADS}


@dataclass(frozen=True)
class PythonAggregate:
    """A Python aggregate function, and the place of its call."""

    function: PythonFunction
    at: Span | None


@stable(
    "AggregateCall",
    derived=("capped",),
    function="function",
    output="output",
    argument="argument",
    distinct="distinct",
    filter="filter",
    parameters="parameters",
)
@dataclass(frozen=True)
class AggregateCall:
    """One aggregate call.

    Attributes:
        function: name of the function in `plan.functions`; the Spark name of a Python function.
        output: name and type of the result.
        argument: the input field that is aggregated; None for COUNT(*).
        distinct: whether equal values count once.
        filter: a BOOLEAN input field; only rows with a true value are aggregated.
        parameters: further parameters of the function, in the operator's format; the type of the
            accumulator of a Python function.
        capped: whether a COUNT above 1 is 1, so that only the first and the last row change the
            result. The state does not depend on it.
        python: the function, if it is a Python function; `function` identifies it.
    """

    function: str
    output: Field
    argument: str | None = None
    distinct: bool = False
    filter: str | None = None
    parameters: tuple[str, ...] = ()
    capped: bool = False
    python: PythonAggregate | None = field(default=None, compare=False)

    @property
    def described(self) -> str:
        """Format the aggregate with its argument and filter for EXPLAIN."""
        literals = () if self.python else map(text_literal, self.parameters)
        arguments = [self.argument or ("" if self.python else "*"), *literals]
        argument = ("DISTINCT " if self.distinct else "") + ", ".join(arguments)
        where = f" FILTER {self.filter}" if self.filter else ""
        name = self.python.function.name if self.python else self.function
        limit = " up to 1" if self.capped else ""
        return f"{name}({argument}){limit}{where} AS {self.output.name}"

    @cached_property
    def fields(self) -> frozenset[str]:
        """The input fields that the aggregate reads."""
        return frozenset(name for name in (self.argument, self.filter) if name is not None)

    @property
    def is_ordered(self) -> bool:
        """Whether the result depends on the order of rows."""
        return self.python is not None or AGGREGATES[self.function].ordered

    @property
    def merges(self) -> bool:
        """Whether results over parts of append-only input merge without the values of the rows."""
        counts_once = self.distinct and self.function not in {"MIN", "MAX"}
        return self.python is None and self.function in _MERGING and not counts_once

    @property
    def counts_rows(self) -> bool:
        """Whether the aggregate is `COUNT(*)` over all rows."""
        return self.function == "COUNT" and not self.argument and not self.filter


def never_return(calls: tuple[AggregateCall, ...]) -> bool:
    """Return whether every row changes the results, and no result returns to an earlier value."""
    counted = any(call.counts_rows for call in calls)
    return counted or all(call.function in _ONE_WAY for call in calls)


def python_obstacle(calls: Iterable[AggregateCall]) -> str | None:
    """Return why real-time mode cannot run the aggregates; None if it can."""
    called = any(call.python is not None for call in calls)
    return "Python aggregate functions run in micro-batches only" if called else None


def fields_of(calls: Iterable[AggregateCall]) -> frozenset[str]:
    """Return the input fields that the aggregates read."""
    return frozenset().union(*(call.fields for call in calls))


def with_order(below: Node, calls: tuple[AggregateCall, ...]) -> tuple[Node, Key]:
    """Return the input of aggregates, with row positions if an aggregate depends on row order.

    Raises:
        StreamtableError: RETRACT_REQUIRED if rows may be removed that a Python function cannot
            retract.
    """
    for call in calls:
        if call.python and not below.mode.is_append and not call.python.function.signature.retracts:
            raise StreamtableError(
                Condition.RETRACT_REQUIRED,
                at=call.python.at,
                function=call.python.function.name,
                source=below.first_changing().described,
                hint="implement retract(self, accumulator, ...), the inverse of accumulate",
            )
    return with_position(below) if any(call.is_ordered for call in calls) else (below, ())


def holds_bytes(keys: Sequence[str], fields: Sequence[Field]) -> bool:
    """Whether a grouping column has a type without value equality as a Java object."""
    unequal = {*BYTES_ROOTS, Root.BITMAP, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW}
    return any(f.type.root in unequal for f in fields if f.name in keys)
