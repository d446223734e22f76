"""The rows of a query as DuckDB computes them, which shares no planner and no functions with Spark.

Spark decodes the records of the tables and folds them. DuckDB gets the current rows, and the query
of the script in its dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pyspark.sql import DataFrame

from streamtable.catalog.catalog import Catalog
from streamtable.catalog.duckdb_query import DuckDbQuery, duckdb_query
from streamtable.core.changelog import ROW_KIND_COLUMN, RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.core.types import DataType, Field, Root, quote
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.sql.statements.model import Insert

#: Compared types and their names in DuckDB. TIMESTAMP_LTZ is missing: its text depends on a zone.
_TYPES: Mapping[Root, str] = {
    Root.CHAR: "VARCHAR",
    Root.VARCHAR: "VARCHAR",
    Root.BOOLEAN: "BOOLEAN",
    Root.BINARY: "BLOB",
    Root.VARBINARY: "BLOB",
    Root.TINYINT: "TINYINT",
    Root.SMALLINT: "SMALLINT",
    Root.INT: "INTEGER",
    Root.BIGINT: "BIGINT",
    Root.DECIMAL: "DECIMAL",
    Root.FLOAT: "FLOAT",
    Root.DOUBLE: "DOUBLE",
    Root.DATE: "DATE",
    Root.TIMESTAMP: "TIMESTAMP",
}
_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})
_APPROXIMATE = frozenset({"FLOAT", "DOUBLE"})

#: The type of NULL without a cast, from version 2 on; before, it is INTEGER.
_NULL = '"NULL"'

#: The types of DuckDB from which a column of another type may come without a change of its value,
#: or with the rounding of Flink; DuckDB fails if a value does not fit.
_CASTS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_INTEGERS, _INTEGERS),
    "DECIMAL": _INTEGERS | {"DECIMAL"},
    **dict.fromkeys(_APPROXIMATE, _INTEGERS | _APPROXIMATE | {"DECIMAL"}),
}


def check_duckdb() -> None:
    """Check that the packages of the comparison are installed.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE.
    """
    for module in ("duckdb", "pyarrow"):
        if find_spec(module) is None:
            raise StreamtableError(
                Condition.RESOURCE_UNAVAILABLE,
                what="the comparison with DuckDB",
                reason=f"package {module} is not installed",
                hint="pip install 'streamtable[duckdb]'",
            )


@dataclass(frozen=True)
class DuckDbEngine:
    """Computes the rows of one query; an `Engine`.

    Attributes:
        sink: the plan of the query, for the types of its columns and for messages.
        query: the query.
        columns: the columns that the query fills, in its order; other columns are NULL.
    """

    sink: Sink
    query: DuckDbQuery
    columns: tuple[str, ...]

    @classmethod
    def of(cls, sink: Sink, insert: Insert, catalog: Catalog) -> DuckDbEngine:
        """Translate a query, before anything is read.

        Args:
            sink: its plan.
            insert: its INSERT.
            catalog: the catalog at the place of the INSERT.

        Raises:
            StreamtableError: NO_BATCH_ANSWER for a construct, a function or a type that DuckDB may
                treat in another way.
        """
        query = duckdb_query(insert, catalog, lambda what, why: _refused(sink, what, why))
        for field in sink.input.fields:
            if field.type.root not in _TYPES:
                raise _refused(sink, f"column '{field.name}'", f"{field.type} is not compared")
        for table in query.tables.values():
            others = [c.name for c in table.schema.columns if c.name not in _names(table)]
            if query.has_star and others:
                reason = "DuckDB gets physical columns of simple types only"
                raise _refused(sink, f"'*' with column '{others[0]}' of {table.name}", reason)
        names = tuple(field.name for field in sink.table.schema.persisted)
        return cls(sink, query, insert.columns or names)

    def __call__(self, tables: Mapping[str, DataFrame], context: LoweringContext) -> DataFrame:
        """Return row kind and fields of the query's rows.

        Args:
            tables: the current rows of the tables of the plan, by name.
            context: the context of the session.

        Raises:
            StreamtableError: NO_BATCH_ANSWER if DuckDB cannot compute the query.
        """
        duckdb: Any = import_module("duckdb")
        connection = duckdb.connect(config={"python_enable_replacements": "false"})
        try:
            for name, table in self.query.tables.items():
                rows = tables[name].select(*map(quote, _names(table)))
                connection.register(name, rows.toArrow())
            result = self._cast(connection.sql(self.query.sql)).to_arrow_table()
        except duckdb.Error as error:
            raise _refused(self.sink, "DuckDB", str(error).partition("\n")[0]) from error
        finally:
            connection.close()
        rows = context.spark.createDataFrame(result)
        kind = f"{RowKind.INSERT.value}Y AS {ROW_KIND_COLUMN}"
        return rows.selectExpr(kind, *map(self._column, self.sink.input.fields))

    def _column(self, field: Field) -> str:
        value = quote(field.name) if field.name in self.columns else "NULL"
        return f"CAST({value} AS {field.type.spark_sql()}) AS {quote(field.name)}"

    def _cast(self, relation: Any) -> Any:
        """Return the relation with the names and types of the columns of the plan."""
        types = {field.name: field.type for field in self.sink.input.fields}
        if len(relation.columns) != len(self.columns):
            reason = f"its query has {len(relation.columns)} columns, not {len(self.columns)}"
            raise _refused(self.sink, "DuckDB", reason)
        casts = []
        for place, (name, found) in enumerate(zip(self.columns, relation.types, strict=True)):
            wanted = _duckdb_type(types[name])
            source, target = str(found).partition("(")[0], wanted.partition("(")[0]
            if source not in {*_CASTS.get(target, {target}), _NULL}:
                reason = f"DuckDB computes {found} for a column of type {types[name]}"
                raise _refused(self.sink, f"column '{name}'", reason)
            quoted = '"' + name.replace('"', '""') + '"'
            casts.append(f"CAST(c{place} AS {wanted}) AS {quoted}")
        columns = ", ".join(f"c{place}" for place in range(len(casts)))
        query = f"SELECT {', '.join(casts)} FROM q AS r({columns})"  # noqa: S608 - names of the plan
        return relation.query("q", query)


def _names(table: Table) -> list[str]:
    """Return the columns of a table that DuckDB gets."""
    return [field.name for field in table.schema.physical if field.type.root in _TYPES]


def _duckdb_type(kind: DataType) -> str:
    name = _TYPES[kind.root]
    return f"{name}({kind.precision},{kind.scale})" if kind.root is Root.DECIMAL else name


def _refused(sink: Sink, operator: str, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.NO_BATCH_ANSWER,
        at=sink.at,
        table=sink.table.name,
        operator=operator,
        reason=reason,
        hint="leave out --against duckdb",
    )
