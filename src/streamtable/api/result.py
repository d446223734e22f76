"""Result: what `execute_sql` returns. It is rows, or a job that runs in the background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from streamtable.api.arrow import arrow_table, pandas_frame
from streamtable.api.family import one_family, refuse_call
from streamtable.api.row import Row
from streamtable.core.answer import Answer
from streamtable.core.types import STRING, Field

_NO_JOB = "the result is rows, not a job"
_TAKE_ROWS = "call print(), collect(), to_pandas() or to_arrow()"


class Result:
    """Result of a statement.

    Rows, of SELECT, SHOW, DESCRIBE and EXPLAIN: `print`, `collect`, `to_pandas`, `to_arrow`. A job,
    of INSERT: `wait`, `stop`, `status`, `metrics`. A method of the other kind raises INVALID_CALL.

    Attributes:
        fields: names and types of the columns.
    """

    fields: tuple[Field, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [field.name for field in self.fields]

    def print(self) -> None:
        """Print the rows to standard output, as Flink's clients do."""
        self._lacks("print()")

    def collect(self) -> Iterator[Row]:
        """Yield the rows. Each `Row` is a tuple with names and a row kind."""
        self._lacks("collect()")

    def to_arrow(self) -> Any:
        """Return the rows as a `pyarrow.Table`, one column per field."""
        with one_family():
            return arrow_table(self._final_rows("to_arrow()"), self.fields, "to_arrow()")

    def to_pandas(self) -> Any:
        """Return the rows as a `pandas.DataFrame`, one column per field."""
        with one_family():
            return pandas_frame(self._final_rows("to_pandas()"), self.fields, "to_pandas()")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end of the job; see `Job.wait`. Rows of SHOW and SET are there at once."""
        del seconds
        self._lacks("wait()")

    def stop(self) -> None:
        """Request a graceful stop of the job; see `Job.stop`."""
        self._lacks("stop()")

    def status(self) -> str:
        """Return the state of the job; see `Job.status`."""
        self._lacks("status()")

    def metrics(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the metrics of the job; see `Job.metrics`."""
        self._lacks("metrics()")

    def get_job_client(self) -> Result | None:
        """Return the job, or None for rows; PyFlink's name."""
        return None

    def _final_rows(self, call: str) -> list[Row]:
        self._lacks(call)

    def _lacks(self, call: str) -> NoReturn:
        refuse_call(call, _NO_JOB, _TAKE_ROWS)


class Answered(Result):
    """Rows that are there at once: of SHOW, DESCRIBE, EXPLAIN, SET, and `OK` of definitions."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.fields = tuple(Field(name, STRING) for name in answer.columns)

    def print(self) -> None:
        """Print the rows to standard output."""
        print(self.answer)  # noqa: T201 - what the call is for

    def collect(self) -> Iterator[Row]:
        """Yield the rows; every value is a text."""
        return iter(self._final_rows("collect()"))

    def wait(self, seconds: float | None = None) -> bool:
        """Return True: there is nothing to wait for."""
        del seconds
        return True

    def __repr__(self) -> str:
        return str(self.answer)

    def _final_rows(self, call: str) -> list[Row]:
        del call
        return [Row(cells, self.columns) for cells in self.answer.rows]


def ok() -> Answered:
    """Return the result of a definition or a setting."""
    return Answered(Answer(("result",), (("OK",),), plain=True))
