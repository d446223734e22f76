"""`Finding`: one result of `streamtable check`, with its severity, place and fix."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from streamtable.core.errors import Span, StreamtableError, singles
from streamtable.core.secrets import without_secrets


class Severity(StrEnum):
    """Severity of a finding."""

    #: The job cannot run.
    ERROR = "error"
    #: The job can run, but may not do what the user expects.
    WARNING = "warning"
    #: The check has passed.
    OK = "ok"


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        severity: whether the check has passed.
        check: what was checked, such as `topic` or `access`.
        table: the table or query that was checked; None for the whole script.
        text: the result in one sentence.
        at: the position of the table or clause in the script.
        fix: what to do; None if there is nothing to do.
    """

    severity: Severity
    check: str
    table: str | None
    text: str
    at: Span | None = None
    fix: str | None = None

    @classmethod
    def of_error(
        cls, error: StreamtableError, check: str, table: str | None = None
    ) -> list[Finding]:
        """Return a finding for each single error."""
        return [
            cls(Severity.ERROR, check, table, fault.message, fault.at, fault.hint)
            for fault in singles(error)
        ]

    def __str__(self) -> str:
        """Return one line: severity, place, table, check, text and fix."""
        place = f"{self.at}: " if self.at and self.severity is not Severity.OK else ""
        owner = f"{self.table}, {self.check}" if self.table else self.check
        fix = f". Fix: {self.fix}" if self.fix else ""
        return without_secrets(f"{self.severity:<8}{place}{owner}: {self.text}{fix}")

    def as_json(self) -> dict[str, object]:
        """Return the finding as a JSON object; a missing value is null."""
        at = self.at
        return {
            "severity": str(self.severity),
            "check": self.check,
            "table": self.table,
            "text": without_secrets(self.text),
            "fix": None if self.fix is None else without_secrets(self.fix),
            "file": at.file if at else None,
            "line": at.line if at else None,
            "column": at.column if at else None,
        }


@dataclass(frozen=True)
class ScanFacts:
    """Facts about the queries that read a table.

    Attributes:
        stateful: whether a query keeps state that depends on the table.
        ttl: the shortest state TTL of these operators; None if state is kept without a limit.
        event_time: whether a query uses the watermark of the table.
        idle_timeout: whether idle splits stop holding the watermark back after a time.
    """

    stateful: bool
    ttl: timedelta | None
    event_time: bool
    idle_timeout: bool
