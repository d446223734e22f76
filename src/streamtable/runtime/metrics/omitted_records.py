"""Counts of records that a job omitted, in words. Every omitted record is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Counter -> its meaning. All other counters count records read and written.
OMITTED = {
    "nullKeys": "skipped, because they have no key",
    "tombstones": "skipped, because they have no value and the table is not an upsert table",
    "emptyRecords": "skipped, because their key or value is empty",
    "parseErrors": "skipped, because they cannot be parsed",
    "deadLetters": "written to the dead-letter topic, because they cannot be parsed",
    "noChanges": "skipped, because they change no row of the table",
    "fieldErrors": "read with a field as NULL, because the field cannot be parsed",
    "lateRows": "dropped as late, because the watermark had passed",
    "nullsDropped": "dropped, because they have NULL in a NOT NULL column",
    "recordsLost": "not accepted by the sink, which delivery guarantee 'none' allows",
}


@dataclass(frozen=True)
class OmittedRecords:
    """Number of omitted records of a table, for one reason; as text a line for the user."""

    table: str
    records: int
    reason: str

    def __str__(self) -> str:
        return f"{self.table}: {self.records} records {self.reason}"


def omitted_records(counts: Mapping[str, Mapping[str, int]]) -> list[OmittedRecords]:
    """Return one item per table and reason with at least one omitted record.

    Args:
        counts: values of `Counters.values`, by the names of the tables.
    """
    return [
        OmittedRecords(table, values[name], meaning)
        for table, values in counts.items()
        for name, meaning in OMITTED.items()
        if values.get(name)
    ]
