"""Columns that a batch answer carries through all operators, such as the lineage of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from streamtable.core.types import quote

#: Type of the column of `Lineage`; the first element is the newest record.
LINEAGE_TYPE = "ARRAY<STRUCT<time: TIMESTAMP, scan: INT, partition: INT, offset: BIGINT>>"


class Carried(Protocol):
    """One additional column of every DataFrame of a batch answer, as Spark SQL."""

    @property
    def column(self) -> str:
        """Name of the column; no field has it."""

    @property
    def constant(self) -> str:
        """Value of a row that comes from no record."""

    def of_record(self, scan: int) -> str:
        """Return the value of a record.

        Args:
            scan: number of the scan, from 0, left to right. The expression may read `__partition`,
                `__offset` and `__time`.
        """

    def of_group(self, column: str) -> str:
        """Return an aggregate expression over the column of the rows of a group."""

    def of_pair(self, left: str, right: str) -> str:
        """Return the value of a joined row; a side without a match has NULL."""


@dataclass(frozen=True)
class Lineage(Carried):
    """The input records of each row, newest first: time, number of the scan, partition, offset.

    Attributes:
        limit: maximum number of records per row; older records are left out.
        column: the name of the column.
    """

    limit: int = 100
    column: str = "__lineage"

    @property
    def constant(self) -> str:
        """No records."""
        return f"CAST(array() AS {LINEAGE_TYPE})"

    def of_record(self, scan: int) -> str:
        """Return the record itself."""
        parts = f"'time', __time, 'scan', {scan}, 'partition', __partition, 'offset', __offset"
        return f"CAST(array(named_struct({parts})) AS {LINEAGE_TYPE})"

    def of_group(self, column: str) -> str:
        """Return the newest records of all rows of the group."""
        return self._newest(f"flatten(collect_list({quote(column)}))")

    def of_pair(self, left: str, right: str) -> str:
        """Return the newest records of both rows."""
        sides = (f"coalesce({side}, {self.constant})" for side in (left, right))
        return self._newest(f"concat({', '.join(sides)})")

    def _newest(self, records: str) -> str:
        return f"slice(sort_array(array_distinct({records}), false), 1, {self.limit})"
