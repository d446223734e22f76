"""SHOW and DESCRIBE: format the content of the catalog like Flink."""

from __future__ import annotations

import re
from collections.abc import Sequence

from streamtable.catalog.catalog import Catalog, Entry
from streamtable.catalog.entries import other_kind
from streamtable.catalog.script import (
    create_catalog_sql,
    create_table_sql,
    create_view_sql,
    extras,
)
from streamtable.catalog.views import View
from streamtable.core.answer import Answer, text_answer
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import ComputedColumn, Table, TableColumn
from streamtable.core.types import Field
from streamtable.plan.explain.describe import described_catalog, described_function
from streamtable.plan.functions import AGGREGATES, FUNCTIONS
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.query.relation import Relation
from streamtable.plan.source.plan_scan import plan_scan
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkCall, GivenRows
from streamtable.sql.statements.listings import (
    Describe,
    DescribeCatalog,
    DescribeFunction,
    Listing,
    Pattern,
    Show,
    ShowCreate,
    ShowModulesInFull,
    ShowStatement,
)

_COLUMNS = ("name", "type", "null", "key", "extras", "watermark")


def shown(statement: ShowStatement, catalog: Catalog) -> Answer:
    """Return the answer of a statement.

    Raises:
        StreamtableError: UNKNOWN_TABLE, UNKNOWN_DATABASE, UNKNOWN_CATALOG, or an error of a view's
            query.
    """
    match statement:
        case Show():
            names = _matching(_names(statement, catalog), statement.pattern)
            return Answer((statement.what.value,), tuple((name,) for name in names))
        case ShowModulesInFull():
            return Answer((Listing.MODULES.value, "used"), (("core", "TRUE"),))
        case Describe():
            return _describe(statement, catalog)
        case DescribeCatalog():
            return described_catalog(statement, catalog)
        case DescribeFunction():
            return described_function(statement, catalog)
        case ShowCreate(kind="CATALOG"):
            at = statement.name_at or statement.at
            return text_answer(
                create_catalog_sql(catalog.namespaces.described(statement.name[0], at))
            )
        case ShowCreate():
            return text_answer(_create(statement, catalog))


def _names(statement: Show, catalog: Catalog) -> list[str]:
    spaces, at = catalog.namespaces, statement.at
    match statement.what:
        case Listing.CATALOGS:
            return spaces.catalogs()
        case Listing.DATABASES:
            return spaces.databases(statement.place[-1] if statement.place else None, at)
        case Listing.TABLES | Listing.VIEWS:
            views_only = statement.what is Listing.VIEWS
            return catalog.names(statement.place, at, views_only=views_only)
        case Listing.FUNCTIONS:
            scalar = {function.name for function in FUNCTIONS.values() if function.available}
            return sorted(scalar | set(AGGREGATES)) + _user_functions(statement, catalog)
        case Listing.USER_FUNCTIONS:
            return _user_functions(statement, catalog)
        case Listing.CURRENT_CATALOG:
            return [spaces.catalog]
        case Listing.CURRENT_DATABASE:
            return [spaces.database]
        case Listing.MODULES:
            return ["core"]
        case Listing.MODELS | Listing.MATERIALIZED_TABLES:
            spaces.home(statement.place, at)
            return []
        case Listing.JARS:
            return catalog.functions.jars


def _user_functions(statement: Show, catalog: Catalog) -> list[str]:
    return catalog.functions.names(catalog.namespaces.home(statement.place, statement.at))


def _matching(names: Sequence[str], pattern: Pattern | None) -> list[str]:
    if pattern is None:
        return list(names)
    matches = _like(pattern)
    return [name for name in names if bool(matches.fullmatch(name)) is not pattern.negated]


def _like(pattern: Pattern) -> re.Pattern[str]:
    """Compile a LIKE pattern: `%` matches any text, `_` one character."""
    wild = {"%": ".*", "_": "."}
    text = "".join(wild.get(character, re.escape(character)) for character in pattern.text)
    return re.compile(text, re.DOTALL | (re.IGNORECASE if pattern.ignores_case else 0))


def columns_of(catalog: Catalog, content: Table | View) -> tuple[Field, ...]:
    """Return the columns of a table or view with their types, including computed columns."""
    relation: Relation
    declared: dict[str, Field] = {}
    if isinstance(content, Table):
        relation = plan_scan(content)
        declared = {field.name: field for field in content.schema.stored}
    else:
        relation = QueryPlanner(catalog).plan_view(content)
    bound = [Field(column.name, column.field.type) for column in relation.columns]
    return tuple(declared.get(field.name, field) for field in bound)


def _describe(statement: Describe, catalog: Catalog) -> Answer:
    entry = catalog.entry(statement.name, statement.name_at or statement.at)
    fields = {field.name: field for field in columns_of(catalog, entry.content)}
    kept = _matching(list(fields), statement.pattern)
    declared = _declared(entry)
    commented = any(column.comment for column in declared.values())
    rows = []
    for name in kept:
        row = _row(fields[name], entry.content, declared.get(name))
        comment = declared[name].comment if name in declared else None
        rows.append((*row, *([comment or ""] if commented else [])))
    return Answer((*_COLUMNS, *(["comment"] if commented else [])), tuple(rows))


def _declared(entry: Entry) -> dict[str, TableColumn]:
    if not isinstance(entry.content, Table):
        return {}
    return {column.name: column for column in entry.content.schema.columns}


def _row(field: Field, content: Table | View, column: TableColumn | None) -> list[str]:
    kind = field.type.with_nullable(True).sql()
    null = str(field.type.nullable).upper()
    if not isinstance(content, Table) or column is None:
        return [field.name, kind, null, "", "", ""]
    schema = content.schema
    mark = schema.watermark if schema.watermark and schema.watermark.column == field.name else None
    if mark:
        kind += " *ROWTIME*"
    elif _is_processing_time(column):
        kind += " *PROCTIME*"
    in_key = field.name in schema.primary_key
    key = f"PRI({', '.join(schema.primary_key)})" if in_key else ""
    watermark = flink_sql(mark.expression, quoted=True) if mark else ""
    return [field.name, kind, null, key, extras(column), watermark]


def _is_processing_time(column: TableColumn) -> bool:
    if not isinstance(column, ComputedColumn):
        return False
    return isinstance(column.expression, FlinkCall) and column.expression.name == "PROCTIME"


def _create(statement: ShowCreate, catalog: Catalog) -> str:
    at = statement.name_at or statement.at
    entry = catalog.entry(statement.name, at)
    match entry.content:
        case Table() as table if statement.kind == "TABLE":
            return create_table_sql(entry, table)
        case View(query=GivenRows()):
            raise StreamtableError(
                Condition.CHANGE_REFUSED,
                at=at,
                change=f"SHOW CREATE {statement.kind} {entry.path}",
                reason="a program has provided its rows",
                hint=f"DESCRIBE {entry.path} shows its columns",
            )
        case View() as view if statement.kind == "VIEW":
            columns = [field.name for field in columns_of(catalog, view)]
            return create_view_sql(entry, view, columns)
        case _:
            raise other_kind(entry.path, entry.content, "SHOW CREATE", at)
