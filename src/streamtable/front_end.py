"""Front end: reads a script, applies its statements, and plans its queries, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from streamtable.catalog.catalog import Catalog
from streamtable.catalog.define import define
from streamtable.catalog.functions import python_function, search_in
from streamtable.catalog.java_functions import java_function
from streamtable.catalog.views import View
from streamtable.connector_api.catalogs import CATALOG_TYPES
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.answer import Answer, text_answer
from streamtable.core.errors import (
    Condition,
    InternalError,
    Span,
    StreamtableError,
    raise_all,
    singles,
)
from streamtable.core.options import Settings
from streamtable.core.secrets import without_secrets
from streamtable.core.settings.execution import (
    EXECUTION_MODE,
    ExecutionMode,
)
from streamtable.core.settings.job_wide import StatementSettings
from streamtable.core.settings.session import SessionSettings, jars, python_files
from streamtable.core.settings.table import reuses_sources
from streamtable.core.types import Field
from streamtable.jvm.java_classes import described_class, local_jar
from streamtable.plan.explain.details import explained_plan
from streamtable.plan.explain.explain import explain
from streamtable.plan.explain.show import columns_of, shown
from streamtable.plan.functions import AGGREGATES, FUNCTIONS, NEWER
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.rules.python_calls import check_python_calls
from streamtable.plan.rules.watermarks import lacking_watermark
from streamtable.plan.sink.plan_collect import plan_collect
from streamtable.plan.sink.plan_insert import plan_insert
from streamtable.plan.sink.plan_read import TableRead, plan_read
from streamtable.plan.sink.shared_scan import described
from streamtable.plan.sink.sink import Collect, Sink
from streamtable.sql.parse import read_query, read_script
from streamtable.sql.statements.changes import AlterTable, AlterView
from streamtable.sql.statements.jobs import DescribeJob, JobStatement, ShowJobs, StopJob
from streamtable.sql.statements.listings import CreateFunction, ShowStatement
from streamtable.sql.statements.model import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Definition,
    Explain,
    Insert,
    JarStatement,
    ListOptions,
    Name,
    ResetOption,
    Select,
    SetOption,
    Statement,
    StatementSet,
)
from streamtable.sql.statements.parts import declared_by, inserts_of, place_of

_BUILT_IN = frozenset({*FUNCTIONS, *AGGREGATES}) - NEWER


@dataclass
class FrontEnd:
    """A catalog, settings, and the planned queries of a script.

    Attributes:
        settings: current settings; values of `--set` are fixed.
        plans: one per INSERT, in the script's order.
        inserts: the INSERT of each plan, with the catalog at its place in the script.
        selects: one per SELECT statement.
        queries: the statements of `selects`.
        answers: answers of SHOW, DESCRIBE and EXPLAIN, in the script's order.
        commands: statements about jobs, which only a client with jobs can run.
        statements: number of statements read.
    """

    settings: SessionSettings = field(default_factory=SessionSettings)
    catalog: Catalog = field(default_factory=lambda: Catalog(CONNECTORS, _BUILT_IN, CATALOG_TYPES))
    plans: list[Sink] = field(default_factory=list)
    inserts: list[tuple[Insert, Catalog]] = field(default_factory=list)
    selects: list[Collect] = field(default_factory=list)
    queries: list[Select] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    commands: list[JobStatement] = field(default_factory=list)
    statements: int = 0
    _told: list[str] = field(default_factory=list)
    _statement_settings: StatementSettings = field(default_factory=StatementSettings)

    def load(
        self,
        text: str,
        file: str,
        variables: Mapping[str, str] | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """Load a script: apply table definitions and settings, and plan the INSERTs.

        Args:
            text: the script.
            file: its name, for places.
            variables: values of `${name}`.
            apart: whether each statement runs by itself, with settings of its own.

        Raises:
            StreamtableError: a single error, with its position in the script; `Faults` for
                several, without errors that are only consequences of another error.
            InternalError: a bug, with the place of the statement.
        """
        self.catalog.external.refresh()
        faults: list[StreamtableError] = []
        undeclared: set[str] = set()
        unread = False
        for statement in read_script(text, file, variables, self._told.append):
            self.statements += 1
            if apart:
                self._statement_settings = StatementSettings()
            if isinstance(statement, StreamtableError):
                faults.append(statement)
                unread = True
                continue
            try:
                self.catalog.functions.bind_calls(statement)
                self._take(statement)
            except RecursionError:
                faults.append(
                    StreamtableError(
                        Condition.NESTED_TOO_DEEP,
                        at=place_of(statement),
                        hint="write a part of it into a table, and read the table in another query",
                    )
                )
                undeclared.update(declared_by(statement))
            except StreamtableError as failed:
                for error in singles(failed):
                    unknown = error.condition is Condition.UNKNOWN_TABLE
                    if not (unknown and (unread or error.values["table"] in undeclared)):
                        faults.append(error)
                undeclared.update(declared_by(statement))
            except Exception as bug:
                kind = "" if isinstance(bug, InternalError) else f"{type(bug).__name__}: "
                message = f"{place_of(statement)}: {kind}{bug}"
                raise InternalError(message) from bug
        raise_all(faults)

    @property
    def job_settings(self) -> Settings:
        """Settings of the job as a whole: those at the last INSERT or SELECT, else the current."""
        planned: list[Sink | Collect] = [*self.selects, *self.plans]
        return planned[-1].settings if planned else self.settings.current()

    @property
    def printed(self) -> list[str]:
        """Output of SHOW, DESCRIBE and EXPLAIN, in the script's order."""
        return [str(answer) for answer in self.answers]

    def copy(self) -> Self:
        """Return an independent copy with the same catalog and settings, and without plans."""
        return type(self)(self.settings.copy(), self.catalog.copy())

    def notices(self) -> Iterator[str]:
        """Yield a line, with position, for each accepted item of limited effect."""
        yield from self._told
        yield from self._statement_settings.notices()
        yield from self.settings.notices()

    def explain(self) -> str:
        """Return the plans as text, one paragraph each."""
        plans: list[Sink | Collect] = [*self.plans, *self.selects]
        return without_secrets("\n\n".join([*map(explain, plans), *described(self.plans)]))

    def _take(self, statement: Statement) -> None:
        match statement:
            case SetOption():
                self.settings.set(statement.key, statement.value, statement.key_at)
                self._statement_settings.was_set(statement.key, statement.key_at)
            case ResetOption():
                self.settings.reset(statement.key, statement.key_at)
                self._statement_settings.was_reset(statement.key)
            case ListOptions():
                self.answers.append(self.settings.listed())
            case JarStatement():
                self._change_jars(statement)
            case Insert() | StatementSet():
                self._insert(statement)
            case CreateTableAs():
                self._insert(self._create_table_as(statement))
            case Explain():
                self._explain(statement)
            case _ if isinstance(statement, ShowStatement):
                self.answers.append(shown(statement, self.catalog))
            case ShowJobs() | DescribeJob() | StopJob():
                self.commands.append(statement)
            case Select():
                self._select(statement)
            case CreateView():
                self.catalog.create_view(statement)
                self._check_columns(statement.name, temporary=statement.temporary)
            case _:
                self._define(statement)

    def _define(self, statement: Definition) -> None:
        """Update the catalog, and bind the columns of a new or changed table or view."""
        if isinstance(statement, CreateFunction):
            self._create_function(statement)
            return
        define(statement, self.catalog)
        made = statement.table if isinstance(statement, CreateTableLike) else statement
        if isinstance(made, CreateTable):
            self._check_columns(made.name, temporary=made.temporary)
            self._told += self.catalog.notices(made.name)
        elif isinstance(made, AlterTable | AlterView) and self.catalog.has(made.name):
            self._check_columns(made.name, temporary=False)
            self._told += self.catalog.notices(made.name)

    def _create_function(self, statement: CreateFunction) -> None:
        settings = self.settings.current()
        if statement.language == "PYTHON":
            search_in(python_files(settings))
            self.catalog.functions.create(statement, python_function)
            return
        added = self.catalog.functions.jars
        searched = list(dict.fromkeys([*statement.jars, *added, *jars(settings)]))

        self.catalog.functions.create(
            statement, lambda made: java_function(made, searched, described_class)
        )

    def _change_jars(self, statement: JarStatement) -> None:
        """Add or remove a jar; connectors and formats are never loaded from it."""
        path, added = statement.path, self.catalog.functions.jars
        if statement.keyword == "REMOVE":
            self.catalog.functions.jars = [jar for jar in added if jar != path]
        elif path not in added:
            added.append(path)
            if local_jar(path) is None:
                self._told.append(
                    f"{statement.at}: ADD JAR '{path}' has no effect here: there is no such file;"
                    " connectors and formats are built in"
                )

    def _check_columns(self, name: Name, *, temporary: bool) -> None:
        """Bind the columns of a table or view; remove it from the catalog if they do not bind."""
        content = self.catalog.declared(name, temporary=temporary)
        try:
            if isinstance(content, View):
                view = QueryPlanner(self.catalog).with_star_columns(content)
                self.catalog.keep(name, view, temporary=temporary)
            elif content is not None:
                columns_of(self.catalog, content)
        except StreamtableError:
            self.catalog.forget(name, temporary=temporary)
            raise

    def _create_table_as(self, statement: CreateTableAs) -> Insert:
        """Create the table, and return the INSERT that fills it, which is not planned yet."""
        table = statement.table
        relation = QueryPlanner(self.catalog).plan(statement.query, whole=True)
        fields = [Field(column.name, column.field.type) for column in relation.columns]
        self.catalog.create_table_as(statement, fields)
        self._told += self.catalog.notices(table.name)
        return Insert(
            target=table.name,
            query=statement.query,
            at=table.at,
            columns=tuple(field.name for field in fields),
            target_at=table.name_at,
        )

    def _explain(self, statement: Explain) -> None:
        explained = statement.statement
        plans: Sequence[Sink | Collect]
        if isinstance(explained, CreateTableAs):
            plans = self._plan_create(explained)
        elif isinstance(explained, Select):
            plans = [self._plan_select(explained)]
        else:
            plans = self._plan(explained)
        texts = [explained_plan(plan, statement.details) for plan in plans]
        if isinstance(explained, StatementSet):
            texts += described([plan for plan in plans if isinstance(plan, Sink)])
        self.answers += [text_answer(without_secrets(text)) for text in texts]

    def _plan_create(self, statement: CreateTableAs) -> Sequence[Sink]:
        """Return the plan of the INSERT of a CREATE TABLE AS; the table is not kept."""
        made = replace(self, catalog=self.catalog.copy(), plans=[], inserts=[], answers=[])
        insert = made._create_table_as(statement)  # noqa: SLF001 - of this class
        return made._plan(insert)  # noqa: SLF001

    def plan_values(self, statement: Select) -> Collect:
        """Plan a SELECT whose columns keep their types; `selects` has them as text.

        Raises:
            StreamtableError: an error of the query; NOT_YET for a type that Python lacks.
        """
        return self._plan_select(statement, texts=False)

    def plan_read(self, query: Select) -> TableRead:
        """Plan a SELECT over one table, for reads at moments of the table's history.

        Raises:
            StreamtableError: an error of the query; NOT_YET for a query that combines rows.
        """
        return plan_read(query.query, query.at, self.catalog, self.settings.current())

    def read_of(self, path: str, where: str | None, option: str) -> TableRead:
        """Plan a read of a table or view, with a condition.

        Args:
            path: `name`, `database.name` or `catalog.database.name`; with backquotes as in SQL.
            where: a condition over its columns; None for all rows.
            option: name of the option with the condition, for places in messages.

        Raises:
            StreamtableError: an error of the condition, or an unknown table.
        """
        quoted = path if "`" in path else ".".join(f"`{part}`" for part in path.split("."))
        select = Select(read_query(quoted, where, option), Span(path, 1, 1))
        self.catalog.functions.bind_calls(select)
        return self.plan_read(select)

    def _plan_select(self, statement: Select, *, texts: bool = True) -> Collect:
        settings = self.settings.current()
        plan = plan_collect(statement.query, statement.at, self.catalog, settings, texts=texts)
        check_python_calls(plan)
        return plan

    def _select(self, statement: Select) -> None:
        plan = self._plan_select(statement)
        self._told += self._statement_settings.add(plan.settings, statement.at, writes=False)
        self.selects.append(plan)
        self.queries.append(statement)

    def _insert(self, statement: Insert | StatementSet) -> None:
        plans = self._plan(statement)
        self._told += self._statement_settings.add(plans[0].settings, statement.at, writes=True)
        self.plans += plans
        self._told += filter(None, map(lacking_watermark, plans))
        catalog = self.catalog.copy()
        self.inserts += [(insert, catalog) for insert in inserts_of(statement)]

    def _plan(self, statement: Insert | StatementSet) -> Sequence[Sink]:
        settings = self.settings.current()
        plans: list[Sink] = []
        faults: list[StreamtableError] = []
        for insert in inserts_of(statement):
            try:
                plan = plan_insert(insert, self.catalog, settings)
                check_python_calls(plan)
                plans.append(plan)
            except StreamtableError as error:
                faults.append(error)
        raise_all(faults)
        if isinstance(statement, StatementSet):
            return self.sharing(plans, statement.at)
        return plans

    def sharing(self, plans: Sequence[Sink], at: Span) -> Sequence[Sink]:
        """Return the plans of a statement set, which may share scans if the settings allow it.

        Args:
            plans: one per INSERT.
            at: the place of the set.
        """
        settings = self.settings.current()
        if not reuses_sources(settings):
            return plans
        in_batches = settings[EXECUTION_MODE] is ExecutionMode.MICRO_BATCH
        return [replace(plan, set_at=at, in_batches=in_batches) for plan in plans]
