"""Plan MATCH_RECOGNIZE: a `Match` between two projections.

The projection below computes the conditions that read one row, and the arguments of aggregates. The
operator evaluates the other conditions, and emits the values that the measures read. The projection
above computes the measures.

Source of the rules: Flink's *Pattern Recognition* page. The refused queries are those of Flink 2.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.types import Field, quote, timestamp
from streamtable.plan.aggregate.plan_aggregate import Inputs
from streamtable.plan.binding.comparisons import check_order
from streamtable.plan.binding.expressions import Binder, Bound, Input, InputField
from streamtable.plan.binding.python_calls import calls_python
from streamtable.plan.match.match import Match, MatchRecognize, ProcessingTimeMatch
from streamtable.plan.match.navigation import Navigator, invalid, is_newest
from streamtable.plan.match.pattern import PatternVariable
from streamtable.plan.match.plan_pattern import plan_pattern, plan_skip, plan_within
from streamtable.plan.match.value import MatchDefinition, MatchValue
from streamtable.plan.query.conditions import bind_condition
from streamtable.plan.query.relation import (
    Relation,
    bound_field,
    project,
    unique_names,
    with_values,
)
from streamtable.plan.rank.plan_rank import nulls_first
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.window.refusals import refuse_lost_time
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.nodes import MatchRecognize as MatchNode
from streamtable.sql.place import place_of

_ROWTIME = "MATCH_ROWTIME()"


def plan_match(node: MatchNode, relation: Relation) -> Relation:
    """Plan a MATCH_RECOGNIZE over the rows of its relation; the alias is not applied.

    Raises:
        StreamtableError: INVALID_MATCH for what Flink refuses; NOT_YET for a Python function in a
            condition over several rows; errors of expressions.
    """
    pattern = plan_pattern(node)
    asked = _Asked(node, relation, pattern)
    definitions = asked.definitions()
    measures, values = asked.measures()
    return _planned(asked, definitions, measures, values)


@dataclass
class _Definition:
    """A condition of DEFINE: over the newest row, or over values of the match."""

    variable: str
    newest: Bound | None
    sql: str | None
    values: tuple[MatchValue, ...]


class _Asked:
    """The clauses of a MATCH_RECOGNIZE over a relation."""

    def __init__(
        self, node: MatchNode, relation: Relation, pattern: tuple[PatternVariable, ...]
    ) -> None:
        self.node = node
        self.relation = relation
        self.pattern = pattern
        self.binder = Binder(Input(relation.columns))
        self.inputs = Inputs(self.binder)
        self.partition = [self._partition(key) for key in node.args.get("partition_by") or ()]
        self.order, self.by_arrival = self._order()
        self.rowtime: Field | None = None

    def _partition(self, key: exp.Expr) -> InputField:
        bound = self.binder.bind(key)
        if not isinstance(key, exp.Column) or len(bound.fields) != 1:
            raise invalid(key, "PARTITION BY takes columns")
        return next(c for c in self.relation.columns if {c.field.name} == bound.fields)

    def _order(self) -> tuple[list[tuple[Bound, exp.Ordered]], bool]:
        clause = self.node.args.get("order")
        if clause is None:
            raise invalid(self.node, "ORDER BY must name an event time or processing time first")
        found = [(self.binder.bind(node.this), node) for node in clause.expressions]
        time, first = found[0]
        by_arrival = time.time_attribute == "proc"
        names = list(time.fields)
        timed = len(names) == 1 and time.sql == quote(names[0])
        if not by_arrival and not (timed and self.relation.node.is_event_time(names[0])):
            refuse_lost_time(self.relation.node, names[0] if timed else "", place_of(first))
            raise invalid(first, "ORDER BY must name an event time or processing time first")
        if first.args.get("desc"):
            raise invalid(first, "the time of ORDER BY must be ascending")
        return found, by_arrival

    def _navigator(self, current: str | None) -> Navigator:
        least = {variable.name: variable.least for variable in self.pattern}
        return Navigator(self.relation.columns, self.inputs, least, current)

    def definitions(self) -> list[_Definition]:
        """Plan DEFINE."""
        found: list[_Definition] = []
        known = [variable.name for variable in self.pattern]
        for alias in self.node.args["define"]:
            name = alias.alias
            if name in [definition.variable for definition in found]:
                raise invalid(alias, f"pattern variable {name} is defined twice")
            if name not in known:
                hint = closest(name, known)
                raise invalid(alias, f"PATTERN has no variable {name}", hint)
            found.append(self._definition(name, alias.this))
        return found

    def _definition(self, name: str, node: exp.Expr) -> _Definition:
        navigator = self._navigator(name)
        rewritten = navigator.rewritten(node)
        values = tuple(navigator.values.values())
        if all(is_newest(value, name) for value in values):
            columns = {value.output.name: value.column for value in values}
            fields = {c.field.name: c for c in self.relation.columns}
            newest = tuple(
                InputField(None, output, fields[column].field, fields[column].time_attribute)
                for output, column in columns.items()
                if column is not None
            )
            bound = bind_condition(rewritten, Binder(Input(newest)), "DEFINE")
            return _Definition(name, bound, None, ())
        bound = bind_condition(rewritten, Binder(Input(_columns(values))), "DEFINE")
        if calls_python(bound.sql):
            raise StreamtableError(
                Condition.NOT_YET,
                at=place_of(node),
                what="a Python function in a condition of DEFINE that reads several rows",
                hint="call it in a query before MATCH_RECOGNIZE, and use its column",
            )
        return _Definition(name, None, bound.sql, values)

    def measures(self) -> tuple[list[tuple[str, exp.Expr]], list[MatchValue]]:
        """Return the names and rewritten expressions of MEASURES, and the values they read."""
        navigator = self._navigator(None)
        found: list[tuple[str, exp.Expr]] = []
        for alias in self.node.args.get("measures") or ():
            timed = alias.this.copy().transform(self._timed)
            found.append((alias.alias, navigator.rewritten(timed)))
        return found, list(navigator.values.values())

    def _timed(self, part: exp.Expr) -> exp.Expr:
        """Replace MATCH_PROCTIME() by PROCTIME(), and MATCH_ROWTIME() by a literal column."""
        if not isinstance(part, FlinkCall):
            return part
        if part.name == "MATCH_PROCTIME" and not part.expressions:
            return self._at(FlinkCall(this="PROCTIME", expressions=[]), part)
        if part.name == "MATCH_ROWTIME":
            self._set_rowtime(part)
            return self._at(exp.Placeholder(this=_ROWTIME), part)
        return part

    def _at(self, node: exp.Expr, like: exp.Expr) -> exp.Expr:
        node.meta.update(like.meta)
        return node

    def _set_rowtime(self, call: FlinkCall) -> None:
        kind = timestamp(3)
        for argument in call.expressions:
            bound = self.binder.bind(self._navigator(None).plain(argument))
            (name,) = bound.fields if len(bound.fields) == 1 else ("",)
            if not self.relation.node.is_event_time(name) or not isinstance(argument, exp.Column):
                raise invalid(argument, "MATCH_ROWTIME takes a column with an event time")
            kind = bound.type
        if self.by_arrival or len(call.expressions) > 1:
            raise invalid(call, "MATCH_ROWTIME needs an ORDER BY an event time")
        self.rowtime = Field(_ROWTIME, kind.with_nullable(False))


def _planned(
    asked: _Asked,
    definitions: Sequence[_Definition],
    measures: Sequence[tuple[str, exp.Expr]],
    values: Sequence[MatchValue],
) -> Relation:
    """Return the operator between its projections."""
    newest = [d.newest for d in definitions if d.newest is not None]
    sorts = [bound for bound, _ in asked.order]
    check_order("ORDER BY", sorts, place_of(asked.node))
    arguments = [value for _, value in asked.inputs.bound]
    relation = asked.relation
    below, names = with_values(relation, [*sorts, *arguments, *newest], "match")
    sorted_by, rest = names[: len(sorts)], names[len(sorts) :]
    argument = {
        name: place
        for (name, _), place in zip(asked.inputs.bound, rest[: len(arguments)], strict=True)
    }
    conditions = iter(rest[len(arguments) :])
    partition = tuple(dict.fromkeys(column.field.name for column in asked.partition))
    outputs = _distinct(values, [*partition, _ROWTIME])
    kind: type[Match] = ProcessingTimeMatch if asked.by_arrival else MatchRecognize
    node = kind(
        below.node,
        partition,
        sorted_by[0],
        tuple(
            SortKey(name, bool(ordered.args.get("desc")), nulls_first(ordered))
            for name, (_, ordered) in zip(sorted_by[1:], asked.order[1:], strict=True)
        ),
        asked.pattern,
        plan_skip(asked.node, asked.pattern),
        plan_within(asked.node),
        tuple(
            MatchDefinition(
                d.variable,
                next(conditions) if d.newest is not None else None,
                d.sql,
                tuple(_reading(value, argument) for value in d.values),
            )
            for d in definitions
        ),
        tuple(_reading(value, argument) for value in outputs.values()),
        asked.rowtime,
        at=place_of(asked.node),
    )
    return _measured(node, asked, measures, outputs)


def _measured(
    node: Match,
    asked: _Asked,
    measures: Sequence[tuple[str, exp.Expr]],
    outputs: Mapping[str, MatchValue],
) -> Relation:
    """Add the projection that computes the measures."""
    columns = [InputField(None, name, value.output) for name, value in outputs.items()]
    if asked.rowtime is not None:
        columns.append(InputField(None, _ROWTIME, asked.rowtime))
    binder = Binder(Input(tuple(columns)))
    kept = [(column.name, bound_field(column.field)) for column in asked.partition]
    taken = [name for name, _ in (*kept, *measures)]
    for name, measure in measures:
        if taken.count(name) > 1:
            raise invalid(measure, f"column {name} is ambiguous: PARTITION BY or MEASURES has it")
    if not measures:
        raise invalid(asked.node, "MEASURES must have a column")
    found = [(name, binder.bind(measure.transform(_as_column))) for name, measure in measures]
    return project(node, [*kept, *found])


def _as_column(part: exp.Expr) -> exp.Expr:
    """Return the column of MATCH_ROWTIME()."""
    if not isinstance(part, exp.Placeholder):
        return part
    column = exp.column(_ROWTIME, quoted=True)
    column.meta.update(part.meta)
    return column


def _columns(values: Sequence[MatchValue]) -> tuple[InputField, ...]:
    return tuple(InputField(None, value.output.name, value.output) for value in values)


def _distinct(values: Sequence[MatchValue], taken: Sequence[str]) -> dict[str, MatchValue]:
    """Return the values by their names in expressions, with field names of their own."""
    names = unique_names([*taken, *(value.output.name for value in values)])[len(taken) :]
    return {
        value.output.name: replace(value, output=replace(value.output, name=name))
        for value, name in zip(values, names, strict=True)
    }


def _reading(value: MatchValue, argument: Mapping[str, str]) -> MatchValue:
    """Return an aggregate with the input field of its argument."""
    call = value.call
    if call is None:
        return value
    name = None if call.argument is None else argument[call.argument]
    return replace(value, call=replace(call, argument=name))
