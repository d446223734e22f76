"""Queries as small trees in two SQL dialects: Flink's, which is tested, and Spark's.

Every relation has columns c0, c1, ... of one of two kinds, so that any trees combine. If the two
dialects differ, the tree spells out the meaning for Spark: the average of integers, the type of a
sum, the order of rows that tie.
"""

# ruff: noqa: S608 - writing SQL is what this module is for

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum


class Kind(Enum):
    """The kind of a column's values."""

    NUMBER = "number"
    TEXT = "text"
    #: Values without a defined order: an array, or texts between commas.
    HEAP = "heap"


class Dialect(Enum):
    """SQL dialects."""

    FLINK = "Flink"
    SPARK = "Spark"


@dataclass(frozen=True)
class Sql:
    """A piece of SQL in both dialects."""

    flink: str
    spark: str

    @classmethod
    def same(cls, text: str) -> Sql:
        """Return a piece of SQL with one text for both dialects."""
        return cls(text, text)

    def of(self, dialect: Dialect) -> str:
        """Return the text in a dialect."""
        return self.flink if dialect is Dialect.FLINK else self.spark


@dataclass(frozen=True)
class Relation:
    """A query; its columns are named c0, c1, ... and have these kinds."""

    kinds: tuple[Kind, ...]

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The relations that the query reads."""
        return ()

    def sql(self, dialect: Dialect) -> str:
        """Return the query as a SELECT."""
        raise NotImplementedError

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the query over other inputs with the same columns."""
        raise NotImplementedError


@dataclass(frozen=True)
class Read(Relation):
    """All columns of a table."""

    table: str
    names: tuple[str, ...]

    def sql(self, dialect: Dialect) -> str:  # noqa: ARG002
        """Return `SELECT k AS c0, ... FROM t`."""
        items = ", ".join(f"{name} AS c{i}" for i, name in enumerate(self.names))
        return f"SELECT {items} FROM {self.table}"

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the relation itself."""
        assert not inputs, "a table has no inputs"  # noqa: S101
        return self


@dataclass(frozen=True)
class _Unary(Relation):
    input: Relation

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The only input."""
        return (self.input,)

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the relation over another input."""
        return replace(self, input=inputs[0])


@dataclass(frozen=True)
class _Binary(Relation):
    left: Relation
    right: Relation

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """Both inputs."""
        return (self.left, self.right)

    def with_inputs(self, *inputs: Relation) -> Relation:
        """Return the relation over other inputs."""
        return replace(self, left=inputs[0], right=inputs[1])


@dataclass(frozen=True)
class Filter(_Unary):
    """The rows for which a condition over `x.c0`, ... is true."""

    condition: str

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT * FROM (...) AS x WHERE ...`."""
        return f"SELECT * FROM ({self.input.sql(dialect)}) AS x WHERE {self.condition}"


@dataclass(frozen=True)
class Project(_Unary):
    """Columns computed from `x.c0`, ..."""

    items: tuple[str, ...]

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT ... FROM (...) AS x`."""
        return f"SELECT {_items(self.items)} FROM ({self.input.sql(dialect)}) AS x"


@dataclass(frozen=True)
class Group(_Unary):
    """One row per key: the keys, then the calls; without keys a single row."""

    keys: tuple[int, ...]
    calls: tuple[Sql, ...]
    having: Sql | None = None

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT ... FROM (...) AS x GROUP BY ... HAVING ...`, or SELECT DISTINCT."""
        keys = [f"x.c{key}" for key in self.keys]
        distinct = "" if self.calls else "DISTINCT "
        values = _items([*keys, *(call.of(dialect) for call in self.calls)])
        text = f"SELECT {distinct}{values} FROM ({self.input.sql(dialect)}) AS x"
        if self.calls and keys:
            text += f" GROUP BY {', '.join(keys)}"
        return text + (f" HAVING {self.having.of(dialect)}" if self.having else "")


@dataclass(frozen=True)
class Join(_Binary):
    """Pairs of rows with equal columns; `side` is INNER, LEFT, RIGHT or FULL."""

    side: str
    equal: tuple[tuple[int, int], ...]
    residual: str | None = None

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT ... FROM (...) AS l LEFT JOIN (...) AS r ON ...`."""
        columns = [f"l.c{i}" for i in range(len(self.left.kinds))]
        columns += [f"r.c{i}" for i in range(len(self.right.kinds))]
        on = " AND ".join(f"l.c{left} = r.c{right}" for left, right in self.equal)
        on += f" AND {self.residual}" if self.residual else ""
        left, right = self.left.sql(dialect), self.right.sql(dialect)
        return (
            f"SELECT {_items(columns)} FROM ({left}) AS l {self.side} JOIN ({right}) AS r ON {on}"
        )


