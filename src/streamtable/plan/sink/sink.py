"""Root nodes of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.options import Settings
from streamtable.core.settings.table import (
    NOT_NULL_ENFORCER,
    TYPE_LENGTH_ENFORCER,
    NotNullEnforcer,
    TypeLengthEnforcer,
)
from streamtable.core.table import Table
from streamtable.core.types import Field
from streamtable.plan.keys import ordered_keys
from streamtable.plan.node import Key, Node


class ScanReuse(Enum):
    """When one scan serves several places of a query (`plan.sink.reused_scan`)."""

    NEVER = "never"
    #: If real-time mode can run the query with as many scans as micro-batches.
    IN_BOTH_MODES = "in both modes"
    #: Also if micro-batches alone can run the query then.
    ALWAYS = "always"


@stable(
    "Sink",
    derived=("set_at", "in_batches", "scan_reuse", "lacking"),
    input="input",
    table="table",
    not_null="not_null",
    at="at",
)
@dataclass(frozen=True)
class Sink:
    """Write a query into a table.

    Attributes:
        input: its fields have the names, order and types of the table's persisted columns.
        settings: the settings in force at the INSERT; they are not part of equality.
        not_null: NOT NULL columns for which the query has a nullable type.
        at: place of the INSERT.
        set_at: place of the statement set whose INSERTs may share a scan with this one; None if the
            INSERT shares no scan.
        in_batches: whether the settings of the set exclude real-time mode.
        scan_reuse: when one scan serves several places of the query.
        lacking: ids of state layouts that the checkpoint of the query lacks; its operators keep the
            layouts that were before.
    """

    input: Node
    table: Table
    settings: Settings = field(compare=False, repr=False)
    not_null: tuple[str, ...] = ()
    at: Span | None = None
    set_at: Span | None = None
    in_batches: bool = False
    scan_reuse: ScanReuse = ScanReuse.NEVER
    lacking: frozenset[str] = frozenset()

    @property
    def key(self) -> Key:
        """The primary key of the table."""
        return self.table.schema.primary_key

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that must not be NULL, as in Flink whatever type the query has for them.

        A field that a record lacks is NULL, and so is a cast that overflows.
        """
        return tuple(f.name for f in self.table.schema.persisted if not f.type.nullable)

    @property
    def fits_rows(self) -> bool:
        """Whether constraints drop rows or change their values, instead of failing the job."""
        if self.settings[NOT_NULL_ENFORCER] is NotNullEnforcer.DROP and self.required:
            return True
        trims = self.settings[TYPE_LENGTH_ENFORCER] is TypeLengthEnforcer.TRIM_PAD
        return trims and any(f.type.has_length for f in self.table.schema.persisted)

    def keys_in(self, keys: Iterable[Key]) -> list[Key]:
        """Return the keys of the query that are the primary key of the table, without constants."""
        constants = self.input.constants
        return [key for key in keys if set(key) <= set(self.key) <= {*key, *constants}]

    @property
    def takes_upserts(self) -> bool:
        """Whether the table takes updates and deletes, and no update-before rows."""
        writes = self.table.connector.writes
        return not writes.is_append and not writes.has_before

    @property
    def needs_before(self) -> bool:
        """Whether a table of upserts needs update-before rows.

        It does unless the new row of an update has the key of the old row and so replaces it. As in
        Flink, `table.exec.sink.upsert-materialize` does not matter.
        """
        changes = self.takes_upserts and not self.input.mode.is_append
        return changes and not self.keys_in(ordered_keys(self.input))

    @property
    def deletes_before(self) -> bool:
        """Whether an update-before row deletes its key, as in Flink's upsert sinks."""
        return self.needs_before and self.input.mode.has_before


@stable("Collect", input="input", columns="columns", at="at")
@dataclass(frozen=True)
class Collect:
    """Display a query.

    Attributes:
        input: one text field per column.
        columns: names and types in the query; names may repeat.
        settings: the settings in force at the SELECT; they are not part of equality.
        at: place of the SELECT.
    """

    input: Node
    columns: tuple[Field, ...]
    settings: Settings = field(compare=False, repr=False)
    at: Span | None = None


#: The root node of a plan.
Root = Sink | Collect
