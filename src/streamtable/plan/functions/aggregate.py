"""Model of an aggregate function: syntax, argument and result types, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import BIGINT, DataType, Root
from streamtable.plan.functions.model import Nulls


class Form(Enum):
    """Syntax of a call and its handling of NULL."""

    #: One value; NULLs are ignored.
    VALUE = "value"
    #: One value; NULLs are kept unless the call has IGNORE NULLS.
    ITEMS = "items"
    #: A string and a literal separator.
    TEXTS = "texts"
    #: A value to convert to JSON; NULLs are omitted unless the call has NULL ON NULL.
    JSON_ARRAY = "json array"
    #: A number, percentages as literals, and the frequency of the number; NULLs are ignored.
    PERCENTILE = "percentile"
    #: A key and a value to convert to JSON; NULLs are kept unless the call has ABSENT ON NULL.
    JSON_OBJECT = "json object"


@dataclass(frozen=True)
class AggregateFunction:
    """An aggregate function of Flink.

    Attributes:
        name: in upper case.
        doc: one sentence.
        accepts: types of the argument.
        expected: description of the argument in messages.
        gives: result type by argument type; None if the function is not supported yet.
        nulls: when the result may be NULL; IF_ARGUMENTS includes a group without rows.
        form: syntax of a call.
        ordered: whether the result depends on the order of the rows.
        over_only: whether the function requires OVER.
        of_grouping: whether the function is about GROUP BY instead of the rows of a group.
        distinct_of: the function whose DISTINCT form gives the result; None for a function of its
            own.
        since: Flink version that added the function, if it is known to be late.
    """

    name: str
    doc: str
    accepts: frozenset[Root] = frozenset(Root)
    expected: str = "one value"
    gives: Callable[[DataType], DataType] | None = None
    nulls: Nulls = Nulls.IF_ARGUMENTS
    form: Form = Form.VALUE
    ordered: bool = False
    over_only: bool = False
    of_grouping: bool = False
    distinct_of: str | None = None
    since: str | None = None

    @property
    def available(self) -> bool:
        """Whether a query may call the function."""
        return self.gives is not None or self.over_only or self.of_grouping

    def result(
        self, types: tuple[DataType, ...], at: Span | None, *, grouped: bool = True
    ) -> DataType:
        """Return the result type of a call.

        Args:
            types: types of its values; empty for `COUNT(*)`.
            at: place of the call.
            grouped: whether there is a GROUP BY; without GROUP BY, there may be no rows.

        Raises:
            StreamtableError: NOT_YET, ARGUMENT_MISMATCH, or INVALID_WINDOW for a function that
                requires OVER.
        """
        if self.over_only:
            raise StreamtableError(
                Condition.INVALID_WINDOW,
                at=at,
                function=self.name,
                reason="it can only be used before OVER (PARTITION BY ... ORDER BY ...)",
            )
        if self.of_grouping:
            raise StreamtableError(
                Condition.AGGREGATE_MISPLACED,
                at=at,
                function=self.name,
                clause="a query without GROUP BY",
            )
        if self.gives is None:
            raise StreamtableError(Condition.NOT_YET, at=at, what=f"aggregate {self.name}")
        if not types and self.name == "COUNT":
            return self.gives(BIGINT)
        if len(types) != 1 or types[0].root not in self.accepts:
            raise StreamtableError(
                Condition.ARGUMENT_MISMATCH,
                at=at,
                function=self.name,
                expected=self.expected,
                found=", ".join(t.sql() for t in types),
            )
        kind = self.gives(types[0])
        if self.nulls is not Nulls.IF_ARGUMENTS:
            return kind
        return kind.with_nullable(types[0].nullable or not grouped)
