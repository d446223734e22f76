"""The changelog plan: frozen nodes, each of which knows its fields, unique keys and row kinds.

A node's `fields` are named uniquely, so that Spark SQL texts can refer to them by name alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from streamtable.core.changelog import RETRACT, UPSERT, ChangelogMode, RowKind
from streamtable.core.errors import Span
from streamtable.core.table import Table
from streamtable.core.types import Field
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.source_nodes import Key, Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_joins import IntervalJoin, TemporalJoin, WindowJoin
from streamtable.plan.time_nodes import (
    SessionTable,
    TimeNode,
    WatermarkAssigner,
    WindowAggregate,
    WindowTable,
    WindowTopN,
)


@dataclass(frozen=True)
class Projection:
    """One output column of a `Calc`.

    Attributes:
        sql: Spark SQL over the input's fields.
        source: the input field, where the column is nothing but that field.
        reads: the input fields it is computed from.
        constant: whether every row gets the same value.
    """

    field: Field
    sql: str
    source: str | None = None
    reads: frozenset[str] = frozenset()
    constant: bool = False


@dataclass(frozen=True)
class Calc:
    """Projection and filter, row by row.

    Attributes:
        condition: Spark SQL; a row passes where it is true. None passes all.
        condition_fields: input fields that the condition reads.
        paired: whether the filter looks at an update's two rows together, so that a row that
            stops matching becomes its delete and one that never matched gives nothing. Needed
            where a filter stands between a changelog and a consumer of upserts.
        before: whether a paired filter gives updates with the row they replace.
        deletes: whether a row that the filter stops comes out as the delete of its key; so a
            consumer of upserts that keeps the last row of each key by itself wants it.
    """

    input: Node
    projections: tuple[Projection, ...]
    condition: str | None = None
    condition_fields: frozenset[str] = frozenset()
    paired: bool = False
    before: bool = False
    deletes: bool = False

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """One per projection."""
        return tuple(p.field for p in self.projections)

    @property
    def mode(self) -> ChangelogMode:
        """That of the input; a paired filter takes back the before-images and may add deletes."""
        if self.paired:
            return RETRACT if self.before else UPSERT
        return self.input.mode


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate of a `GroupAggregate`.

    Attributes:
        function: its name in `plan.functions`.
        output: name and type of the result.
        argument: the input field it takes; None for COUNT(*).
        distinct: whether equal values count once.
        filter: a BOOLEAN input field; only rows where it is true take part.
        parameters: what the function takes beside its values, as the operator wants it.
    """

    function: str
    output: Field
    argument: str | None = None
    distinct: bool = False
    filter: str | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True)
class GroupAggregate:
    """One row per group, kept up to date under inserts, updates and deletes.

    Attributes:
        keys: grouping fields of the input; empty for one group of everything.
        before: whether updates come with the row they replace.
        order: input fields by which aggregates that go by the order of rows take those of a batch;
            then, or without such fields, by all fields from the left.
        ttl: how long a group is kept after its last change; None for as long as it has rows.
    """

    input: Node
    keys: Key
    calls: tuple[AggregateCall, ...]
    before: bool = False
    order: Key = ()
    ttl: timedelta | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """One."""
        return (self.input,)

    @property
    def fields(self) -> tuple[Field, ...]:
        """The keys, then one per call."""
        by_name = {f.name: f for f in self.input.fields}
        return (*(by_name[k] for k in self.keys), *(c.output for c in self.calls))

    @property
    def mode(self) -> ChangelogMode:
        """Inserts and updates; deletes only where the input can take rows back."""
        kinds = {RowKind.INSERT, RowKind.UPDATE_AFTER}
        if self.before:
            kinds.add(RowKind.UPDATE_BEFORE)
        if not self.input.mode.is_append:
            kinds.add(RowKind.DELETE)
        return ChangelogMode(frozenset(kinds))


@dataclass(frozen=True)
class UnionAll:
    """The rows of several inputs with equal fields, duplicates kept."""

    inputs: tuple[Node, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those that every input has; `query` made their names and types match."""
        shared = set.intersection(*({f.name for f in node.fields} for node in self.inputs))
        return tuple(f for f in self.inputs[0].fields if f.name in shared)

    @property
    def mode(self) -> ChangelogMode:
        """Whatever any input produces."""
        return ChangelogMode(frozenset().union(*(node.mode.kinds for node in self.inputs)))


#: Every `TimeOperator`.
EventTimeNode = (
    TimeNode
    | TemporalJoin
    | IntervalJoin
    | WindowJoin
    | OverAggregate
    | Deduplicate
    | SortedOver
    | ArrivalOver
    | ArrivalDeduplicate
    | LookupJoin
)

Node = (
    Scan
    | Values
    | StaticTable
    | Normalize
    | Calc
    | Expand
    | GroupAggregate
    | UnionAll
    | Join
    | Materialize
    | Repeat
    | TopN
    | EventTimeNode
)


@dataclass(frozen=True)
class Sink:
    """Writes a query into a table.

    Attributes:
        input: fields are the table's persisted columns, by name, in order and of their types.
        not_null: columns that must not be NULL.
        at: where the INSERT stands.
    """

    input: Node
    table: Table
    not_null: tuple[str, ...] = ()
    at: Span | None = None

    @property
    def key(self) -> Key:
        """The primary key of the table."""
        return self.table.schema.primary_key


@dataclass(frozen=True)
class Collect:
    """Shows a query.

    Attributes:
        input: one text field per column.
        columns: names and types as the query has them; names may be equal.
        at: where the SELECT stands.
    """

    input: Node
    columns: tuple[Field, ...]
    at: Span | None = None


#: What a query is planned for.
Root = Sink | Collect


def scans(node: Node) -> tuple[Scan, ...]:
    """Every scan below a node, left to right."""
    if isinstance(node, Scan):
        return (node,)
    return tuple(scan for child in node.inputs for scan in scans(child))


#: How each node is called in messages and in EXPLAIN.
NODE_NAMES: Mapping[type, str] = {
    Scan: "Scan",
    Normalize: "ChangelogNormalize",
    Calc: "Calc",
    Expand: "Expand",
    GroupAggregate: "GroupAggregate",
    UnionAll: "Union",
    Join: "Join",
    Materialize: "Materialize",
    Repeat: "Repeat",
    TopN: "TopN",
    Values: "Values",
    StaticTable: "StaticTable",
    WatermarkAssigner: "WatermarkAssigner",
    WindowTable: "WindowTable",
    SessionTable: "SessionTable",
    WindowAggregate: "WindowAggregate",
    WindowTopN: "WindowTopN",
    TemporalJoin: "TemporalJoin",
    IntervalJoin: "IntervalJoin",
    WindowJoin: "WindowJoin",
    OverAggregate: "OverAggregate",
    SortedOver: "OverAggregate",
    Deduplicate: "Deduplicate",
    ArrivalOver: "OverAggregate",
    ArrivalDeduplicate: "Deduplicate",
    LookupJoin: "LookupJoin",
}

__all__ = [
    "NODE_NAMES",
    "AggregateCall",
    "Calc",
    "Collect",
    "GroupAggregate",
    "Node",
    "Projection",
    "Root",
    "Sink",
    "UnionAll",
    "scans",
]
