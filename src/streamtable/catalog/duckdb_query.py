"""The query of an INSERT in DuckDB's dialect, with views expanded, and the tables that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from streamtable.catalog.catalog import Catalog
from streamtable.catalog.views import View, qualified, without_stars
from streamtable.core.table import Table
from streamtable.sql.duckdb import Refused, duckdb_sql
from streamtable.sql.statements.model import Insert


@dataclass(frozen=True)
class DuckDbQuery:
    """A query for DuckDB.

    Attributes:
        sql: the query; its columns are those of the INSERT, in order.
        tables: the tables that it reads, by their names in DuckDB.
        has_star: whether it uses `*` for all columns of a table.
    """

    sql: str
    tables: Mapping[str, Table]
    has_star: bool


def duckdb_query(insert: Insert, catalog: Catalog, refused: Refused) -> DuckDbQuery:
    """Return the query of an INSERT for DuckDB.

    Args:
        insert: the INSERT.
        catalog: the catalog at its place in the script.
        refused: makes the error of a construct: its name, and the reason as a clause.

    Raises:
        StreamtableError: the error of `refused`.
    """
    tables: dict[str, Table] = {}

    def relation(node: exp.Table) -> str | exp.Query:
        name = tuple(part.name for part in node.parts)
        found = catalog.find(name, insert.at)
        if isinstance(found, Table):
            tables[found.name] = found
            return found.name
        return _of_view(found)

    query = qualified(insert.query, catalog.namespaces)
    sql, has_star = duckdb_sql(query, relation, refused)
    return DuckDbQuery(sql, tables, has_star)


def _of_view(view: View) -> exp.Query:
    """Return the query of a view; `columns` of the view rename its output."""
    if not view.columns:
        return without_stars(view.query)
    columns = [exp.to_identifier(name) for name in view.columns]
    alias = exp.TableAlias(this=exp.to_identifier("renamed"), columns=columns)
    inner = exp.Subquery(this=without_stars(view.query), alias=alias)
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=inner))
