"""User-defined functions for the examples of CREATE FUNCTION and of calls."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.udf import AggregateFunction, udaf, udf, udtf


@udf(result_type="BIGINT")
def twice(number: int) -> int:
    """Return twice the number."""
    return 2 * number


@udtf(result_types=["STRING"])
def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text."""
    yield from text.split()


class Total(AggregateFunction):
    """The sum of numbers."""

    def create_accumulator(self) -> list[float]:
        """Return the sum of no numbers."""
        return [0.0]

    def accumulate(self, accumulator: list[float], number: float) -> None:
        """Add a number."""
        accumulator[0] += number or 0

    def retract(self, accumulator: list[float], number: float) -> None:
        """Subtract a number."""
        accumulator[0] -= number or 0

    def get_value(self, accumulator: list[float]) -> float:
        """Return the sum."""
        return accumulator[0]


total = udaf(Total(), result_type="DOUBLE", accumulator_type="ARRAY<DOUBLE>")
