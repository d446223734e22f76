"""Session of the Python API: runs statements one after the other, each of them whole or not at all.

A call loads its text into a copy of the catalog and the settings. The copy replaces them if the
text is valid, so a refused text changes nothing, and a job runs what its own text says.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from streamtable.api.execution import Execution
from streamtable.api.family import one_family, refuse_call
from streamtable.api.hold import SparkHold
from streamtable.api.job import Job
from streamtable.api.jobs import Jobs
from streamtable.api.moments import MomentLike, moment_of
from streamtable.api.result import Result
from streamtable.api.statement_set import StatementSet
from streamtable.api.table import Table
from streamtable.api.text import Text
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings, time_zone
from streamtable.session import Session as Engine
from streamtable.sql.lexer.script import NO_FILE
from streamtable.udaf import AggregateFunction, UserDefinedAggregateFunction, udaf
from streamtable.udf import UserDefinedFunction, UserDefinedTableFunction, udf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: What a program may register as a function.
Function = Callable[..., Any] | AggregateFunction | UserDefinedAggregateFunction
#: What `streamtable.udf` makes of a function, and the name of its declaration.
_DECLARED: dict[type, str] = {
    UserDefinedFunction: "udf",
    UserDefinedTableFunction: "udtf",
    UserDefinedAggregateFunction: "udaf",
}


class Session:
    """A catalog, settings and jobs. `streamtable.connect` opens a session.

    Every call is all or nothing: a refused text leaves catalog, settings and jobs as they were.
    All errors are `StreamtableError`s. A session is a context manager, which closes it.

    >>> import streamtable
    >>> with streamtable.connect() as session:
    ...     _ = session.execute_sql("CREATE VIEW v AS SELECT 1 AS a, 'x' AS b")
    ...     session.execute_sql("SHOW VIEWS").print()
    +-----------+
    | view name |
    +-----------+
    |         v |
    +-----------+
    1 row in set
    """

    def __init__(
        self, settings: SessionSettings, hold: SparkHold, notice: Callable[[str], None]
    ) -> None:
        self._engine = Engine(settings)
        self._hold = hold
        self._notice = notice
        self._told: set[str] = set()
        self._jobs = Jobs()
        self._named = 0
        self._closed = False
        self._execution = Execution(hold, self._jobs, self._tell, self._check_open, self.close)

    # Statements

    def execute_sql(
        self, text: str, variables: Mapping[str, str] | None = None, *, file: str = NO_FILE
    ) -> Result:
        """Run statements of Flink SQL.

        The text has any number of definitions and settings. It may have one thing more: INSERTs,
        which start one job, or one SELECT, SHOW, DESCRIBE, EXPLAIN or statement about jobs.

        Args:
            text: statements, separated by `;`.
            variables: values of `${name}`; the environment supplies the rest.
            file: name of the text's file, for places in messages.

        Returns:
            A `Job` for INSERTs, rows for SELECT and SHOW, else `OK`.

        Raises:
            StreamtableError: any error of the text, with its place; `Faults` holds several.
                INVALID_CALL for a text with several results.
        """
        with one_family():
            loaded = self.check(text, variables, file)
            start = self._execution.outcome(loaded, file)
            self._keep(loaded)
            return start()

    def sql_query(self, query: str, variables: Mapping[str, str] | None = None) -> Table:
        """Return a query as a table. It is checked now, and runs when its rows are asked for.

        Args:
            query: one SELECT.
            variables: values of `${name}`; the environment supplies the rest.

        Raises:
            StreamtableError: any error of the query; INVALID_CALL for another statement.
        """
        with one_family():
            loaded = self.check(query, variables)
            if loaded.statements != 1 or not loaded.queries:
                hint = "call execute_sql for other statements"
                refuse_call("sql_query()", "the text is not one SELECT", hint)
            text = Text(query.rstrip().removesuffix(";"), {**(variables or {})})
            return Table(self, text, self._execution.query(loaded))

    def table(self, path: str) -> Table:
        """Return a table or view of the catalog.

        Args:
            path: `name`, `database.name` or `catalog.database.name`, quoted as in SQL.
        """
        return self.sql_query(f"SELECT * FROM {path}")  # noqa: S608 - a name of the caller

    def explain_sql(self, text: str, variables: Mapping[str, str] | None = None) -> str:
        """Return the plans of the INSERTs and SELECTs of a text, one paragraph each.

        Args:
            text: statements, separated by `;`.
            variables: values of `${name}`; the environment supplies the rest.
        """
        with one_family():
            return self.check(text, variables).explain()

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of INSERTs that run as one job."""
        return StatementSet(self)

    # Tables and functions of the program

    def from_dataframe(self, frame: Any, name: str | None = None) -> Table:
        """Return the rows of a DataFrame as a table, which SQL reads as a temporary view.

        Args:
            frame: a batch DataFrame of `Session.spark`, a pandas DataFrame or a `pyarrow.Table`.
            name: name of the view, as in SQL; None makes one.

        Raises:
            StreamtableError: NOT_YET for a streaming DataFrame, or for a column of an unsupported
                type.
        """
        with one_family():
            view = name or self._next_name()
            rows = frame if hasattr(frame, "isStreaming") else self.spark.createDataFrame(frame)
            changed = self._engine.copy()
            changed.create_temporary_view(view, rows)
            self._keep(changed)
            return self.table(view)

    def create_temporary_view(self, path: str, rows: Any) -> None:
        """Create or replace a temporary view over a `Table` or a DataFrame."""
        if isinstance(rows, Table):
            create = rows.text.after(
                f"DROP TEMPORARY VIEW IF EXISTS {path}; CREATE TEMPORARY VIEW {path} AS"
            )
            self.execute_sql(create.text, create.variables)
        else:
            self.from_dataframe(rows, path)

    def register_function(
        self,
        name: str,
        function: Function,
        result_type: str | None = None,
        input_types: str | Sequence[str] | None = None,
    ) -> None:
        """Register a Python function for SQL; it replaces a function of the same name.

        >>> import streamtable
        >>> session = streamtable.connect()
        >>> session.register_function("shout", lambda text: text + "!", "STRING", "STRING")
        >>> session.sql_query("SELECT shout('go') AS word").dtypes
        [('word', 'STRING')]

        Args:
            name: name in SQL, without quotes.
            function: called once per row, with None for NULL; or the result of
                `streamtable.udf.udf`, `udtf` or `udaf`; or an `AggregateFunction`.
            result_type: type in Flink SQL; None goes by the type hint.
            input_types: one type, or one per argument; None goes by the type hints.

        Raises:
            StreamtableError: FUNCTION_UNUSABLE without types, NOT_YET for the name of a built-in
                function.
        """
        with one_family():
            typed = result_type is not None or input_types is not None
            given: object = function
            if typed and isinstance(function, tuple(_DECLARED)):
                raise StreamtableError(
                    Condition.FUNCTION_UNUSABLE,
                    function=name,
                    reason=f"{_DECLARED[type(function)]} has already declared its types",
                )
            if typed and isinstance(function, AggregateFunction):
                given = udaf(function, input_types, result_type)
            elif typed and callable(function):
                given = udf(result_type=result_type, input_types=input_types)(function)
            changed = self._engine.copy()
            changed.catalog.functions.put(tuple(name.split(".")), given)
            self._keep(changed)

    # Catalog and settings

    def list_tables(self) -> list[str]:
        """Return the names of the tables and views of the current database, sorted."""
        return self._engine.catalog.names((), None)

    def list_functions(self) -> list[str]:
        """Return the names of all functions that SQL can call, sorted."""
        with one_family():
            rows = self.check("SHOW FUNCTIONS").answers[0].rows
            return [name for (name,) in rows]

    def columns_of(self, path: str) -> list[tuple[str, str]]:
        """Return name and Flink SQL type of each column of a table or view.

        Args:
            path: `name`, `database.name` or `catalog.database.name`, quoted as in SQL.
        """
        with one_family():
            rows = self.check(f"DESCRIBE {path}").answers[0].rows
            return [(row[0], row[1]) for row in rows]

    def set(self, key: str, value: object) -> Session:
        """Change a setting, as SET does, and return the session."""
        with one_family():
            changed = self._engine.copy()
            text = str(value).lower() if isinstance(value, bool) else str(value)
            changed.settings.set(key, Given(text))
            changed.settings.current()
            self._keep(changed)
            return self

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return the value of a setting in force as text, secrets masked; else the default."""
        values = {row[0]: row[1] for row in self._engine.settings.listed().rows}
        return values.get(key, default)

    # Jobs and Spark

    @property
    def jobs(self) -> list[Job]:
        """The jobs of the session, with those that have ended, in the order of their start."""
        return list(self._jobs)

    @property
    def running_jobs(self) -> list[Job]:
        """The jobs that have not ended."""
        return self._jobs.running

    def job(self, id: str | int) -> Job:  # noqa: A002 - the user's word for it
        """Return the job of an id; UNKNOWN_JOB otherwise."""
        return self._jobs.find(str(id))

    @property
    def spark(self) -> SparkSession:
        """The Spark session of the session; the first access starts Spark."""
        with one_family():
            self._check_open()
            with self._execution.spark(self._engine) as spark:
                return spark

    def spark_settings(self, master: str | None = None) -> dict[str, str]:
        """Return the settings, with jars, that a Spark session of yours needs for `connect`.

        `SparkSession.builder.config(map=streamtable.connect().spark_settings()).getOrCreate()`
        creates the session.
        """
        with one_family():
            return self._engine.spark_settings(master)

    def close(self) -> None:
        """Stop the jobs gracefully, wait for their ends, and let go of Spark.

        The second call does nothing. A job that fails meanwhile is not reported: `Job.wait` does.
        """
        self._closed = True
        running = self._jobs.running
        try:
            for job in running:
                job.stop()
            for job in running:
                with suppress(StreamtableError):
                    job.wait()
        finally:
            self._hold.release()
            atexit.unregister(self.close)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # What tables, statement sets and the shell stand on

    def check(
        self,
        text: str,
        variables: Mapping[str, str] | None = None,
        file: str = NO_FILE,
        *,
        apart: bool = False,
    ) -> Engine:
        """Load a text into a copy of the session, which stays as it is, and return the copy.

        With `apart`, each statement runs by itself later, with settings of its own.

        Raises:
            StreamtableError: any error of the text.
        """
        self._check_open()
        if not isinstance(text, str):
            refuse_call("session", f"the text is of type {type(text).__name__}", "pass a str")
        loaded = self._engine.copy()
        loaded.load(text, file, variables, apart=apart)
        return loaded

    def start_job(self, texts: Sequence[Text]) -> Job:
        """Start one job with the INSERTs of several texts, as a statement set."""
        loaded = self._loaded_set(texts)
        self._hold.check()
        self._keep(loaded)
        return self._execution.start_job(loaded)

    def explain_set(self, texts: Sequence[Text]) -> str:
        """Return the plans of the INSERTs of several texts, as a statement set."""
        return self._loaded_set(texts).explain()

    def _loaded_set(self, texts: Sequence[Text]) -> Engine:
        loaded = self.check(texts[0].text, texts[0].variables)
        for text in texts[1:]:
            loaded.load(text.text, NO_FILE, text.variables)
        loaded.plans = [*loaded.sharing(loaded.plans, Span(NO_FILE, 1, 1))]
        return loaded

    def name_table(self, table: Table) -> str:
        """Create a temporary view over a table, and return its name."""
        name = self._next_name()
        self.create_temporary_view(name, table)
        return name

    def read_at(self, query: Text, as_of: MomentLike) -> DataFrame:
        """Return the rows of a query over one table at a moment, as a batch DataFrame."""
        loaded = self.check(query.text, query.variables)
        (select,) = loaded.queries
        plan = loaded.plan_read(select)
        moment = moment_of(as_of, "as_of", time_zone(loaded.settings.current()))
        return self._execution.read(loaded, plan, moment)

    @property
    def engine(self) -> Engine:
        """Catalog and settings in force; for reading only."""
        return self._engine

    def _keep(self, loaded: Engine) -> None:
        self._engine = loaded.copy()
        for line in loaded.notices():
            if line not in self._told:
                self._told.add(line)
                self._notice(line)

    def _tell(self, line: str) -> None:
        if line not in self._told:
            self._notice(line)

    def _next_name(self) -> str:
        self._named += 1
        return f"unnamed_table_{self._named}"

    def _check_open(self) -> None:
        if self._closed:
            refuse_call("session", "it is closed", "call streamtable.connect again")
