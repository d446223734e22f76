"""Scans of replayed tables, in the shape in which those of topics give their rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import quote
from streamtable.plan.source_nodes import Scan
from streamtable.testing.replayed import PARTITION, Recorded, Replayed


@dataclass(frozen=True)
class ReplayedScans:
    """What `LoweringContext.scanned` asks for.

    Attributes:
        tables: by name, which is that of their topic, too.
        rows_of: all their rows, with every column, by the same names.
    """

    tables: Mapping[str, Replayed | Recorded]
    rows_of: Mapping[str, DataFrame]

    def rows(self, scan: Scan, *, positions: bool, partitions: bool) -> DataFrame:
        """Row kind and fields; then partition and offset; then topic and partition."""
        name = scan.table.name
        columns = [quote(column) for column in (ROW_KIND_COLUMN, *(f.name for f in scan.fields))]
        if positions:
            columns += [PARTITION, "__offset"]
        if partitions:
            columns += [f"'{name}' AS __topic", f"{PARTITION} AS __of_partition"]
        return self.rows_of[name].selectExpr(*columns)

    def partitions(self, table: KafkaTable) -> Iterable[tuple[str, int]]:
        """Those of a table's topic."""
        (topic,) = table.topics
        return [(topic, number) for number in range(self.tables[topic].partitions)]