@dataclass(frozen=True)
class Lookup(_Unary):
    """A join of rows with a list of values by a number; `side` is INNER or LEFT.

    Attributes:
        equal: the column that must equal the number of a value.
        values: pairs of a number and a string.
    """

    side: str
    equal: int
    values: tuple[tuple[int | None, str], ...]
    residual: str | None = None

    def sql(self, dialect: Dialect) -> str:
        """Return `WITH d (n, m) AS (...) SELECT ... FROM (...) AS l LEFT JOIN d AS r ON ...`."""
        flinks = dialect is Dialect.FLINK
        rows = ", ".join(
            f"({'CAST(NULL AS INT)' if n is None else n}, '{m}')" for n, m in self.values
        )
        columns = [f"l.c{i}" for i in range(len(self.input.kinds))]
        on = f"l.c{self.equal} = r.n" + (f" AND {self.residual}" if self.residual else "")
        read = f"SELECT *{', PROCTIME() AS p' * flinks} FROM ({self.input.sql(dialect)}) AS i"
        version = "FOR SYSTEM_TIME AS OF l.p " * flinks
        return (
            f"WITH d (n, m) AS (SELECT * FROM (VALUES {rows}) AS v (n, m))"
            f" SELECT {_items([*columns, 'r.m'])} FROM ({read}) AS l"
            f" {self.side} JOIN d {version}AS r ON {on}"
        )


@dataclass(frozen=True)
class Semi(_Binary):
    """The left rows with a match, or those without a match."""

    equal: tuple[int, int]
    style: str

    def sql(self, dialect: Dialect) -> str:
        """Return `... WHERE x.c0 IN (...)`, or with EXISTS or NOT EXISTS."""
        left, right = self.left.sql(dialect), self.right.sql(dialect)
        mine, theirs = self.equal
        if self.style == "IN":
            inner = f"SELECT y.c{theirs} FROM ({right}) AS y"
            condition = f"x.c{mine} IN ({inner})"
        else:
            inner = f"SELECT * FROM ({right}) AS y WHERE y.c{theirs} = x.c{mine}"
            condition = f"{self.style} ({inner})"
        return f"SELECT * FROM ({left}) AS x WHERE {condition}"


@dataclass(frozen=True)
class Top(_Unary):
    """The first rows of each partition; the order contains every column, so that no rows tie.

    Attributes:
        ranked: whether the rank is the last column.
    """

    partition: tuple[int, ...]
    order: tuple[str, ...]
    limit: int
    ranked: bool

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (...) AS rn ...) WHERE rn <= 3`."""
        by = ", ".join(f"x.c{i}" for i in self.partition)
        over = (f"PARTITION BY {by} " if by else "") + f"ORDER BY {', '.join(self.order)}"
        inner = f"SELECT *, ROW_NUMBER() OVER ({over}) AS rn FROM ({self.input.sql(dialect)}) AS x"
        columns = [f"y.c{i}" for i in range(len(self.input.kinds))]
        items = _items([*columns, *(["y.rn"] if self.ranked else [])])
        return f"SELECT {items} FROM ({inner}) AS y WHERE y.rn <= {self.limit}"


@dataclass(frozen=True)
class First(_Unary):
    """ORDER BY, LIMIT and OFFSET."""

    order: tuple[str, ...]
    limit: int
    offset: int

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT * FROM (...) AS x ORDER BY ... LIMIT 3 OFFSET 1`."""
        text = f"SELECT * FROM ({self.input.sql(dialect)}) AS x ORDER BY {', '.join(self.order)}"
        return f"{text} LIMIT {self.limit}" + (f" OFFSET {self.offset}" if self.offset else "")


@dataclass(frozen=True)
class Combined(_Binary):
    """UNION, INTERSECT or EXCEPT, optionally with ALL."""

    operation: str

    def sql(self, dialect: Dialect) -> str:
        """Return `SELECT * FROM (...) UNION ALL SELECT * FROM (...)`."""
        left, right = self.left.sql(dialect), self.right.sql(dialect)
        return f"SELECT * FROM ({left}) AS x {self.operation} SELECT * FROM ({right}) AS y"


def _items(values: Iterable[str]) -> str:
    return ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))


def parts(relation: Relation) -> Iterator[Relation]:
    """Yield every relation of a query."""
    yield relation
    for part in relation.inputs:
        yield from parts(part)


def size(relation: Relation) -> int:
    """Return the number of relations of a query."""
    return sum(1 for _ in parts(relation))


def simpler(relation: Relation) -> Iterator[Relation]:
    """Yield smaller queries; a nested relation keeps the kinds of its columns."""
    yield from relation.inputs
    for i, part in enumerate(relation.inputs):
        for less in simpler(part):
            if less.kinds == part.kinds:
                inputs = [*relation.inputs[:i], less, *relation.inputs[i + 1 :]]
                yield relation.with_inputs(*inputs)
    match relation:
        case Group() if relation.having:
            yield replace(relation, having=None)
        case Join() | Lookup() if relation.residual:
            yield replace(relation, residual=None)
    if isinstance(relation, Group) and len(relation.calls) > 1:
        first = len(relation.keys)
        for i in range(len(relation.calls)):
            calls = relation.calls[:i] + relation.calls[i + 1 :]
            kinds = relation.kinds[: first + i] + relation.kinds[first + i + 1 :]
            yield replace(relation, calls=calls, kinds=kinds)
