"""Adapter: what dbt and the macros call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

from dbt.adapters.base import available
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.streamtable.column import StreamtableColumn
from dbt.adapters.streamtable.connections import StreamtableConnectionManager
from dbt.adapters.streamtable.credentials import StreamtableCredentials
from dbt.adapters.streamtable.definitions import (
    TABLE,
    VIEW,
    Definition,
    Definitions,
    names_of,
    options_of,
    sources_of,
)
from dbt.adapters.streamtable.jobs import ModelJob
from dbt.adapters.streamtable.reads import FlinkSql, answered, reach_broker, views_of_now
from dbt.adapters.streamtable.refusals import check_config, refuse
from dbt.adapters.streamtable.relation import StreamtableRelation
from dbt.adapters.streamtable.scripts import Scripts, plain, quoted
from dbt.adapters.streamtable.without_ddl import WithoutDdl
from dbt_common.clients.agate_helper import table_from_data_flat
from dbt_common.exceptions import DbtRuntimeError

import streamtable

_CATALOG = (
    "table_database",
    "table_schema",
    "table_name",
    "table_type",
    "table_comment",
    "table_owner",
    "column_name",
    "column_index",
    "column_type",
    "column_comment",
)


class StreamtableAdapter(WithoutDdl):
    """Runs the models of a project as jobs, and its tests as Spark SQL over the topics."""

    Relation = StreamtableRelation
    Column = StreamtableColumn
    ConnectionManager = StreamtableConnectionManager
    connections: StreamtableConnectionManager

    # Models

    @available.parse(lambda *_, **__: AdapterResponse(""))
    def create_view(self, model: Mapping[str, Any], query: str) -> AdapterResponse:
        """Check the query of a view model, and store the definition of the view."""
        check_config(model["config"], model["unique_id"], is_view=True)
        definitions = self._definitions()
        view = Definition(model["alias"], VIEW, model["unique_id"], query=plain(query))
        needed = definitions.needed_by(query)
        self._columns_of_query(needed, query, view.name)
        with self.connections.exception_handler(query), closing(self._session()) as session:
            self._define(session, [*needed, view])
        definitions.put(view)
        return AdapterResponse("CREATE VIEW")

    @available.parse(lambda *_, **__: AdapterResponse(""))
    def run_streaming_table(
        self,
        model: Mapping[str, Any],
        query: str,
        *,
        bounded: bool = False,
        full_refresh: bool = False,
    ) -> AdapterResponse:
        """Write the script of a model, check it, and start or restart its job.

        Args:
            model: the model, as dbt's macros know it.
            query: its compiled query.
            bounded: whether the job ends at the current ends of its topics; waits for its end.
            full_refresh: refused, with the commands to use.

        Raises:
            DbtRuntimeError: an error of the query, or of the start of the job.
        """
        config = model["config"]
        check_config(config, model["unique_id"], is_view=False)
        definitions, scripts = self._definitions(), Scripts(self._target)
        name = model["alias"]
        job = self._job(name, scripts.variables)
        if full_refresh:
            refuse("--full-refresh of a streaming_table", job.way_out("A topic is not replaced"))
        needed = definitions.needed_by(query)
        options = options_of(config.get("with") or {}, model["unique_id"])
        for key in ("connector", "topic"):
            if config.get(key):
                options[key] = str(config[key])
        table = Definition(
            name,
            TABLE,
            model["unique_id"],
            self._columns_of_query(needed, query, name),
            names_of(config.get("primary_key")),
            config.get("watermark"),
            options,
        )
        text = scripts.job(needed, table, query)
        with self.connections.exception_handler(query), closing(self._session()) as session:
            session.check(text, scripts.variables, f"{name}.sql")
        done = job.run_to_end(text) if bounded else job.keep_running(text)
        definitions.put(table)
        return AdapterResponse(done)

    @available
    def refuse(self, what: str, hint: str) -> NoReturn:
        """Raise the error of an unsupported feature; for macros."""
        refuse(what, hint)

    def _job(self, name: str, variables: Mapping[str, str]) -> ModelJob:
        root = Path(self.config.project_root, self._target.checkpoints).absolute()
        return ModelJob(
            name=name,
            script=self._folder / f"{name}.sql",
            log=self._folder / f"{name}.log",
            checkpoint=root / name,
            started=root / f"{name}.sql",
            variables=variables,
            timeout=self._target.start_timeout,
        )

    def _columns_of_query(
        self, needed: Iterable[Definition], query: str, name: str
    ) -> dict[str, str]:
        """Return name and type of the columns of a query; an error has its place in the query."""
        with self.connections.exception_handler(query), closing(self._session()) as session:
            scripts = self._define(session, needed)
            session.check(query, scripts.variables, f"{name}, compiled")
            return dict(session.sql_query(plain(query), scripts.variables).dtypes)

    # Queries

    def execute(
        self,
        sql: str,
        auto_begin: bool = False,
        fetch: bool = False,
        limit: int | None = None,
    ) -> tuple[AdapterResponse, Any]:
        """Run a query: Spark SQL over the rows of now, or Flink SQL of `dbt show`.

        Raises:
            DbtRuntimeError: an error of the query; a statement that is no query.
        """
        if not fetch:
            return self.connections.execute(sql, auto_begin, fetch, limit)
        with self.connections.exception_handler(sql):
            shown = FlinkSql.marked(sql)
            if shown is None:
                return self._spark_sql(sql, limit)
            return self._flink_sql(shown.query, shown.limit)

    def _spark_sql(self, sql: str, limit: int | None) -> tuple[AdapterResponse, Any]:
        definitions = self._definitions()
        with closing(self._session(spark=True)) as session:
            self._define(session, definitions.needed_by(sql))
            with views_of_now(session, definitions.named_in(sql)):
                return answered(session.spark.sql(plain(sql)), limit)

    def _flink_sql(self, query: str, limit: int | None) -> tuple[AdapterResponse, Any]:
        needed = self._definitions().needed_by(query)
        with closing(self._session(spark=True)) as session:
            scripts = self._define(session, needed)
            table = session.sql_query(plain(query), scripts.variables)
            return answered(table.to_dataframe(), limit)

    def _define(self, session: streamtable.Session, needed: Iterable[Definition]) -> Scripts:
        scripts = Scripts(self._target)
        text = scripts.create(needed)
        if text:
            session.execute_sql(text, scripts.variables)
        return scripts

    def _session(self, *, spark: bool = False) -> streamtable.Session:
        return self.connections.session(Scripts(self._target), spark=spark)

    # Relations

    def get_columns_in_relation(self, relation: StreamtableRelation) -> list[StreamtableColumn]:
        """Return the columns of a source or of a created model."""
        name = str(relation.identifier)
        return [StreamtableColumn(column, kind) for column, kind in self._columns_of(name)]

    def list_relations_without_caching(
        self, schema_relation: StreamtableRelation
    ) -> list[StreamtableRelation]:
        """Return the models that have been created; each schema has all of them."""
        return [
            self.Relation.create(
                database=schema_relation.database,
                schema=schema_relation.schema,
                identifier=each.name,
                type=RelationType.View if each.kind == VIEW else RelationType.Table,
            )
            for each in self._definitions().created()
        ]

    def get_catalog(
        self, relation_configs: Iterable[Any], used_schemas: frozenset[tuple[str, str]]
    ) -> tuple[Any, list[Exception]]:
        """Return the columns of sources and created models, for `dbt docs generate`."""
        del used_schemas
        definitions, rows, errors = self._definitions(), [], list[Exception]()
        for config in relation_configs:
            found = definitions.get(config.identifier)
            if found is None:
                continue
            try:
                columns = self._columns_of(found.name)
            except DbtRuntimeError as error:
                errors.append(error)
                continue
            place = (config.database, config.schema, found.name, found.kind, None, None)
            for index, (name, kind) in enumerate(columns, 1):
                rows.append(dict(zip(_CATALOG, (*place, name, index, kind, None), strict=True)))
        return table_from_data_flat(rows, list(_CATALOG)), errors

    def _columns_of(self, name: str) -> list[tuple[str, str]]:
        path = quoted(name)
        with self.connections.exception_handler(path), closing(self._session()) as session:
            self._define(session, self._definitions().needed_by(path))
            return session.columns_of(path)

    # The project

    @property
    def _target(self) -> StreamtableCredentials:
        found: StreamtableCredentials = self.config.credentials
        return found

    @property
    def _folder(self) -> Path:
        target = Path(self.config.project_root, self.config.target_path)
        return target.absolute() / "streamtable"

    def _definitions(self) -> Definitions:
        """Return the relations of the project; dbt's resolver of macros is its manifest."""
        manifest: Any = self.get_macro_resolver()
        nodes = list(manifest.nodes.values()) if manifest is not None else []
        models = {
            node.alias: node.name
            for node in nodes
            if node.resource_type == "model" and node.config.materialized != "ephemeral"
        }
        sources = sources_of(iter(manifest.sources.values()), models) if manifest else {}
        return Definitions(self._folder / "relations", sources, models)

    # Names and types

    @classmethod
    def quote(cls, identifier: str) -> str:
        """Quote a name."""
        return quoted(identifier)

    @classmethod
    def date_function(cls) -> str:
        """Return Spark SQL's function of the current time."""
        return "current_timestamp()"

    @classmethod
    def is_cancelable(cls) -> bool:
        """Return that statements are not cancelled."""
        return False

    def debug_query(self) -> None:
        """Connect to a broker, for `dbt debug`.

        Raises:
            DbtRuntimeError: no broker answers.
        """
        reach_broker(self._target.bootstrap_servers)
