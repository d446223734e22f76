"""Statements about the running jobs of a session: SHOW JOBS, DESCRIBE JOB and STOP JOB."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.errors import Span
from streamtable.sql.lexer.cursor import Cursor

_ID = "the id of a job in quotes, as SHOW JOBS lists it"


@dataclass(frozen=True)
class ShowJobs:
    """`SHOW JOBS`."""

    at: Span


@dataclass(frozen=True)
class DescribeJob:
    """`DESCRIBE JOB 'id'`; `id_at` is the place of the id."""

    id: str
    at: Span
    id_at: Span


@dataclass(frozen=True)
class StopJob:
    """`STOP JOB 'id' [WITH SAVEPOINT]`; `id_at` is the place of the id.

    Attributes:
        savepoint: whether a later job must be able to continue from the stop.
    """

    id: str
    at: Span
    id_at: Span
    savepoint: bool = False


JobStatement = ShowJobs | DescribeJob | StopJob


class JobParser(Cursor):
    """Parse statements about jobs."""

    def job_statement(self) -> JobStatement | None:
        """Parse a statement about jobs; None if the tokens are another statement."""
        at = self.peek().at
        if self.accept("SHOW", "JOBS"):
            return ShowJobs(at)
        if self.accept("DESCRIBE", "JOB") or self.accept("DESC", "JOB"):
            id_at = self.peek().at
            return DescribeJob(self.text(_ID), at, id_at)
        if not self.accept("STOP", "JOB"):
            return None
        id_at = self.peek().at
        job = self.text(_ID)
        savepoint = self.accept("WITH", "SAVEPOINT") is not None
        if self.sees("WITH", "DRAIN"):
            self.refuse("STOP JOB ... WITH DRAIN", hint="remove WITH DRAIN")
        return StopJob(job, at, id_at, savepoint)
