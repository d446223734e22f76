"""The composition root: a script goes in, its statements take effect, its INSERTs become a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamtable.catalog.catalog import Catalog
from streamtable.connectors.registry import CONNECTORS
from streamtable.core.errors import Condition, StreamtableError, raise_all
from streamtable.core.options import Given
from streamtable.core.settings import SessionSettings
from streamtable.plan.build import plan_insert
from streamtable.plan.explain import explain
from streamtable.plan.nodes import Sink
from streamtable.sql.parse import read_script
from streamtable.sql.statements import (
    CreateTable,
    CreateView,
    Drop,
    Explain,
    Insert,
    ResetOption,
    Select,
    SetOption,
    Statement,
    StatementSet,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamtable.runtime.job import RunOptions
    from streamtable.runtime.preflight import Notice


@dataclass
class Session:
    """A catalog, settings and the INSERTs planned so far. Needs no Spark until `run`.

    Attributes:
        settings: in force; `--set` values are fixed in it.
        plans: one per INSERT, in the script's order.
        explained: the text of every EXPLAIN statement, in the script's order.
    """

    settings: SessionSettings = field(default_factory=SessionSettings)
    catalog: Catalog = field(default_factory=lambda: Catalog(CONNECTORS))
    plans: list[Sink] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)

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
                self._take(statement)
            except StreamtableError as error:
                unknown = error.condition is Condition.UNKNOWN_TABLE
                if not (unknown and (unread or error.values["table"] in undeclared)):
                    faults.append(error)
                if isinstance(statement, CreateTable | CreateView):
                    undeclared.add(statement.name[-1])
        raise_all(faults)

    def explain(self) -> str:
        """The plans, one paragraph each."""
        return "\n\n".join(explain(plan) for plan in self.plans)

    def run(self, options: RunOptions, notice: Notice, spark: SparkSession | None = None) -> None:
        """Runs everything that was planned as one job; see `runtime.job.run_job`."""
        from streamtable.runtime.job import run_job  # the front end needs no Spark

        run_job(self.plans, self.settings.current(), options, notice, spark)

    def _take(self, statement: Statement) -> None:
        match statement:
            case CreateTable():
                self.catalog.create_table(statement)
            case CreateView():
                self.catalog.create_view(statement)
            case Drop():
                self.catalog.drop(statement)
            case SetOption():
                self.settings.set(statement.key, statement.value, statement.key_at)
            case ResetOption():
                self.settings.reset(statement.key)
            case Insert() | StatementSet():
                self.plans += self._plan(statement)
            case Explain():
                self._explain(statement)
            case Select():
                raise StreamtableError(
                    Condition.NOT_YET,
                    at=statement.at,
                    what="SELECT on its own",
                    hint="write INSERT INTO a table, and read its topic",
                )

    def _explain(self, statement: Explain) -> None:
        if isinstance(statement.statement, Select):
            raise StreamtableError(
                Condition.NOT_YET, at=statement.at, what="EXPLAIN of a SELECT on its own"
            )
        if set(statement.details) - {"CHANGELOG_MODE"}:
            raise StreamtableError(
                Condition.NOT_YET,
                at=statement.at,
                what=f"EXPLAIN {', '.join(statement.details)}",
                hint="EXPLAIN and EXPLAIN CHANGELOG_MODE show plan and row kinds",
            )
        self.explained += [explain(plan) for plan in self._plan(statement.statement)]

    def _plan(self, statement: Insert | StatementSet) -> Sequence[Sink]:
        inserts = statement.inserts if isinstance(statement, StatementSet) else (statement,)
        settings = self.settings.current()
        return [plan_insert(insert, self.catalog, settings) for insert in inserts]


def fixed_settings(pairs: Mapping[str, str]) -> SessionSettings:
    """Settings that a script cannot change, as `--set` gives them."""
    return SessionSettings({key: Given(value) for key, value in pairs.items()})
