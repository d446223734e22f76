"""Plan GROUP BY and aggregate calls: a `GroupAggregate` between two projections.

The projection below computes grouping expressions, arguments and filters as plain columns. In the
projection above, columns of the aggregation's output replace grouping expressions and aggregate
calls. Any other column there is neither grouped nor aggregated, which is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import Field, Root, array
from streamtable.plan.aggregate.call import AggregateCall, PythonAggregate
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.aggregate.plan_call import taken_by, taken_by_python
from streamtable.plan.binding.expressions import Binder, Bound, Input
from streamtable.plan.binding.python_calls import called_aggregate, calls_aggregate
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.query.relation import Relation, of_node, project, unique_names
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of


@dataclass(frozen=True)
class Aggregation:
    """The aggregated relation and the wanted expressions over it, in the same order."""

    relation: Relation
    rewritten: list[exp.Expr]


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether the node calls an aggregate function that is not an OVER aggregate."""
    if not isinstance(node, FlinkCall) or isinstance(node.parent, exp.Window):
        return False
    return calls_aggregate(node)


def has_aggregate(node: exp.Expr) -> bool:
    """Return whether an expression contains an aggregate outside subqueries."""
    return any(is_aggregate(part) for part in node.walk(prune=lambda n: isinstance(n, exp.Query)))


@dataclass
class Inputs:
    """Input columns of the aggregation; each distinct expression has one column."""

    binder: Binder
    names: dict[exp.Expr, str] = field(default_factory=dict)
    bound: list[tuple[str, Bound]] = field(default_factory=list)

    def add(self, node: exp.Expr, prefix: str) -> str:
        """Add an expression and return its column name; a plain column keeps its name."""
        if node in self.names:
            return self.names[node]
        name = self.add_bound(self.binder.bind(node), node, prefix)
        self.names[node] = name
        return name

    def add_bound(self, value: Bound, node: exp.Expr, prefix: str) -> str:
        """Add a bound expression and return its column name."""
        for name, known in self.bound:
            if known == value:
                return name
        is_column = isinstance(node, exp.Column) and value.type.root is not Root.ROW
        wanted = node.name if is_column else f"{prefix}{len(self.bound)}"
        name = unique_names([*(n for n, _ in self.bound), wanted])[-1]
        self.bound.append((name, value))
        return name


def plan_aggregation(
    grouping: list[exp.Expr], wanted: list[exp.Expr], source: Relation
) -> Aggregation:
    """Plan the aggregation of a relation.

    Args:
        grouping: expressions of GROUP BY; empty for a single global group.
        wanted: expressions over groups: SELECT items and HAVING.
        source: the filtered input.

    Raises:
        StreamtableError: NOT_GROUPED for a column outside GROUP BY and aggregates,
            AGGREGATE_MISPLACED for an aggregate inside GROUP BY or another aggregate.
    """
    inputs = Inputs(Binder(Input(source.columns)))
    for node in grouping:
        if has_aggregate(node):
            raise _misplaced(node, "GROUP BY")
    keys = [inputs.add(canonical(node, source), "group") for node in grouping]
    calls: dict[exp.Expr, AggregateCall] = {}
    asked = [canonical(node, source) for node in wanted]
    for node in asked:
        for part in list(node.walk(prune=lambda n: isinstance(n, exp.Query))):
            if is_aggregate(part) and part not in calls:
                taken = [*keys, *(c.output.name for c in calls.values())]
                calls[part] = call_of(part, inputs, taken, grouped=bool(keys))
    below = project(source.node, inputs.bound)
    aggregate = GroupAggregate(below.node, tuple(dict.fromkeys(keys)), tuple(calls.values()))
    outputs = {node: inputs.names[node] for node in (canonical(n, source) for n in grouping)}
    outputs.update({node: call.output.name for node, call in calls.items()})
    relation = of_node(aggregate)
    return Aggregation(relation, [_rewrite(node, outputs) for node in asked])


def call_of(
    node: exp.Expr, inputs: Inputs, taken: Sequence[str], *, grouped: bool
) -> AggregateCall:
    """Plan an aggregate call and add its values to the inputs.

    Args:
        node: the call.
        inputs: the input columns of the operator.
        taken: names that the output must not use.
        grouped: whether there is an input row in any case.
    """
    for part in (*node.expressions, node.args.get("filter")):
        if part is not None and has_aggregate(part):
            raise _misplaced(part, f"an argument of {node.name}")
    assert isinstance(node, FlinkCall), "what is_aggregate asks for"  # noqa: S101
    condition = node.args.get("filter")
    user = called_aggregate(node)
    written_distinct = bool(node.args.get("distinct"))
    if user is None:
        function = AGGREGATES[node.name]
        name = function.distinct_of or node.name
        distinct = written_distinct or function.distinct_of is not None
        taken_values = taken_by(function, node, inputs.binder.bind)
        some = grouped and condition is None
        result = function.result(taken_values.types, place_of(node), grouped=some)
        if taken_values.many:
            result = array(result)
    else:
        name, distinct = user.spark_name, written_distinct
        taken_values = taken_by_python(user, node, inputs.binder.bind)
        result = user.signature.result
    values = taken_values.values
    names = [] if values is None else [inputs.add_bound(values, node.expressions[0], "arg")]
    wanted = "_".join([node.name.lower(), *(["distinct"] if written_distinct else []), *names])
    return AggregateCall(
        function=name,
        output=Field(unique_names([*taken, wanted])[-1], result),
        argument=names[0] if names else None,
        distinct=distinct,
        filter=inputs.add(condition, "filter") if condition is not None else None,
        parameters=taken_values.parameters,
        python=None if user is None else PythonAggregate(user, place_of(node)),
    )


def canonical(node: exp.Expr, source: Relation) -> exp.Expr:
    """Return a copy with one spelling per column, so that equal expressions compare equal.

    `t.a` and `` `a` `` become `` `a` `` if that name alone is unambiguous. Names inside a subquery
    are not changed, because they may refer to another column.
    """
    names = [column.name for column in source.columns]
    qualified = {(column.qualifier, column.name) for column in source.columns}

    asks = node.find(exp.Query) is not None

    def renamed(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Column) or (asks and part.find_ancestor(exp.Query)):
            return part
        written = [p.name for p in part.parts]
        is_column = len(written) == 1 or tuple(written) in qualified
        if not is_column or names.count(written[-1]) != 1:
            return part
        plain = exp.column(written[-1], quoted=True)
        plain.meta.update(part.meta)
        return plain

    return node.copy().transform(renamed)


def _rewrite(node: exp.Expr, outputs: dict[exp.Expr, str]) -> exp.Expr:
    """Replace grouping expressions and aggregate calls by columns of the aggregation's output."""
    if node in outputs:
        column = exp.column(outputs[node], quoted=True)
        column.meta.update(node.meta)
        return column
    if isinstance(node, exp.Query):
        return node.copy()
    if isinstance(node, exp.Column):
        raise StreamtableError(
            Condition.NOT_GROUPED,
            at=place_of(node),
            column=node.name,
            hint=f"add it to GROUP BY or write MAX({node.name})",
        )
    copy = node.copy()
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            copy.set(key, _rewrite(value, outputs))
        elif isinstance(value, list):
            copy.set(
                key,
                [_rewrite(v, outputs) if isinstance(v, exp.Expr) else v for v in value],
            )
    return copy


def _misplaced(node: exp.Expr, clause: str) -> StreamtableError:
    found = next(part for part in node.walk() if is_aggregate(part))
    return StreamtableError(
        Condition.AGGREGATE_MISPLACED, at=place_of(found), function=found.name, clause=clause
    )
