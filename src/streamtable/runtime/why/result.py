"""The answer of `streamtable why`, as lines and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from streamtable.core.secrets import without_secrets


class Reason(Enum):
    """Why an operator drops all rows of a key."""

    NEVER_READ = "never read"
    DELETED = "deleted"
    CHANGED = "changed"
    FILTERED = "filtered"
    UNMATCHED = "unmatched"
    MATCHED = "matched"
    RANKED_OUT = "ranked out"
    WAITING = "waiting"
    OTHER_VALUE = "other value"
    DROPPED = "dropped"


@dataclass(frozen=True)
class Record:
    """A stored record.

    Attributes:
        time: its timestamp, in the session's time zone.
        content: its columns as a JSON object.
        kind: its row kind, unless it is an insert.
        why: what an operator finds in its row, such as a condition that is false.
    """

    table: str
    partition: int
    offset: int
    time: str | None
    content: str
    kind: str | None = None
    why: str | None = None

    @property
    def line(self) -> str:
        """The record for a terminal."""
        place = f"partition {self.partition}  offset {self.offset}  {self.time or 'no time'}"
        kind = f"  {self.kind}" if self.kind else ""
        why = f"  {self.why}" if self.why else ""
        return f"{self.table}  {place}{kind}  {self.content}{why}"

    def as_json(self) -> dict[str, Any]:
        """Return the record as an object."""
        found = {
            "table": self.table,
            "partition": self.partition,
            "offset": self.offset,
            "time": self.time,
            "kind": self.kind,
            "columns": Raw(self.content),
            "why": self.why,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class FoundRow:
    """A row of the key and the records from which it comes, newest first.

    Attributes:
        whole: the row as a JSON object.
        values: the columns that are not in the key, as a JSON object.
        more: whether the row comes from more records than these.
    """

    whole: str
    values: str
    records: tuple[Record, ...]
    more: bool


@dataclass(frozen=True)
class OperatorLine:
    """An operator and the rows of the key that it takes and emits.

    Attributes:
        operator: its name.
        inputs: number of rows of each input; for a scan, the number of records.
        output: number of rows.
        notes: what is to say about it.
        reason: why no row is left.
        records: the newest records of the dropped rows.
    """

    operator: str
    inputs: tuple[int, ...]
    output: int
    notes: tuple[str, ...] = ()
    reason: Reason | None = None
    records: tuple[Record, ...] = ()
    is_scan: bool = False

    @property
    def line(self) -> str:
        """The operator for a terminal."""
        if self.is_scan:
            counts = counted(self.inputs[0], "record")
            if self.output != self.inputs[0]:
                counts += f", {counted(self.output, 'row')} left"
        else:
            taken = " and ".join(str(number) for number in self.inputs)
            rows = "row" if self.inputs == (1,) else "rows"
            counts = f"{taken} {rows} in, {self.output} out"
        notes = f": {'; '.join(self.notes)}" if self.notes else ""
        return without_secrets(f"{self.operator}: {counts}{notes}")

    def as_json(self) -> dict[str, Any]:
        """Return the operator as an object."""
        return {
            "operator": without_secrets(self.operator),
            "in": list(self.inputs),
            "out": self.output,
            "reason": self.reason.value if self.reason else None,
            "notes": [without_secrets(note) for note in self.notes],
            "records": [record.as_json() for record in self.records],
        }


@dataclass(frozen=True)
class QueryAnswer:
    """The answer of one INSERT: the rows of the key, or the operators up to the one without rows.

    Attributes:
        query: the place of the INSERT.
        batch: the newest committed batch of the checkpoint; None for the records of now.
        notes: limits of the answer.
    """

    query: str
    batch: int | None = None
    rows: tuple[FoundRow, ...] = ()
    operators: tuple[OperatorLine, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def reason(self) -> Reason | None:
        """Why there is no row: that of the uppermost operator with a reason."""
        reasons = [line.reason for line in self.operators if line.reason]
        return reasons[-1] if reasons else None


@dataclass(frozen=True)
class WhyAnswer:
    """The answers of all INSERTs into a table."""

    table: str
    key: str
    key_text: str
    queries: tuple[QueryAnswer, ...] = field(default=())

    def lines(self) -> Iterator[str]:
        """Yield the answer for a terminal."""
        for query in self.queries:
            head = f"{self.table} ({self.key_text})"
            if len(self.queries) > 1:
                head += f" of the INSERT at {query.query}"
            if query.batch is not None:
                head += f" at batch {query.batch}"
            for row in query.rows:
                records = counted(len(row.records), "record")
                records = f"more than {records}" if row.more else records
                yield f"{head}: {row.values} from {records}"
                yield from (f"  {record.line}" for record in row.records)
            if not query.rows:
                reason = f": {query.reason.value}" if query.reason else ""
                yield f"{head}: no row{reason}"
                for line in query.operators:
                    yield f"  {line.line}"
                    yield from (f"    {record.line}" for record in line.records)
            yield from (f"  note: {without_secrets(note)}" for note in query.notes)

    def json(self) -> str:
        """Return the answer as one JSON object."""
        return as_text(
            {
                "table": self.table,
                "key": Raw(self.key),
                "queries": [
                    {
                        "query": query.query,
                        "batch": query.batch,
                        "rows": [
                            {
                                "row": Raw(row.whole),
                                "records": [record.as_json() for record in row.records],
                                "more": row.more,
                            }
                            for row in query.rows
                        ],
                        "reason": query.reason.value if query.reason else None,
                        "operators": [line.as_json() for line in query.operators],
                        "notes": [without_secrets(note) for note in query.notes],
                    }
                    for query in self.queries
                ],
            }
        )


class Raw(str):
    """JSON that is already text: numbers keep all their digits."""

    __slots__ = ()


def as_text(value: Any) -> str:
    """Format a value as JSON; `Raw` texts are inserted as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        inside = (f"{json.dumps(key)}: {as_text(item)}" for key, item in value.items())
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def counted(number: int, noun: str) -> str:
    """Return `1 record` or `2 records`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def limited(texts: Sequence[str], limit: int) -> str:
    """Join some texts, and count the others."""
    more = len(texts) - limit
    return ", ".join([*texts[:limit], *([f"{more} more"] if more > 0 else [])])
