"""Where rows of a plan come from: leaves, and what makes changes of a scan's upserts."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND, RETRACT, UPSERT, ChangelogMode
from streamtable.core.table import Table
from streamtable.core.types import BIGINT, INT, Field

if TYPE_CHECKING:
    from streamtable.plan.nodes import Node

#: Field names that identify a row of a node's output. Empty: there is at most one row.
Key = tuple[str, ...]


#: Where a record stands in its topic, for operators that go by the order of rows.
POSITION = (
    Field("__partition", INT.with_nullable(False)),
    Field("__offset", BIGINT.with_nullable(False)),
)


@dataclass(frozen=True)
class Scan:
    """Rows of a table: physical and metadata columns, as its connector gives them.

    Attributes:
        fields: the columns to read, in the table's order; then `POSITION`, where it is asked for.
    """

    table: Table
    fields: tuple[Field, ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """None: a scan is a leaf."""
        return ()

    @property
    def mode(self) -> ChangelogMode:
        """What the connector reads."""
        return self.table.connector.reads


@dataclass(frozen=True)
class Values:
    """The rows that a query spells out.

    Attributes:
        rows: Spark SQL of each value, of its field's type; one row without values where a query
            has no FROM.
    """

    fields: tuple[Field, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def inputs(self) -> tuple[Node, ...]:
        """None: a leaf."""
        return ()

    @property
    def mode(self) -> ChangelogMode:
        """Inserts, each once."""
        return APPEND


@dataclass(frozen=True)
class StaticTable:
    """The rows of a table that does not change, which a program has given.

    Attributes:
        rows: what holds them.
    """

    name: str
    fields: tuple[Field, ...]
    rows: object = field(compare=False, repr=False)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """None: a leaf."""
        return ()

    @property
    def mode(self) -> ChangelogMode:
        """Inserts, each once."""
        return APPEND


@dataclass(frozen=True)
class Normalize:
    """Upserts of a scan -> a full changelog, by the last row kept for each key.

    Removes what changes nothing: an upsert equal to the row it replaces, a delete of an unknown
    key; so it also mends change events that come twice. Flink's `ChangelogNormalize`.

    Attributes:
        before: whether updates come with the row they replace.
        ttl: how long a row is kept after its last upsert; None for as long as it lives.
    """

    input: Scan
    key: Key
    before: bool = True
    ttl: timedelta | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The scan."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the scan; a position is that of the record that made the change."""
        return self.input.fields

    @property
    def mode(self) -> ChangelogMode:
        """All four kinds, or upserts where no one needs the row before."""
        return RETRACT if self.before else UPSERT
