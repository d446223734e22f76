"""Plan OVER calls: `TopN` for a numbering function, else one of three OVER operators.

Source of the rules: Flink's *Over Aggregation* page. The refused queries and the messages are those
of Flink 2.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.types import Root, quote
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.aggregate.plan_aggregate import Inputs, call_of, canonical
from streamtable.plan.binding.comparisons import check_order
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.python_calls import called_aggregate, calls_aggregate
from streamtable.plan.node import Node
from streamtable.plan.over.calls import NOT_IN_STREAMS, is_numbering, numbering
from streamtable.plan.over.frame import Frame
from streamtable.plan.over.over_aggregate import OverAggregate
from streamtable.plan.over.processing_time_over import ProcessingTimeOver
from streamtable.plan.over.sorted_over import SortedOver
from streamtable.plan.query.relation import Relation, with_values
from streamtable.plan.rank.plan_rank import nulls_first, number_rows
from streamtable.plan.rank.sort_key import SortKey
from streamtable.plan.window.refusals import refuse_lost_time
from streamtable.sql.nodes import FlinkCall, IntervalLiteral
from streamtable.sql.place import place_of

_MICROS_PER_MILLI = 1000


def windows_of(items: Sequence[exp.Expr]) -> Iterator[exp.Window]:
    """Yield all OVER calls in expressions, except in subqueries."""
    for item in items:
        for part in item.walk(prune=lambda node: isinstance(node, exp.Query)):
            if isinstance(part, exp.Window):
                yield part


def with_named_windows(items: Sequence[exp.Expr], named: Sequence[exp.Window]) -> list[exp.Expr]:
    """Replace references to the WINDOW clause by the named windows.

    Raises:
        StreamtableError: INVALID_WINDOW for an unknown name, or for a reference that repeats a
            clause.
    """
    known: dict[str, exp.Window] = {}
    for window in named:
        known[window.this.name] = _resolved(window, known)
    return [item.copy().transform(_named, known) for item in items]


def _named(part: exp.Expr, known: Mapping[str, exp.Window]) -> exp.Expr:
    return _resolved(part, known) if isinstance(part, exp.Window) else part


def _resolved(window: exp.Window, known: Mapping[str, exp.Window]) -> exp.Window:
    alias = window.args.get("alias")
    if alias is None:
        return window
    base = known.get(alias.name)
    if base is None:
        raise _invalid(window, f"there is no window '{alias.name}'", closest(alias.name, known))
    if window.args.get("partition_by"):
        raise _invalid(window, f"PARTITION BY must be in '{alias.name}'")
    copy = window.copy()
    copy.set("alias", None)
    for clause in ("partition_by", "order", "spec"):
        given, inherited = window.args.get(clause), base.args.get(clause)
        if given and inherited:
            raise _invalid(window, f"'{alias.name}' already has such a clause")
        copy.set(clause, given or inherited)
    return copy


def with_over(items: Sequence[exp.Expr], relation: Relation) -> tuple[list[exp.Expr], Relation]:
    """Add an OVER operator below SELECT items, and replace the calls by its columns.

    Raises:
        StreamtableError: INVALID_WINDOW or NOT_YET for a query that Flink or streamtable refuses.
    """
    windows = list(dict.fromkeys(windows_of(items)))
    if not windows:
        return list(items), relation
    if all(is_numbering(w) for w in windows) and len(windows) == 1:
        return number_rows(items, windows[0], relation)
    node, columns = _planned([_spec(w, relation) for w in windows], relation)
    fields = {f.name: f for f in node.fields}
    outputs = dict(zip(windows, columns, strict=True))
    made = [InputField(None, name, fields[name]) for name in columns]
    replaced = [item.copy().transform(_as_column, outputs) for item in items]
    return replaced, Relation(node, (*relation.columns, *made))


def _as_column(part: exp.Expr, outputs: Mapping[exp.Expr, str]) -> exp.Expr:
    name = outputs.get(part) if isinstance(part, exp.Window) else None
    if name is None:
        return part
    column = exp.column(name, quoted=True)
    column.meta.update(part.meta)
    return column


@dataclass(frozen=True)
class _Spec:
    """An OVER call and its window."""

    window: exp.Window
    call: FlinkCall
    partition: tuple[exp.Expr, ...]
    order: tuple[exp.Ordered, ...]
    frame: Frame


def _spec(window: exp.Window, relation: Relation) -> _Spec:
    call = window.this
    assert isinstance(call, FlinkCall), "the parser reads OVER behind calls only"  # noqa: S101
    if call.name in NOT_IN_STREAMS:
        raise _invalid(window, "the function is not supported in stream mode, as in Flink")
    if called_aggregate(call) is not None:
        raise _invalid(
            window,
            "a Python aggregate function cannot be used with OVER; in Flink, only one over pandas",
        )
    if not calls_aggregate(call) and numbering(call.name) is None:
        raise _invalid(window, "OVER must be applied to an aggregate function")
    if call.args.get("filter"):
        hint = f"write {call.name}(CASE WHEN ... END) OVER ..."
        raise _invalid(window, "OVER must be applied to an aggregate, not to its FILTER", hint)
    order = window.args.get("order")
    by = tuple(canonical(node, relation) for node in order.expressions) if order else ()
    if len(by) != 1:
        raise _invalid(window, "the window can only be ordered by a single time column")
    ordered = tuple(node for node in by if isinstance(node, exp.Ordered))
    if ordered[0].args.get("desc"):
        raise _invalid(window, "the window can only be ordered in ASCENDING mode")
    partition = window.args.get("partition_by") or []
    return _Spec(
        window,
        call,
        tuple(canonical(node, relation) for node in partition),
        ordered,
        _frame(window, call),
    )


def _frame(window: exp.Window, call: FlinkCall) -> Frame:
    """Return the frame; the default is ROWS for ROW_NUMBER and RANGE for all other functions."""
    spec = window.args.get("spec")
    if spec is None:
        return Frame(peers=call.name != "ROW_NUMBER")
    if numbering(call.name) is not None:
        raise _invalid(window, "ROWS and RANGE are not allowed with this function")
    start, side = spec.args.get("start"), spec.args.get("start_side")
    if spec.args.get("end") != "CURRENT ROW" or side != "PRECEDING":
        raise _invalid(
            window,
            "windows that end elsewhere than at the CURRENT ROW are not supported in stream mode,"
            " as in Flink",
        )
    peers = spec.args["kind"] == "RANGE"
    if start == "UNBOUNDED":
        return Frame(peers)
    return Frame(peers, _millis(window, start) if peers else _rows(window, start))


def _rows(window: exp.Window, node: exp.Expr) -> int:
    if not isinstance(node, exp.Literal) or not node.name.isdigit():
        raise _invalid(window, "ROWS takes a whole number of rows")
    return int(node.name)


def _millis(window: exp.Window, node: exp.Expr) -> int:
    kind = node.args["to"].data_type if isinstance(node, IntervalLiteral) else None
    if kind is None or kind.root is not Root.INTERVAL_DAY_TIME:
        hint = "write an interval such as INTERVAL '10' MINUTE"
        raise _invalid(window, "data type mismatch between ORDER BY and RANGE clause", hint)
    return int(node.args["value"]) // _MICROS_PER_MILLI


def _planned(specs: Sequence[_Spec], relation: Relation) -> tuple[Node, list[str]]:
    """Return the operator over the relation, and its column names for the calls."""
    first = specs[0]
    for spec in specs:
        if (spec.partition, spec.order, spec.frame) != (first.partition, first.order, first.frame):
            raise _invalid(spec.window, "all aggregates must be computed on the same window")
    binder = Binder(Input(relation.columns))
    order = binder.bind(first.order[0].this)
    check_order("ORDER BY", (order,), place_of(first.window))
    column = next((f.name for f in relation.node.fields if order.sql == quote(f.name)), None)
    is_time = column is not None and relation.node.is_event_time(column)
    arrives = order.time_attribute == "proc"
    if not is_time and not arrives:
        _check_other_order(first, column, relation)
    inputs = Inputs(binder)
    taken = [*(f.name for f in relation.node.fields), *(c.name for c in relation.columns)]
    calls: list[AggregateCall] = []
    for spec in specs:
        others = [*taken, *(c.output.name for c in calls)]
        numbered = numbering(spec.call.name)
        made = call_of if numbered is None else numbered
        calls.append(made(spec.call, inputs, others, grouped=True))
    keys = [*(binder.bind(node) for node in first.partition), order]
    below, names = with_values(
        relation,
        [*keys, *(value for _, value in inputs.bound)],
        "over",
        [c.output.name for c in calls],
    )
    argument = {
        name: place for (name, _), place in zip(inputs.bound, names[len(keys) :], strict=True)
    }
    partition, ordered = tuple(dict.fromkeys(names[: len(keys) - 1])), names[len(keys) - 1]
    taking = tuple(
        replace(c, argument=None if c.argument is None else argument[c.argument]) for c in calls
    )
    node: Node
    at = place_of(first.window)
    if arrives:
        node = ProcessingTimeOver(below.node, partition, ordered, first.frame, taking, at=at)
    elif is_time:
        node = OverAggregate(below.node, partition, ordered, first.frame, taking, at=at)
    else:
        key = SortKey(ordered, descending=False, nulls_first=nulls_first(first.order[0]))
        node = SortedOver(below.node, partition, key, first.frame, taking)
    return node, [c.output.name for c in calls]


def _check_other_order(spec: _Spec, column: str | None, relation: Relation) -> None:
    """Refuse a bounded frame if the order is not a time attribute, as in Flink."""
    if spec.frame.preceding is not None:
        if column is not None:
            refuse_lost_time(relation.node, column, place_of(spec.window))
        raise _invalid(
            spec.window, "non-time attribute sort is not supported for bounded OVER window"
        )


def _invalid(window: exp.Window, reason: str, hint: str | None = None) -> StreamtableError:
    call = window.this
    return StreamtableError(
        Condition.INVALID_WINDOW,
        at=place_of(window),
        hint=hint,
        function=f"{call.name} OVER" if isinstance(call, FlinkCall) else "WINDOW",
        reason=reason,
    )
