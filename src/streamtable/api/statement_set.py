"""Statement set: INSERTs that run as one job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.api.family import one_family, refuse_call
from streamtable.api.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamtable.api.job import Job
    from streamtable.api.session import Session
    from streamtable.api.table import Table


class StatementSet:
    """INSERTs that start, run and end together, as EXECUTE STATEMENT SET does.

    Each INSERT is checked when it is added. `execute` empties the set.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._texts: list[Text] = []

    def add_insert_sql(self, text: str, variables: Mapping[str, str] | None = None) -> StatementSet:
        """Add an INSERT statement.

        Args:
            text: the statement.
            variables: values of `${name}`; the environment supplies the rest.

        Raises:
            StreamtableError: INVALID_CALL for another statement, or the error of the INSERT. The
                set then stays as it was.
        """
        with one_family():
            loaded = self._session.check(text, variables)
            only = loaded.statements == 1 and loaded.plans
            if not only:
                hint = "call execute_sql for other statements"
                refuse_call("add_insert_sql()", "the text is not one INSERT", hint)
            self._texts.append(Text(text, {**(variables or {})}))
            return self

    def add_insert(self, target: str, table: Table) -> StatementSet:
        """Add an INSERT of a table into the table `target`, whose name INSERT INTO takes."""
        insert = table.text.after(f"INSERT INTO {target}")
        return self.add_insert_sql(insert.text, insert.variables)

    def execute(self) -> Job:
        """Start one job with all INSERTs of the set, and return it.

        Raises:
            StreamtableError: INVALID_CALL for an empty set.
        """
        with one_family():
            if not self._texts:
                refuse_call("execute()", "the set is empty", "call add_insert_sql first")
            job = self._session.start_job(self._texts)
            self._texts = []
            return job

    def explain(self) -> str:
        """Return the plans of the INSERTs as text, one paragraph each."""
        with one_family():
            return self._session.explain_set(self._texts) if self._texts else ""
