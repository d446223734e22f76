"""Programs: the expressions of transforms, bound for tables whose columns have the same types.

Spark evaluates them. Its plan is fixed when the query starts, so a program has fixed input types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.types import DataType, Field
from streamtable.plan.transform import BoundTransform


@dataclass(frozen=True)
class Program:
    """The expressions of a transform for some tables.

    Attributes:
        number: its place in the plan of the query.
        reads: name and type of each column that the expressions read.
        old: the expressions over the row before a change.
        new: the expressions over the row after a change.
        key: positions in `new.columns` of the record key's computed columns, in the key's order.
    """

    number: int
    reads: tuple[tuple[str, DataType], ...]
    old: BoundTransform
    new: BoundTransform
    key: tuple[int, ...]

    @property
    def inputs(self) -> tuple[Field, ...]:
        """The Spark columns that the expressions read: first those of `old`, then of `new`."""
        sides = (old_name, new_name)
        return tuple(
            Field(name(self.number, i), kind)
            for name in sides
            for i, (_, kind) in enumerate(self.reads)
        )


@dataclass(frozen=True)
class Programs:
    """The programs of a query.

    Attributes:
        all: by number.
        of: the programs of each table whose transform has expressions, by version of the table.
    """

    all: tuple[Program, ...] = ()
    of: Mapping[TableId, tuple[int, ...]] = field(default_factory=dict)

    def find(self, table: TableId) -> Iterator[Program]:
        """Yield the programs of a table, in the order in which its versions were planned."""
        for number in self.of.get(table, ()):
            yield self.all[number]

    def inputs(self) -> Iterator[Field]:
        """Yield the Spark columns that the expressions of all programs read."""
        for program in self.all:
            yield from program.inputs


def old_name(program: int, position: int) -> str:
    """Return the Spark column of an input in the row before a change."""
    return f"old{program}_{position}"


def new_name(program: int, position: int) -> str:
    """Return the Spark column of an input in the row after a change."""
    return f"new{program}_{position}"
