"""The composition root: a script goes in, its statements take effect, its INSERTs become a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamtable.catalog.catalog import Catalog
from streamtable.catalog.define import define
from streamtable.catalog.functions import search_in
from streamtable.connectors.registry import CONNECTORS
from streamtable.core.errors import Condition, Span, StreamtableError, raise_all
from streamtable.core.options import Given
from streamtable.core.secrets import without_secrets
from streamtable.core.session_settings import SessionSettings, python_files
from streamtable.core.types import Field
from streamtable.plan.build import plan_insert
from streamtable.plan.collect import plan_collect
from streamtable.plan.details import check_details, explained_plan
from streamtable.plan.explain import explain
from streamtable.plan.functions import AGGREGATES, FUNCTIONS, NEWER
from streamtable.plan.nodes import Collect, Sink
from streamtable.plan.python_calls import check_python_calls
from streamtable.plan.query import QueryPlanner
from streamtable.plan.show import columns_of, shown
from streamtable.sql.changes import AlterTable, AlterView, RenameTo
from streamtable.sql.listings import (
    CreateFunction,
    Describe,
    Show,
    ShowCreate,
)
from streamtable.sql.nodes import GivenRows
from streamtable.sql.parse import read_script
from streamtable.sql.statements import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Definition,
    Explain,
    Insert,
    Name,
    ResetOption,
    Select,
    SetOption,
    Statement,
    StatementSet,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from streamtable.runtime.background import Job
    from streamtable.runtime.job import RunOptions, Watcher
    from streamtable.runtime.preflight import Notice


_BUILT_IN = frozenset({*FUNCTIONS, *AGGREGATES}) - NEWER


@dataclass
class Session:
    """A catalog, settings and the INSERTs planned so far. Needs no Spark until `run`.

    Attributes:
        settings: in force; `--set` values are fixed in it.
        plans: one per INSERT, in the script's order.
        selects: one per SELECT on its own.
        printed: what SHOW, DESCRIBE and EXPLAIN print, in the script's order.
    """

    settings: SessionSettings = field(default_factory=SessionSettings)
    catalog: Catalog = field(default_factory=lambda: Catalog(CONNECTORS, _BUILT_IN))
    plans: list[Sink] = field(default_factory=list)
    selects: list[Collect] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def load(self, text: str, file: str, variables: Mapping[str, str] | None = None) -> None:
        """Takes in a script: tables and settings take effect, INSERTs are planned.

        Raises:
            StreamtableError: the fault, at its place in the script.
            Faults: several of them; what only follows from another one is left out.
        """
        faults: list[StreamtableError] = []
        undeclared: set[str] = set()
        unread = False
        for statement in read_script(text, file, variables):
            if isinstance(statement, StreamtableError):
                faults.append(statement)
                unread = True
                continue
            try:
                self.catalog.functions.tie(statement)
                self._take(statement)
            except StreamtableError as error:
                unknown = error.condition is Condition.UNKNOWN_TABLE
                if not (unknown and (unread or error.values["table"] in undeclared)):
                    faults.append(error)
                undeclared.update(_declares(statement))
        raise_all(faults)

    def explain(self) -> str:
        """The plans, one paragraph each."""
        plans: list[Sink | Collect] = [*self.plans, *self.selects]
        return without_secrets("\n\n".join(map(explain, plans)))

    def run(
        self,
        options: RunOptions,
        notice: Notice,
        spark: SparkSession | None = None,
        show: Callable[[str], None] = print,
        watcher: Watcher | None = None,
    ) -> None:
        """Runs the INSERTs as one job, then shows each SELECT.

        See `runtime.job.run_job` and `runtime.select.run_select`.

        Args:
            options: how to run.
            notice: takes one line for the user.
            spark: a session to run in, which is left running; None starts one and stops it.
            show: takes one line of what a SELECT gives.
            watcher: who looks at the INSERTs' job while it runs.

        Raises:
            StreamtableError: whatever the job meets; NOT_YET for a SELECT behind something that
                never ends.
        """
        from streamtable.runtime.scripts import Script, run_script  # the front end needs no Spark

        script = Script(
            self.plans, self.selects, self.settings.current(), self.catalog.functions.made
        )
        run_script(script, options, notice, show, spark, watcher)

    def start(
        self,
        options: RunOptions,
        notice: Notice,
        spark: SparkSession | None = None,
        show: Callable[[str], None] = print,
    ) -> Job:
        """The same as `run` in the background; `Job` tells its metrics, its end and its failure."""
        from streamtable.runtime.background import Job

        return Job(lambda watcher: self.run(options, notice, spark, show, watcher))

    def create_temporary_view(self, path: str, frame: DataFrame) -> None:
        """Makes a DataFrame a temporary view, to be looked up in or read once.

        `JOIN view FOR SYSTEM_TIME AS OF t.proctime` reads it anew for each micro-batch; everything
        else takes its rows once, in a query's first batch.

        Args:
            path: `name`, `database.name` or `catalog.database.name`.
            frame: no stream; of the Spark session that the job is run in.

        Raises:
            StreamtableError: NOT_YET for a stream, or for a column of a type that SQL here lacks.
        """
        from streamtable.runtime.data_frames import fields_of

        rows = GivenRows(this=path, fields=fields_of(frame), rows=frame)
        self.catalog.put_view(tuple(path.split(".")), rows)

    def _take(self, statement: Statement) -> None:
        match statement:
            case SetOption():
                self.settings.set(statement.key, statement.value, statement.key_at)
            case ResetOption():
                self.settings.reset(statement.key)
            case Insert() | StatementSet():
                self.plans += self._plan(statement)
            case CreateTableAs():
                self.plans += self._plan(self._create_table_as(statement))
            case Explain():
                self._explain(statement)
            case Show() | Describe() | ShowCreate():
                self.printed.append(shown(statement, self.catalog))
            case Select():
                self.selects.append(self._plan_select(statement))
            case CreateView():
                self.catalog.create_view(statement)
                at, temporary = statement.name_at, statement.temporary
                self._check_columns(statement.name, at, temporary=temporary)
            case _:
                self._define(statement)

    def _define(self, statement: Definition) -> None:
        """Changes the catalog, and binds what a new or changed table computes."""
        if isinstance(statement, CreateFunction):
            search_in(python_files(self.settings.current()))
        define(statement, self.catalog)
        made = statement.table if isinstance(statement, CreateTableLike) else statement
        if isinstance(made, CreateTable):
            self._check_columns(made.name, made.name_at, temporary=made.temporary)
        elif isinstance(made, AlterTable) and self.catalog.has(made.name):
            self._check_columns(made.name, made.name_at, temporary=False)

    def _check_columns(self, name: Name, at: Span | None, *, temporary: bool) -> None:
        """A table or view whose columns do not bind is not kept."""
        try:
            columns_of(self.catalog, self.catalog.find(name, at))
        except StreamtableError:
            self.catalog.forget(name, temporary=temporary)
            raise

    def _create_table_as(self, statement: CreateTableAs) -> Insert:
        """Makes the table; the INSERT that fills it remains to be planned."""
        table = statement.table
        relation = QueryPlanner(self.catalog).plan(statement.query)
        fields = [Field(column.name, column.field.type) for column in relation.columns]
        self.catalog.create_table_as(statement, fields)
        return Insert(
            target=table.name,
            query=statement.query,
            at=table.at,
            columns=tuple(field.name for field in fields),
            target_at=table.name_at,
        )

    def _explain(self, statement: Explain) -> None:
        check_details(statement)
        explained = statement.statement
        plans: Sequence[Sink | Collect]
        if isinstance(explained, CreateTableAs):
            plans = self._plan_create(explained)
        elif isinstance(explained, Select):
            plans = [self._plan_select(explained)]
        else:
            plans = self._plan(explained)
        self.printed += [without_secrets(explained_plan(plan, statement.details)) for plan in plans]

    def _plan_create(self, statement: CreateTableAs) -> Sequence[Sink]:
        """The plan of the INSERT; the table does not stay."""
        made = replace(self, catalog=self.catalog.copy(), plans=[], printed=[])
        insert = made._create_table_as(statement)  # noqa: SLF001 - of this class
        return made._plan(insert)  # noqa: SLF001

    def _plan_select(self, statement: Select) -> Collect:
        settings = self.settings.current()
        plan = plan_collect(statement.query, statement.at, self.catalog, settings)
        check_python_calls(plan)
        return plan

    def _plan(self, statement: Insert | StatementSet) -> Sequence[Sink]:
        inserts = statement.inserts if isinstance(statement, StatementSet) else (statement,)
        settings = self.settings.current()
        plans = [plan_insert(insert, self.catalog, settings) for insert in inserts]
        for plan in plans:
            check_python_calls(plan)
        return plans


def _declares(statement: Statement) -> tuple[str, ...]:
    """The name that a statement would have declared, had it not failed."""
    match statement:
        case CreateTable() | CreateView():
            return (".".join(statement.name), statement.name[-1])
        case CreateTableLike() | CreateTableAs():
            return _declares(statement.table)
        case AlterTable(change=RenameTo() as rename) | AlterView(change=RenameTo() as rename):
            return (".".join(rename.name), rename.name[-1])
        case _:
            return ()


def fixed_settings(pairs: Mapping[str, str]) -> SessionSettings:
    """Settings that a script cannot change, as `--set` gives them."""
    return SessionSettings({key: Given(value) for key, value in pairs.items()})
