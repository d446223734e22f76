"""Projection and filter operator."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from streamtable.core.changelog import RETRACT, UPSERT, ChangelogMode
from streamtable.core.identity import stable
from streamtable.core.types import INTEGERS, Field, quote
from streamtable.plan.binding.bound import Path, roots, whole
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.keys import distinct, ordered_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import POSITION_NAMES, positions_in
from streamtable.plan.window.fields import WindowField


@stable("Projection", derived=("source", "paths", "constant"), field="field", sql="sql")
@dataclass(frozen=True)
class Projection:
    """One output column of a `Calc`.

    Attributes:
        sql: Spark SQL over the input's fields.
        source: the input field, if the column passes it on unchanged.
        paths: the input fields from which the column is computed, or the parts of them.
        constant: whether the value is the same in every row.
    """

    field: Field
    sql: str
    source: str | None = None
    paths: frozenset[Path] = frozenset()
    constant: bool = False

    @property
    def reads(self) -> frozenset[str]:
        """The input fields from which the column is computed."""
        return roots(self.paths)


def passed_on(fields: Iterable[Field]) -> tuple[Projection, ...]:
    """Return projections that pass fields on unchanged."""
    return tuple(Projection(f, quote(f.name), f.name, whole([f.name])) for f in fields)


@stable(
    "Calc",
    derived=("condition_paths",),
    projections="projections",
    condition="condition",
    paired="paired",
    before="before",
    deletes="deletes",
)
@dataclass(frozen=True)
class Calc(UnaryNode):
    """Projection and filter, row by row.

    Attributes:
        condition: filter as Spark SQL; only rows for which it is true pass. None: all rows pass.
        condition_paths: input fields that the condition reads, or the parts of them.
        paired: whether the filter evaluates both rows of an update together. If only the old row
            matches, the filter emits a delete. If neither row matches, it emits nothing. A filter
            between a changelog and a consumer of upserts must be paired.
        before: whether a paired filter emits update-before rows.
        deletes: whether the filter emits a delete for the key of each row that it drops. Consumers
            of upserts that keep the last row of each key need this.
    """

    title = "Calc"
    state = None

    projections: tuple[Projection, ...]
    condition: str | None = None
    condition_paths: frozenset[Path] = frozenset()
    paired: bool = False
    before: bool = False
    deletes: bool = False

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """One field per projection."""
        return tuple(p.field for p in self.projections)

    @property
    def condition_fields(self) -> frozenset[str]:
        """The input fields that the condition reads."""
        return roots(self.condition_paths)

    @property
    def mode(self) -> ChangelogMode:
        """Mode of the input; a paired filter removes update-before rows and may add deletes."""
        if self.paired:
            return RETRACT if self.before else UPSERT
        return self.input.mode

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the keys of the input, under all names that the projection gives their fields."""
        below = self.input.row_keys(ordered=ordered)
        return distinct(named for key in below for named in self._renamed(key))

    @property
    def constants(self) -> frozenset[str]:
        """Literals, and constants of the input."""
        below = self.input.constants
        return frozenset(p.field.name for p in self.projections if p.constant or p.source in below)

    def decided_by_key(self) -> frozenset[str] | None:
        """Return the fields computed only from fields that the primary key determines."""
        below = self.input.decided_by_key()
        return None if below is None else frozenset(self.decided_fields(below))

    def decided_fields(self, below: Collection[str]) -> list[str]:
        """Return the fields computed only from these input fields."""
        return [
            p.field.name
            for p in self.projections
            if p.constant or (p.reads and p.reads <= frozenset(below))
        ]

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the fields computed only from fields that the deletes of the input carry."""
        carried = self.input.fields_of_deletes()
        if carried is None:
            return None
        return frozenset(p.field.name for p in self.projections if p.reads <= carried)

    def needs_before(self, child: Node, before: bool) -> bool:
        """Return true if the consumer needs it, or if the filter may split an update."""
        return before or (not child.mode.is_append and self._reads_more_than_key())

    def settled(self, before: bool) -> Calc:
        """Return a paired filter if the consumer takes upserts and the filter may split them.

        The two rows of an update are neighbours only if the input has an ordered key. Without such
        a key, the consumer takes update-before rows, and the filter decides on each row alone.
        """
        if ordered_keys(self.input) and self._splits_updates() and not before:
            return replace(self, input=self.input.in_pairs(), paired=True)
        return self

    def _splits_updates(self) -> bool:
        """Return whether the filter may pass one row of an update and drop the other."""
        return self.input.mode.has_updates and self._reads_more_than_key()

    def _reads_more_than_key(self) -> bool:
        """Return whether the rows of an update may differ in what the filter reads."""
        return self.condition is not None and not any(
            self.condition_fields <= set(key) for key in ordered_keys(self.input)
        )

    def in_pairs(self) -> Calc:
        """Return the operator with a paired filter, if the filter may split updates."""
        below = replace(self, input=self.input.in_pairs())
        return replace(below, paired=self._splits_updates(), before=True)

    def with_deletes(self) -> Calc:
        """Return the operator with a filter that emits deletes for dropped rows."""
        below = self.input.with_deletes()
        return replace(self, input=below, deletes=self.condition is not None)

    def positioned(self) -> Node | None:
        """Return the operator with the positions of the input."""
        below = self.input.positioned()
        if below is None or set(POSITION_NAMES) & {f.name for f in self.fields}:
            return None if below is None else self
        positions = passed_on(positions_in(below.fields))
        return replace(self, input=below, projections=(*self.projections, *positions))

    def narrowed(self, wanted: set[str]) -> Calc:
        """Return the operator without unused projections."""
        return replace(
            self, projections=tuple(p for p in self.projections if p.field.name in wanted)
        )

    def reads(self, wanted: set[str]) -> tuple[set[str], ...]:
        """Return the input fields of projections and filter."""
        kept = (p for p in self.projections if p.field.name in wanted)
        return ({name for p in kept for name in p.reads} | self.condition_fields,)

    def pruned(self, wanted: set[str]) -> Node:
        """Return the pruned operator; the input alone, if nothing else is left to compute."""
        calc = super().pruned(wanted)
        if not isinstance(calc, Calc) or calc.condition is not None:
            return calc
        same = [(p.source, p.field.name) for p in calc.projections]
        below = calc.input
        return below if same == [(f.name, f.name) for f in below.fields] else calc

    def in_parts(self, wanted: frozenset[Path]) -> Node:
        """Pass on the parts that projections and filter read; a passed column is read as above.

        A filter that keeps rows of updates, or the keys of dropped rows, reads whole columns.
        """
        if self.paired or self.deletes:
            return super().in_parts(wanted)
        read = set(self.condition_paths)
        for projection in self.projections:
            if projection.source is None:
                read |= projection.paths
            else:
                name = projection.field.name
                read |= {(projection.source, *path[1:]) for path in wanted if path[0] == name}
        return self.over([self.input.in_parts(frozenset(read))])

    def merged(self) -> Calc:
        """Merge a projection that only renames or reorders with the projection below.

        before:  Calc(a AS x, n AS y) <- Calc(a, COUNT AS n, b) <- ...
        after:   Calc(a AS x, COUNT AS y) <- ...
        """
        below = self.input
        if not isinstance(below, Calc) or self.condition is not None or self.paired:
            return self
        computed = {p.field.name: p for p in below.projections}
        if any(p.source is None for p in self.projections):
            return self
        pairs = [(p.field, computed[p.source]) for p in self.projections if p.source]
        return replace(below, projections=tuple(replace(p, field=f) for f, p in pairs))

    def source_of(self, name: str) -> str | None:
        """Return the input field that a field passes on unchanged; None for a computed field."""
        return next((p.source for p in self.projections if p.field.name == name), None)

    def is_event_time(self, name: str) -> bool:
        """Return whether the field passes on an event time of the input unchanged."""
        found = self.source_of(name)
        return found is not None and self.input.is_event_time(found)

    def window_field(self, name: str) -> WindowField | None:
        """Return the window bound of an input field that is passed on unchanged."""
        found = self.source_of(name)
        return self.input.window_field(found) if found else None

    def with_sessions(self, *, merged: bool) -> Node:
        """Pass `merged` on to the input: an aggregation above also merges sessions below."""
        return self.over([self.input.with_sessions(merged=merged)])

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: without Python functions."""
        return not any(map(calls_python, self.spark_texts)) and self.input.runs_together

    @property
    def spark_texts(self) -> Iterator[str]:
        """Projections and filter."""
        yield from (projection.sql for projection in self.projections)
        yield self.condition or ""

    @property
    def forwards_every_row(self) -> bool:
        """Whether there is no filter."""
        return self.condition is None

    @property
    def is_static(self) -> bool:
        """Whether the input is static."""
        return self.input.is_static

    def normalizers(self, above: str | None) -> Sequence[str | None]:
        """Return the operator's own normalizer for its input."""
        return [above]

    @property
    def headline(self) -> str:
        """Shows columns and filter."""
        columns = ", ".join(
            p.field.name if p.source == p.field.name else f"{p.sql} AS {p.field.name}"
            for p in self.projections
        )
        paired = " of old and new row" if self.paired else ""
        deletes = ", emits -D for other rows" if self.deletes else ""
        where = f", where{paired} {self.condition}{deletes}" if self.condition else ""
        return f"Calc {columns or 'nothing'}{where}"

    def _renamed(self, key: Key) -> Iterable[Key]:
        """Yield the key under all names that the projection gives its fields."""
        fields = {f.name: f for f in self.input.fields if f.name in key}
        if len(fields) < len(set(key)):
            return ()
        names = [
            [p.field.name for p in self.projections if _stands_for(p, fields[name])] for name in key
        ]
        return product(*names)


def below_projections(node: Node, name: str) -> tuple[Node, str | None]:
    """Return the operator below projections and its name of a field; None if it is computed."""
    found: str | None = name
    while isinstance(node, Calc):
        found = node.source_of(found) if found is not None else None
        node = node.input
    return node, found


def _stands_for(column: Projection, field: Field) -> bool:
    """Return whether a column preserves distinct values: the field itself, or a wider integer.

    Flink's planner keeps keys through every implicit cast. That is wrong for BIGINT to FLOAT, which
    maps different values to the same one.
    """
    if column.source == field.name:
        return True
    roots = (field.type.root, column.field.type.root)
    if not set(roots) <= set(INTEGERS) or INTEGERS.index(roots[0]) > INTEGERS.index(roots[1]):
        return False
    return column.sql == f"CAST({quote(field.name)} AS {column.field.type.spark_sql()})"
