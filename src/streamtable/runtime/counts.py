"""What a job left out, in words; nothing is ever left out unseen."""

from __future__ import annotations

from collections.abc import Mapping

#: Counter -> what it means; the others count what was written.
LEFT_OUT = {
    "nullKeys": "left out, because they have no key",
    "tombstones": "left out, because they have no value and the table is not an upsert one",
    "emptyRecords": "left out, because their key or value is empty",
    "parseErrors": "left out, because they do not parse",
    "deadLetters": "left in the dead-letter topic, because they do not parse",
    "noChanges": "left out, because they change no row of the table",
    "fieldErrors": "read with a field as NULL, because it does not parse",
    "lateRows": "left out, because the watermark had passed what they belong to",
    "nullsDropped": "dropped, because they have NULL for a NOT NULL column",
    "recordsLost": "not taken by Kafka, which delivery guarantee 'none' allows",
}


def left_out(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """One line per table and reason with at least one record.

    Args:
        counts: by the names of the tables, those of `Counters.values`.
    """
    return [
        f"{table}: {values[name]} records {meaning}"
        for table, values in counts.items()
        for name, meaning in LEFT_OUT.items()
        if values.get(name)
    ]
