"""Transform of an ingestion job: a SELECT list and a condition over the rows of one table.

The expressions are parsed when the job file is checked, and bound when the table's columns are
known. They have the same meaning as in SQL.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import DataType, Field
from streamtable.plan.aggregate.plan_aggregate import has_aggregate
from streamtable.plan.binding.bound import Input, InputField
from streamtable.plan.binding.expressions import Binder
from streamtable.plan.query.conditions import bind_condition
from streamtable.plan.query.relation import name_of
from streamtable.sql.parse import parse_script
from streamtable.sql.statements.model import Select

#: Name of the table in the SELECT that is parsed.
_TABLE = "rows"
_FROM = f" FROM {_TABLE}"


@dataclass(frozen=True)
class Copied:
    """A column of the table under a name of the record; `*` is all columns of the table."""

    column: str
    name: str


@dataclass(frozen=True)
class Computed:
    """A column that an expression computes."""

    node: exp.Expr
    name: str


@dataclass(frozen=True)
class TransformQuery:
    """A parsed projection and filter.

    Attributes:
        items: the columns of the record, in order. Columns that are given by name replace columns
            of `*` with the same name.
        condition: sqlglot node of the filter over columns of the table; None accepts every row.
        projection_at: place of the projection.
        filter_at: place of the filter.
    """

    items: tuple[Copied | Computed, ...]
    condition: exp.Expr | None
    projection_at: Span | None = None
    filter_at: Span | None = None

    @property
    def computed(self) -> tuple[Computed, ...]:
        """The computed columns, in order."""
        return tuple(item for item in self.items if isinstance(item, Computed))

    @property
    def computes(self) -> bool:
        """Whether rows need an expression: a computed column or a filter."""
        return self.condition is not None or bool(self.computed)


@dataclass(frozen=True)
class BoundColumn:
    """A computed column.

    Attributes:
        sql: Spark SQL over the input columns.
    """

    field: Field
    sql: str


@dataclass(frozen=True)
class BoundTransform:
    """A transform bound to the columns of one table.

    Attributes:
        columns: the computed columns, in order.
        condition: Spark SQL; None accepts every row.
        reads: names of the Spark columns that the expressions read.
    """

    columns: tuple[BoundColumn, ...]
    condition: str | None
    reads: frozenset[str]


@dataclass(frozen=True)
class InputColumn:
    """A column that expressions may refer to.

    Attributes:
        name: name in expressions.
        spark_name: name of the Spark column.
    """

    name: str
    spark_name: str
    type: DataType


def read_transform_query(
    projection: str,
    filter_: str | None,
    projection_at: Span | None,
    filter_at: Span | None,
    per_row: Container[str] = (),
) -> TransformQuery:
    """Parse a transform.

    Args:
        projection: the SELECT list.
        filter_: the condition; it may name columns of the table and of the projection. A column of
            the projection counts where both have the name.
        projection_at: place of the projection.
        filter_at: place of the filter.
        per_row: names of metadata columns that differ from row to row.

    Raises:
        StreamtableError: SYNTAX, NOT_YET or DUPLICATE_COLUMN, at the key in the job file.
    """
    select = _query("SELECT " + projection + _FROM, projection_at)
    _refuse_clauses(select, projection_at, "projection")
    if select.args.get("where"):
        raise _lacking(projection_at, "WHERE", "write the condition under 'filter'")
    items = tuple(_item(node, i, per_row) for i, node in enumerate(select.expressions))
    names = [item.name for item in items]
    for name in names:
        if names.count(name) > 1:
            where, table = projection_at, "the projection"
            raise StreamtableError(Condition.DUPLICATE_COLUMN, at=where, column=name, table=table)
    for item in items:
        if isinstance(item, Computed) and has_aggregate(item.node):
            raise _lacking(projection_at, "an aggregate", "aggregate the topic in SQL")
    condition = None
    if filter_ is not None:
        found = _query("SELECT 1" + _FROM + " WHERE " + filter_, filter_at)
        _refuse_clauses(found, filter_at, "filter")
        given = {item.name: item for item in items}
        condition = found.args["where"].this.transform(lambda node: _resolved(node, given))
    return TransformQuery(items, condition, projection_at, filter_at)


def bind_transform(query: TransformQuery, columns: Sequence[InputColumn]) -> BoundTransform:
    """Bind the expressions of a transform to a table's columns.

    Raises:
        StreamtableError: UNKNOWN_COLUMN and other errors of expressions, at the key in the job
            file.
    """
    fields = tuple(InputField(_TABLE, c.name, Field(c.spark_name, c.type)) for c in columns)
    binder = Binder(Input(fields))
    found: list[BoundColumn] = []
    reads: frozenset[str] = frozenset()
    condition = None
    try:
        for item in query.computed:
            bound = binder.bind(item.node)
            reads |= bound.fields
            found.append(BoundColumn(Field(item.name, bound.type), bound.sql))
    except StreamtableError as error:
        raise _at(error, query.projection_at) from None
    if query.condition is not None:
        try:
            bound = bind_condition(query.condition, binder, "a filter")
        except StreamtableError as error:
            raise _at(error, query.filter_at) from None
        condition = bound.sql
        reads |= bound.fields
    return BoundTransform(tuple(found), condition, reads)


def _item(node: exp.Expr, position: int, per_row: Container[str]) -> Copied | Computed:
    inner = node.unalias()
    if isinstance(inner, exp.Star):
        return Copied("*", "*")
    name = name_of(node, position)
    if isinstance(inner, exp.Column) and not inner.table and inner.name not in per_row:
        return Copied(inner.name, name)
    return Computed(inner, name)


def _resolved(node: exp.Expr, given: Mapping[str, Copied | Computed]) -> exp.Expr:
    """Replace the name of a column of the projection by what the projection computes."""
    if not isinstance(node, exp.Column) or node.table:
        return node
    item = given.get(node.name)
    if item is None:
        return node
    if isinstance(item, Copied):
        return exp.column(item.column, quoted=True)
    return exp.paren(item.node.copy())


def _query(text: str, at: Span | None) -> exp.Select:
    try:
        (statement,) = parse_script(text)
    except StreamtableError as error:
        raise _at(error, at) from None
    except ValueError:
        raise _lacking(at, "';'", "write one expression list") from None
    query = statement.query if isinstance(statement, Select) else None
    if not isinstance(query, exp.Select):
        raise _lacking(at, "UNION and the like", "write a list of expressions")
    return query


def _refuse_clauses(query: exp.Select, at: Span | None, key: str) -> None:
    clauses = (
        "group",
        "having",
        "order",
        "limit",
        "distinct",
        "windows",
        "qualify",
        "joins",
        "offset",
    )
    for clause in clauses:
        if query.args.get(clause):
            raise _lacking(at, clause.upper(), f"a {key} takes expressions of one row")
    for node in query.walk():
        if node is not query and isinstance(node, exp.Query):
            raise _lacking(at, "a subquery", f"a {key} takes expressions of one row")


def _lacking(at: Span | None, what: str, hint: str) -> StreamtableError:
    return StreamtableError(Condition.NOT_YET, at=at, what=f"{what} in a transform", hint=hint)


def _at(error: StreamtableError, at: Span | None) -> StreamtableError:
    """Return the error at the key in the job file: places in the internal SELECT are not shown."""
    return StreamtableError(error.condition, at=at, hint=error.hint, **error.values)
