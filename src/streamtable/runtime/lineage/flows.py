"""Flows of a job: the datasets that each of its queries reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streamtable.connector_api.dataset import Dataset, Located
from streamtable.core.table import Table
from streamtable.plan.join.connector_lookup_join import lookup_joins
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans

#: Names of columns, with their types in SQL if they are known.
Columns = Sequence[tuple[str, str | None]]


@dataclass(frozen=True)
class Flow:
    """Datasets of a query with their columns.

    Attributes:
        sink: the table whose metrics count what is written; None if no table counts it alone.
    """

    inputs: Mapping[Dataset, Columns]
    outputs: Mapping[Dataset, Columns]
    sink: str | None = None


def flow_of(plan: Sink) -> Flow:
    """Return the flow of a query, with the tables that it looks up."""
    read = [scan.table for scan in scans(plan.input)]
    looked_up = [join.looked_up for join in lookup_joins(plan.input)]
    return Flow(_datasets([*read, *looked_up]), _datasets([plan.table]), plan.table.name)


def _datasets(tables: Iterable[Table]) -> dict[Dataset, Columns]:
    return {
        dataset: [(field.name, str(field.type)) for field in table.schema.stored]
        for table in tables
        if isinstance(table.connector, Located)
        for dataset in table.connector.datasets()
    }
