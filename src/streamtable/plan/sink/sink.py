"""Root nodes of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamtable.core.errors import Span
from streamtable.core.identity import stable
from streamtable.core.table import Table
from streamtable.core.types import Field
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
    derived=("set_at", "in_batches", "scan_reuse", "window_buckets"),
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
        not_null: columns that must not be NULL.
        at: place of the INSERT.
        set_at: place of the statement set whose INSERTs may share a scan with this one; None if the
            INSERT shares no scan.
        in_batches: whether the settings of the set exclude real-time mode.
        scan_reuse: when one scan serves several places of the query.
        window_buckets: whether windows keep their groups in buckets (`WindowAggregate.in_buckets`).
    """

    input: Node
    table: Table
    not_null: tuple[str, ...] = ()
    at: Span | None = None
    set_at: Span | None = None
    in_batches: bool = False
    scan_reuse: ScanReuse = ScanReuse.NEVER
    window_buckets: bool = False

    @property
    def key(self) -> Key:
        """The primary key of the table."""
        return self.table.schema.primary_key


@stable("Collect", input="input", columns="columns", at="at")
@dataclass(frozen=True)
class Collect:
    """Display a query.

    Attributes:
        input: one text field per column.
        columns: names and types in the query; names may repeat.
        at: place of the SELECT.
    """

    input: Node
    columns: tuple[Field, ...]
    at: Span | None = None


#: The root node of a plan.
Root = Sink | Collect
