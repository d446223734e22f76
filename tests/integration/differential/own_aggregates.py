"""SUM, COUNT and MAX in Python, with retractions; tests compare them with the built-in ones."""

from __future__ import annotations

from typing import Any

from streamtable.common import Row
from streamtable.table import DataTypes, ListView, MapView
from streamtable.udf import AggregateFunction, udaf


class Total(AggregateFunction):
    def create_accumulator(self) -> Row:
        return Row(total=0, n=0)

    def accumulate(self, accumulator: Any, value: int) -> None:
        self._add(accumulator, value, 1)

    def retract(self, accumulator: Any, value: int) -> None:
        self._add(accumulator, value, -1)

    def _add(self, accumulator: Any, value: int, sign: int) -> None:
        if value is not None:
            accumulator.total += sign * value
            accumulator["n"] += sign

    def get_value(self, accumulator: Any) -> int | None:
        return accumulator[0] if accumulator[1] else None

    def get_result_type(self) -> str:
        return "INT"

    def get_accumulator_type(self) -> str:
        return "ROW<total BIGINT, n BIGINT>"


class Number(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0]

    def accumulate(self, accumulator: list[int], *values: Any) -> None:
        accumulator[0] += None not in values

    def retract(self, accumulator: list[int], *values: Any) -> None:
        accumulator[0] -= None not in values

    def get_value(self, accumulator: list[int]) -> int:
        return accumulator[0]


class Largest(AggregateFunction):
    """MAX over a multiset. The retraction of a value that was not added raises KeyError."""

    def create_accumulator(self) -> Row:
        return Row(MapView(), ListView())

    def accumulate(self, accumulator: Any, value: int) -> None:
        values, largest = accumulator
        if value is not None:
            values[value] = (values[value] or 0) + 1
        self._keep(values, largest)

    def retract(self, accumulator: Any, value: int) -> None:
        values, largest = accumulator
        if value is not None:
            if value not in values:
                raise KeyError(value)
            values[value] -= 1
            if not values[value]:
                del values[value]
        self._keep(values, largest)

    def _keep(self, values: MapView, largest: ListView) -> None:
        largest.clear()
        if not values.is_empty():
            largest.add(max(values.keys()))

    def get_value(self, accumulator: Any) -> int | None:
        return next(iter(accumulator[1]), None)


total = udaf(Total())
number = udaf(Number(), result_type="BIGINT NOT NULL", accumulator_type="ARRAY<BIGINT>")
largest = udaf(
    Largest(),
    input_types=[DataTypes.INT()],
    result_type=DataTypes.INT(),
    accumulator_type=DataTypes.ROW(
        [
            DataTypes.FIELD("values", DataTypes.MAP_VIEW(DataTypes.INT(), DataTypes.BIGINT())),
            DataTypes.FIELD("largest", DataTypes.LIST_VIEW(DataTypes.INT())),
        ]
    ),
)
