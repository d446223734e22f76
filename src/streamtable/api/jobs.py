"""The jobs of a session: SHOW JOBS, DESCRIBE JOB and STOP JOB."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from streamtable.api.job import Job
from streamtable.core.answer import Answer
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.statements.jobs import DescribeJob, JobStatement, ShowJobs, StopJob

_HEADINGS = ("job id", "job name", "status", "start time")


class Jobs:
    """Jobs of a session in the order of their start, with those that have ended."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def __iter__(self) -> Iterator[Job]:
        return iter(list(self._jobs.values()))

    def __len__(self) -> int:
        return len(self._jobs)

    def next_id(self) -> str:
        """Return the id of the next job: 1, 2, 3, ..."""
        return str(len(self._jobs) + 1)

    def add(self, job: Job) -> None:
        """Add a job under its id."""
        self._jobs[job.id] = job

    @property
    def running(self) -> list[Job]:
        """The jobs that have not ended."""
        return [job for job in self if job.running]

    def find(self, job: str, at: Span | None = None) -> Job:
        """Return the job of an id; UNKNOWN_JOB otherwise."""
        if job not in self._jobs:
            known = ", ".join(f"'{each}'" for each in self._jobs)
            hint = f"the session has {known}" if known else "the session has started no job"
            raise StreamtableError(Condition.UNKNOWN_JOB, at=at, job=job, hint=hint)
        return self._jobs[job]

    def check(self, command: JobStatement) -> None:
        """Raise the error of a command before anything is done.

        Raises:
            StreamtableError: UNKNOWN_JOB; CHANGE_REFUSED for a job that has ended, or for a
                savepoint of a job that keeps no checkpoint.
        """
        if isinstance(command, ShowJobs):
            return
        job = self.find(command.id, command.id_at)
        if isinstance(command, StopJob) and not job.running:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=command.id_at,
                change=f"STOP JOB '{job.id}'",
                reason=f"it has ended: {job.status()}",
                hint=f"DESCRIBE JOB '{job.id}' tells how",
            )
        if isinstance(command, StopJob) and command.savepoint and not job.keeps:
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=command.at,
                change="STOP JOB ... WITH SAVEPOINT",
                reason="the job keeps no checkpoint",
                hint="remove WITH SAVEPOINT, or SET 'execution.checkpointing.dir' before INSERT",
            )

    def run(self, command: JobStatement) -> Answer:
        """Run a command that `check` accepts; STOP JOB waits for the end of the job."""
        match command:
            case ShowJobs():
                return Answer(_HEADINGS, tuple(map(_listed, self)))
            case DescribeJob():
                return _described(self.find(command.id))
            case StopJob():
                job = self.find(command.id)
                job.stop()
                job.wait()
                return Answer(("result",), (("OK",),), plain=True)


def _listed(job: Job) -> tuple[str, ...]:
    return (job.id, job.name, job.status(), _time(job.started))


def _described(job: Job) -> Answer:
    """Return key and value of everything that is known of a job."""
    seconds = round(((job.ended or datetime.now(UTC)) - job.started).total_seconds())
    rows = [*zip(_HEADINGS, _listed(job), strict=True), ("duration", f"{seconds} s")]
    error = job.error
    rows += [("error", str(error))] if error is not None else []
    values = job.metrics()
    for name, query in values["queries"].items():
        parts = {"mode": query["mode"], "watermark": query["watermark"]}
        parts["state"] = f"{query['stateBytes'] / 1e6:,.1f} MB" if query["operators"] else None
        rows.append((f"query {name}", _joined(parts)))
    rows += [(f"table {name}", _flow(table)) for name, table in values["tables"].items()]
    return Answer(("key", "value"), tuple((key, value) for key, value in rows))


def _flow(table: dict[str, Any]) -> str:
    """Return the rates and counts of a table that a job reads or writes."""
    parts: dict[str, object] = {}
    for word, metric in (("in", "numRecordsIn"), ("out", "numRecordsOut")):
        if metric in table:
            parts[word] = f"{table[metric]:,} ({table[f'{metric}PerSecond']:,.0f}/s)"
    parts["lag"] = table.get("pendingRecords")
    parts["errors"] = table["numErrors"] or None
    return _joined(parts)


def _joined(parts: dict[str, object]) -> str:
    return ", ".join(f"{word} {value}" for word, value in parts.items() if value is not None)


def _time(moment: datetime) -> str:
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
