"""Tables with histories: the changes that a scan emits, and the final rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.testing.histories import Change, Values

#: A row as JSON values.
Row = Mapping[str, Any]
#: The partition of a scanned record.
PARTITION = "__partition"
_PARTITIONS = 2


class Style(Enum):
    """The changelog mode of a table."""

    UPSERT = "upsert"
    APPEND = "append"
    CHANGES = "changes"


@dataclass(frozen=True)
class Replayed:
    """A table with a history, and the key column `k`.

    Attributes:
        columns: the columns in SQL, `k INT` first.
        batches: the changes of each micro-batch.
        computed: further declarations: computed columns and a watermark.
    """

    style: Style
    columns: str
    batches: Sequence[Sequence[Change]]
    computed: str = ""

    @property
    def partitions(self) -> int:
        """The number of partitions of its topic."""
        return _PARTITIONS

    def ddl(self, name: str) -> str:
        """Return a CREATE TABLE of the same shape, over a topic that is never read."""
        keyed = self.style is not Style.APPEND
        return _ddl(name, self.columns, self.style, self.computed, keyed=keyed)

    def tables(self) -> Iterator[list[Row]]:
        """Yield the table after each batch."""
        live: dict[int, Values] = {}
        added: list[Row] = []
        for batch in self.batches:
            for change in batch:
                if change.values is None:
                    live.pop(change.key, None)
                else:
                    live[change.key] = change.values
                    added.append({"k": change.key, **change.values})
            keyed: list[Row] = [{"k": key, **values} for key, values in live.items()]
            yield [*added] if self.style is Style.APPEND else keyed

    def records(self) -> Iterator[list[Row]]:
        """Yield the rows that a scan emits in each batch."""
        live: dict[int, Values] = {}
        for batch in self.batches:
            yield [row for change in batch for row in self._rows(change, live)]

    def _rows(self, change: Change, live: dict[int, Values]) -> Iterator[Row]:
        before = live.pop(change.key, None)
        if change.values is not None:
            live[change.key] = change.values
        if self.style is Style.APPEND:
            kinds = [(RowKind.INSERT, change.values)]
        elif self.style is Style.UPSERT:
            kind = RowKind.DELETE if change.values is None else RowKind.UPDATE_AFTER
            kinds = [(kind, change.values)]
        else:
            kinds = _changes(before, change.values)
        for kind, values in kinds:
            row = {ROW_KIND_COLUMN: kind.value, "k": change.key, **(values or {})}
            yield {**row, PARTITION: change.key % _PARTITIONS}


@dataclass(frozen=True)
class Recorded:
    """A table of one partition, whose rows have row kinds, batch by batch.

    The table has no key, except for upserts, whose key is the column `k`.

    Attributes:
        columns: the columns in SQL.
        computed: further declarations: computed columns and a watermark.
    """

    style: Style
    columns: str
    batches: Sequence[Sequence[tuple[RowKind, Sequence[Any]]]]
    computed: str = ""
    partitions = 1

    def ddl(self, name: str) -> str:
        """Return a CREATE TABLE of the same shape, over a topic that is never read."""
        keyed = self.style is Style.UPSERT
        return _ddl(name, self.columns, self.style, self.computed, keyed=keyed)

    def records(self) -> Iterator[list[Row]]:
        """Yield the rows that a scan emits in each batch."""
        names = re.findall(r"(?:^|, )([a-z]+) ", self.columns)
        for batch in self.batches:
            rows = [(kind, dict(zip(names, values, strict=True))) for kind, values in batch]
            yield [{ROW_KIND_COLUMN: kind.value, **row, PARTITION: 0} for kind, row in rows]


def _ddl(name: str, columns: str, style: Style, computed: str, *, keyed: bool) -> str:
    more = f", {computed}" if computed else ""
    more += ", PRIMARY KEY (k) NOT ENFORCED" if keyed else ""
    options = {
        Style.UPSERT: "'connector' = 'upsert-kafka', 'key.format' = 'json',"
        " 'value.format' = 'json'",
        Style.APPEND: "'connector' = 'kafka', 'format' = 'json'",
        Style.CHANGES: "'connector' = 'kafka', 'format' = 'debezium-json'",
    }[style]
    return (
        f"CREATE TABLE {name} ({columns}{more}) WITH ({options}, 'topic' = '{name}',"
        " 'properties.bootstrap.servers' = 'localhost:9092');"
    )


def _changes(before: Values | None, after: Values | None) -> list[tuple[RowKind, Values | None]]:
    if before is None:
        return [] if after is None else [(RowKind.INSERT, after)]
    if after is None:
        return [(RowKind.DELETE, before)]
    return [(RowKind.UPDATE_BEFORE, before), (RowKind.UPDATE_AFTER, after)]
