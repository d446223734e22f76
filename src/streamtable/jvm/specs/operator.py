"""Base classes of operator specs: values that become Java records with the same names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from streamtable.jvm.streaming.counters import Counters


class Named:
    """A value that becomes a Java record, field by field, with names in camelCase.

    The Java record has the name of the class. It refuses unknown and missing fields. Fields are
    plain values, sequences of them, `Counters`, DataFrames and other values of this class.
    """


class OperatorSpec(Named):
    """An operator from one DataFrame to another, applied by its Java record (`Bridge.operator`).

    Attributes:
        package: the package of the Java record, below `io.streamtable.operators`.
    """

    package: ClassVar[str]

    def __init_subclass__(cls, package: str) -> None:
        cls.package = package


@dataclass(frozen=True)
class Aggregation(Named):
    """An aggregate call by positions in the input row; position 0 is the row kind.

    Attributes:
        argument: the position of the argument, -1 for COUNT(*).
        filter: the position of a BOOLEAN, -1 for none.
        argument_type: a type in Spark's DDL spelling, as `result_type`.
        parameters: the function's parameters in addition to its values.
        python: the Java `PythonProgram` of a Python function.
    """

    function: str
    argument: int
    filter: int
    distinct: bool
    argument_type: str
    result_type: str
    parameters: Sequence[str] = ()
    python: object | None = None


@dataclass(frozen=True)
class SortColumn(Named):
    """A sort column, by its position without the row kind."""

    position: int
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Lateness(Named):
    """The handling of late rows in an operator.

    Attributes:
        checked: whether rows can be late; false if the input emits each row just when the
            watermark passes it.
        complete: whether, in addition, all of these rows of a key arrive in one call.
        counters: the counters of late rows.
    """

    checked: bool
    complete: bool
    counters: Counters
