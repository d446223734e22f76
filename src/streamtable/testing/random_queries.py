"""Random queries from a grammar, reproducible by their seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamtable.testing.relations import (
    Combined,
    Filter,
    First,
    Group,
    Join,
    Kind,
    Lookup,
    Project,
    Read,
    Relation,
    Semi,
    Sql,
    Top,
)

#: Values in conditions; the values of the histories have about the same size.
_LARGEST = 6


@dataclass(frozen=True)
class Queries:
    """Generates queries over some tables.

    Attributes:
        tables: the tables to read.
        timed: generates event-time queries, which can be inputs of other queries.
        deepest: the highest number of nested operators.
    """

    dice: random.Random
    tables: Sequence[Read]
    timed: Callable[[], Relation] | None = None
    deepest: int = 3

    def query(self) -> Relation:
        """Generate a query of any shape."""
        depth = self.dice.randint(1, self.deepest)
        if self.dice.random() < 0.1:
            return self._everything(self._relation(depth - 1))
        if self.dice.random() < 0.1:
            return self._heap(self._relation(depth - 1))
        return self._relation(depth)

    def _heap(self, below: Relation) -> Relation:
        """Generate aggregates that depend on the order of rows, or are not integers."""
        key, column = (self.dice.randrange(len(below.kinds)) for _ in range(2))
        chosen = self.dice.sample(HEAPS[below.kinds[column]], 2)
        calls = [
            Sql(c.flink.format(f"x.c{column}"), c.spark.format(f"x.c{column}")) for c in chosen
        ]
        return Group((below.kinds[key], *[Kind.HEAP] * 2), below, (key,), tuple(calls))

    def _relation(self, depth: int) -> Relation:
        if depth == 0 and self.timed is not None and self.dice.random() < 0.35:
            return self.timed()
        if depth == 0:
            return self.dice.choice(self.tables)
        makers: list[tuple[Callable[[int], Relation], int]] = [
            (self._filter, 2),
            (self._project, 1),
            (self._group, 4),
            (self._join, 4),
            (self._semi, 2),
            (self._lookup, 1),
            (self._top, 3),
            (self._first, 1),
            (self._combined, 2),
        ]
        (make,) = self.dice.choices([m for m, _ in makers], [weight for _, weight in makers])
        return make(depth - 1)

    def _filter(self, depth: int) -> Relation:
        below = self._relation(depth)
        return Filter(below.kinds, below, self._condition(below, "x"))

    def _project(self, depth: int) -> Relation:
        below = self._relation(depth)
        chosen = self._some(range(len(below.kinds)), least=1)
        items, kinds = [f"x.c{i}" for i in chosen], [below.kinds[i] for i in chosen]
        if numbers := self._columns(below, Kind.NUMBER):
            items.append(f"x.c{self.dice.choice(numbers)} + {self.dice.randrange(_LARGEST)}")
            kinds.append(Kind.NUMBER)
        return Project(tuple(kinds), below, tuple(items))

    def _group(self, depth: int) -> Relation:
        below = self._relation(depth)
        keys = tuple(self._some(range(len(below.kinds)), least=1))[:2]
        if self.dice.random() < 0.15:
            return Group(tuple(below.kinds[k] for k in keys), below, keys, ())
        calls = [self._call(below) for _ in range(self.dice.randint(1, 4))]
        kinds = (*(below.kinds[k] for k in keys), *(kind for _, kind in calls))
        having = None
        if self.dice.random() < 0.25:
            having = Sql.same(f"COUNT(*) {self.dice.choice(['>', '<=', '='])} {self._number()}")
        return Group(kinds, below, keys, tuple(call for call, _ in calls), having)

    def _everything(self, below: Relation) -> Relation:
        """Generate a single row; its first column shows whether the group has ever had a row."""
        calls = [(Sql.same("COUNT(*)"), Kind.NUMBER)]
        calls += [self._call(below) for _ in range(self.dice.randint(1, 3))]
        return Group(tuple(k for _, k in calls), below, (), tuple(c for c, _ in calls))

    def _call(self, below: Relation) -> tuple[Sql, Kind]:
        column = self.dice.randrange(len(below.kinds))
        kind = below.kinds[column]
        call, result = self.dice.choice(CALLS[kind])
        where = ""
        if self.dice.random() < 0.2:
            where = f" FILTER (WHERE {self._condition(below, 'x')})"
        column_text = f"x.c{column}"
        made = Sql(call.flink.format(column_text, f=where), call.spark.format(column_text, f=where))
        return made, result

    def _join(self, depth: int) -> Relation:
        left, right = self._relation(depth), self._relation(self.dice.randint(0, depth))
        equal = self._equal(left, right)
        if equal is None:
            return self._semi(depth)
        residual = None
        one, other = (self._columns(side, Kind.NUMBER) for side in (left, right))
        if one and other and self.dice.random() < 0.3:
            residual = f"l.c{self.dice.choice(one)} <= r.c{self.dice.choice(other)}"
        side = self.dice.choice(["INNER", "LEFT", "RIGHT", "FULL"])
        return Join((*left.kinds, *right.kinds), left, right, side, (equal,), residual)

    def _lookup(self, depth: int) -> Relation:
        below = self._relation(depth)
        numbers = self._columns(below, Kind.NUMBER)
        if not numbers:
            return Filter(below.kinds, below, self._condition(below, "x"))
        keys: list[int | None] = self.dice.sample(range(_LARGEST), 3)
        if self.dice.random() < 0.5:
            # With these values, no column is a key.
            keys += [keys[0], None]
        values = tuple((key, self.dice.choice("abc")) for key in keys)
        residual = None
        if self.dice.random() < 0.4:
            residual = f"l.c{self.dice.choice(numbers)} >= r.n"
        side = self.dice.choice(["INNER", "LEFT"])
        kinds = (*below.kinds, Kind.TEXT)
        return Lookup(kinds, below, side, self.dice.choice(numbers), values, residual)

    def _semi(self, depth: int) -> Relation:
        left, right = self._relation(depth), self._relation(self.dice.randint(0, depth))
        equal = self._equal(left, right)
        if equal is None:
            return Filter(left.kinds, left, self._condition(left, "x"))
        style = self.dice.choice(["IN", "EXISTS", "NOT EXISTS"])
        return Semi(left.kinds, left, right, equal, style)

    def _top(self, depth: int) -> Relation:
        below = self._relation(depth)
        partition = tuple(self._some(range(len(below.kinds)), least=0))[:1]
        limit = self.dice.choice([1, 1, 2, 3])
        ranked = self.dice.random() < 0.5
        kinds = (*below.kinds, *([Kind.NUMBER] if ranked else []))
        return Top(kinds, below, partition, self._order(below), limit, ranked)

    def _first(self, depth: int) -> Relation:
        below = self._relation(depth)
        limit, offset = self.dice.randint(1, 5), self.dice.choice([0, 0, 1, 2])
        order = tuple(part.removeprefix("x.") for part in self._order(below))
        return First(below.kinds, below, order, limit, offset)

    def _combined(self, depth: int) -> Relation:
        left, right = self._relation(depth), self._relation(self.dice.randint(0, depth))
        kinds = [kind for kind in (Kind.NUMBER, Kind.TEXT) if self._columns(left, kind)]
        kinds = [kind for kind in kinds if self._columns(right, kind)]
        if not kinds:
            return Filter(left.kinds, left, self._condition(left, "x"))
        sides = [self._only(side, kinds) for side in (left, right)]
        operation = self.dice.choice(
            ["UNION ALL", "UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]
        )
        return Combined(tuple(kinds), sides[0], sides[1], operation)

    def _only(self, relation: Relation, kinds: Sequence[Kind]) -> Relation:
        """Select one column of each kind."""
        items = [f"x.c{self.dice.choice(self._columns(relation, kind))}" for kind in kinds]
        return Project(tuple(kinds), relation, tuple(items))

    def _order(self, below: Relation) -> tuple[str, ...]:
        columns = list(range(len(below.kinds)))
        self.dice.shuffle(columns)
        ends = ["", " DESC", " NULLS LAST", " DESC NULLS FIRST"]
        nulls = {"": " NULLS FIRST", " DESC": " NULLS LAST"}
        found = []
        for column in columns:
            end = self.dice.choice(ends)
            found.append(f"x.c{column}{' ASC' * (end == '')}{end}{nulls.get(end, '')}")
        return tuple(found)

    def _equal(self, left: Relation, right: Relation) -> tuple[int, int] | None:
        pairs = [
            (i, j)
            for i, one in enumerate(left.kinds)
            for j, other in enumerate(right.kinds)
            if one is other
        ]
        return self.dice.choice(pairs) if pairs else None

    def _condition(self, relation: Relation, alias: str) -> str:
        column = self.dice.randrange(len(relation.kinds))
        name = f"{alias}.c{column}"
        if self.dice.random() < 0.2:
            return f"{name} IS {self.dice.choice(['', 'NOT '])}NULL"
        if relation.kinds[column] is Kind.TEXT:
            return f"{name} {self.dice.choice(['=', '<>', '<'])} '{self.dice.choice('abc')}'"
        return f"{name} {self.dice.choice(['<', '>=', '=', '<>'])} {self._number()}"

    def _number(self) -> int:
        return self.dice.randrange(_LARGEST)

    def _columns(self, relation: Relation, kind: Kind) -> list[int]:
        return [i for i, found in enumerate(relation.kinds) if found is kind]

    def _some(self, columns: Sequence[int], least: int) -> list[int]:
        return self.dice.sample(columns, self.dice.randint(least, len(columns)))


def _same(text: str, kind: Kind) -> tuple[Sql, Kind]:
    return Sql.same(text), kind


_ANY = (
    _same("COUNT(*){f}", Kind.NUMBER),
    _same("COUNT({0}){f}", Kind.NUMBER),
    _same("COUNT(DISTINCT {0}){f}", Kind.NUMBER),
)

#: Calls by the kind of their argument `{0}`, with FILTER at `{f}`. Numbers are integers, because
#: floating-point sums depend on the order of the rows.
CALLS: dict[Kind, tuple[tuple[Sql, Kind], ...]] = {
    Kind.NUMBER: (
        *_ANY,
        _same("SUM({0}){f}", Kind.NUMBER),
        _same("SUM(DISTINCT {0}){f}", Kind.NUMBER),
        (Sql("AVG({0}){f}", "(SUM({0}){f} DIV COUNT({0}){f})"), Kind.NUMBER),
        _same("MIN({0}){f}", Kind.NUMBER),
        _same("MAX({0}){f}", Kind.NUMBER),
    ),
    Kind.TEXT: (*_ANY, _same("MIN({0}){f}", Kind.TEXT), _same("MAX({0}){f}", Kind.TEXT)),
}

_SPREADS = tuple(
    Sql.same(f"{name}(CAST({{0}} AS DOUBLE))")
    for name in ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
)

#: Calls whose results no other operator reads.
HEAPS: dict[Kind, tuple[Sql, ...]] = {
    Kind.NUMBER: (
        *_SPREADS,
        Sql("ARRAY_AGG({0})", "TRANSFORM(COLLECT_LIST(STRUCT({0} AS v)), r -> r.v)"),
        Sql(
            "ARRAY_AGG({0}) IGNORE NULLS",
            "CASE WHEN COUNT({0}) > 0 THEN COLLECT_LIST({0}) END",
        ),
    ),
    Kind.TEXT: (
        Sql("LISTAGG({0})", "LISTAGG({0}, ',')"),
        Sql("LISTAGG(DISTINCT {0})", "LISTAGG(DISTINCT {0}, ',')"),
        Sql("ARRAY_AGG(DISTINCT {0})", "TRANSFORM(COLLECT_SET(STRUCT({0} AS v)), r -> r.v)"),
    ),
}
