"""Lookup join with a table of a connector, such as a table of a database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streamtable.core.errors import InternalError
from streamtable.core.identity import stable
from streamtable.core.table import LookupConnector, Table
from streamtable.core.types import Field
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.node import Node
from streamtable.plan.query.lookup_hints import LookupRetry
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.scan import Scan


@stable("ConnectorLookupJoin", derived=("retry",), keys="keys")
@dataclass(frozen=True)
class ConnectorLookupJoin(LookupJoin):
    """Join each row, as it arrives, with the rows that a connector finds by key; no state.

    The rows of the table may change. A retracted row looks up again, as in Flink, and may find
    other rows than the inserted row did.

    Attributes:
        keys: pairs of a field of the input and the physical column of the table that equals it.
        retry: repetition of lookups without a result; None for none.
    """

    title = "LookupJoin"
    state = None

    keys: tuple[tuple[str, str], ...] = ()
    retry: LookupRetry | None = None

    @property
    def scan(self) -> Scan:
        """The looked-up table, with the columns to read."""
        node: Node = self.table
        while isinstance(node, Calc):
            node = node.input
        if not isinstance(node, Scan):
            msg = f"a lookup in {type(node).__name__}"
            raise InternalError(msg)
        return node

    @property
    def calcs(self) -> tuple[Calc, ...]:
        """Projections and filters over the looked-up rows, the lowest first."""
        found: list[Calc] = []
        node: Node = self.table
        while isinstance(node, Calc):
            found.insert(0, node)
            node = node.input
        return tuple(found)

    @property
    def key_fields(self) -> tuple[Field, ...]:
        """The columns to look up by, in the types of the table."""
        types = {f.name: f.type for f in self.scan.table.schema.physical}
        return tuple(Field(column, types[column]) for _, column in self.keys)

    def in_pairs(self) -> Node:
        """Return a left join with a paired filter over paired filters.

        The table may change between the lookups of the two rows of an update, so that only one of
        them finds a row.
        """
        found = self._filtered()
        return super().in_pairs() if found is None else found.in_pairs()

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the fields that are passed on, those of the condition, and those of the key."""
        (read,) = super().reads(wanted)
        return (read | {name for name, _ in self.keys},)

    @property
    def by_processing_time(self) -> bool:
        """True: a lookup finds the current rows of the table."""
        return True

    @property
    def retracts_unknown(self) -> bool:
        """True for changes: the lookup for a retraction may find other rows than the insert did."""
        return not self.input.mode.is_append

    @property
    def looked_up(self) -> Table:
        """The looked-up table."""
        return self.scan.table

    @property
    def headline(self) -> str:
        """Shows join type, key, condition, and the table's cache."""
        kind = "Left" if self.kind.pads_right else ""
        keys = ", ".join(f"{name} = {column}" for name, column in self.keys)
        condition = f" where {self.condition}" if self.condition else ""
        return f"{kind}LookupJoin on {keys}{condition}, {self._details}"

    @property
    def _details(self) -> str:
        connector = self.scan.table.connector
        text = connector.describe_lookup() if isinstance(connector, LookupConnector) else ""
        if self.retry is None:
            return text
        seconds = self.retry.delay.total_seconds()
        return f"{text}, up to {self.retry.attempts} lookups, {seconds:g} s apart"


def lookup_joins(node: Node) -> Iterator[ConnectorLookupJoin]:
    """Yield the lookup joins with connectors in a tree, from the top."""
    if isinstance(node, ConnectorLookupJoin):
        yield node
    for child in node.inputs:
        yield from lookup_joins(child)
