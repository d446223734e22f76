"""Context of a batch answer: its input, what it carries, and what it leaves undecided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from pyspark.sql import DataFrame

from streamtable.batch.carried import Carried
from streamtable.core.types import quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.node import Node
from streamtable.plan.source.scan import Scan


@dataclass(frozen=True)
class Doubt:
    """A reason why the answer of a query may not be determined by its input.

    Attributes:
        node: the operator.
        reason: why, as a clause.
        cases: rows for which this is so; without rows there is no doubt. None: the answer is
            determined unless it differs, for example by the rounding of a sum.
    """

    node: Node
    reason: str
    cases: DataFrame | None = None


@dataclass(frozen=True)
class BatchContext:
    """Input and options of one batch answer.

    Attributes:
        lowering: Spark session, bridge and settings, for the lowering of expressions.
        changes_of: returns the stored changes of a scan, in the form of `StoredChanges.rows`.
        carried: the column that all operators carry; None for none.
        watermark_ms: watermark of the query at the end of its input, in milliseconds. Windows that
            it has not passed have no rows yet. None: the input is complete.
        merged: whether the positions of a scan are those of several topics, which have no common
            order.
        doubts: filled by the operators.
    """

    lowering: LoweringContext
    changes_of: Callable[[Scan], DataFrame]
    carried: Carried | None = None
    watermark_ms: int | None = None
    merged: Callable[[Scan], bool] = lambda _: False
    doubts: list[Doubt] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)

    @property
    def kept(self) -> tuple[str, ...]:
        """The carried columns as Spark SQL."""
        return () if self.carried is None else (quote(self.carried.column),)

    def next_scan(self) -> int:
        """Return the number of the next scan, left to right."""
        return next(self._numbers)

    def doubt(self, node: Node, reason: str, cases: DataFrame | None = None) -> None:
        """Add a doubt."""
        self.doubts.append(Doubt(node, reason, cases))

    def passed(self, moment: str) -> str | None:
        """Return a condition for moments in milliseconds that the watermark has passed.

        None: it has passed all.
        """
        return None if self.watermark_ms is None else f"{moment} <= {self.watermark_ms}L"
