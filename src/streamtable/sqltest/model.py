"""Cases of a file, bound to the tables of their script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Span
from streamtable.core.table import Table
from streamtable.plan.sink.sink import Sink
from streamtable.session import Session
from streamtable.sqltest.document import CaseFile


@dataclass(frozen=True)
class InputRow:
    """A row of a source; values in the order of `input_fields`."""

    kind: RowKind
    values: tuple[Any, ...]
    partition: int


@dataclass(frozen=True)
class Batch:
    """One micro-batch.

    Attributes:
        rows: table -> its rows.
        watermark: the time to which the batch advances the watermark, as written in the file.
        ends: whether the input ends.
        clock_ms: processing time, in epoch milliseconds.
    """

    rows: Mapping[str, tuple[InputRow, ...]]
    clock_ms: int
    watermark: datetime | None = None
    ends: bool = False


@dataclass(frozen=True)
class Wanted:
    """Expected rows of the compared columns, each a tuple; row kinds only in a changelog."""

    columns: tuple[int, ...]
    rows: tuple[tuple[RowKind, tuple[Any, ...]], ...]


@dataclass(frozen=True)
class Expected:
    """The expectation of one sink table; None if the file does not have it."""

    table: Table
    rows: Wanted | None
    changes: Wanted | None


@dataclass(frozen=True)
class Case:
    """A case that can run."""

    name: str
    at: Span
    batches: tuple[Batch, ...]
    expected: tuple[Expected, ...]


@dataclass(frozen=True)
class Bound:
    """A test file with its script.

    Attributes:
        zone: time zone of the script; UTC if the script sets none.
        sources: the tables that the script reads, by name.
    """

    file: CaseFile
    session: Session
    zone: tzinfo
    sources: Mapping[str, Table]
    cases: tuple[Case, ...]

    @property
    def plans(self) -> Sequence[Sink]:
        """The plans of the script's INSERTs."""
        return self.session.plans
