"""Changelog-mode inference: which row kinds flow where, and what must be inserted for that.

Three numbered steps over the tree that `build` made, as Flink's
`FlinkChangelogModeInferenceProgram` takes them:

1. What each node produces by itself stands in its `mode`.
2. From the sink down, each node is asked whether its consumer needs the row before an update.
   Aggregations over changing input do, to take the old row out of its group; so do filters on
   columns that may change, to know whether the old row had passed.
3. Where a need is not met, a node is rewritten: an upsert scan gets a `Normalize`, an aggregation
   or a join switches its before-images on, a filter becomes a paired one. A join on columns of the
   primary key takes upserts as they are and finds the rows before them in its own state. A scan of
   change events has its before-images; it gets a `Normalize` where the user says that events may
   come twice, because adding the same row up twice would count it twice.
"""

from __future__ import annotations

from dataclasses import replace

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.core.settings import CDC_DUPLICATES, UpsertMaterialize
from streamtable.plan.arrival_nodes import ArrivalDeduplicate, ArrivalOver
from streamtable.plan.deduplicate_node import Deduplicate
from streamtable.plan.expand_node import Expand
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.keys import constants, ordered_keys, unique_keys, upsert_key
from streamtable.plan.lookup_node import LookupJoin
from streamtable.plan.nodes import (
    NODE_NAMES,
    Calc,
    Collect,
    GroupAggregate,
    Node,
    Sink,
    UnionAll,
    scans,
)
from streamtable.plan.over_node import OverAggregate, SortedOver
from streamtable.plan.positions import with_position
from streamtable.plan.source_nodes import Key, Normalize, Scan, StaticTable, Values
from streamtable.plan.stateful_nodes import Join, Materialize, Repeat, TopN
from streamtable.plan.time_nodes import TimeOperator, WindowAggregate


def infer(
    sink: Sink,
    *,
    duplicates: bool = False,
    materialize: UpsertMaterialize = UpsertMaterialize.AUTO,
) -> Sink:
    """Gives every consumer the row kinds it needs.

    Args:
        sink: the plan as built.
        duplicates: whether change events may come twice (`table.exec.source.cdc-events-duplicate`).
        materialize: where the rows of a sink's key are kept.

    Raises:
        StreamtableError: SINK_NEEDS_APPEND where an insert-only sink would get updates;
            PRIMARY_KEY_REQUIRED for change events that may come twice.
    """
    takes = sink.table.connector.writes
    if takes.is_append:
        _check_append(sink)
    elif not takes.has_before and not sink.input.mode.is_append:
        sink = replace(sink, input=_keyed(sink, materialize))
    if duplicates:
        _check_duplicates(sink.input)
    return replace(sink, input=_satisfy(sink.input, takes.has_before, duplicates))


def infer_changes(shown: Collect, *, duplicates: bool = False) -> Collect:
    """Gives a query whose changes are shown all that a change replaces; see `infer`."""
    if duplicates:
        _check_duplicates(shown.input)
    return replace(shown, input=_satisfy(shown.input, True, duplicates))


def _satisfy(node: Node, before: bool, duplicates: bool) -> Node:  # noqa: C901 - a case for each node
    match node:
        case Scan():
            return _satisfy_scan(node, before, duplicates)
        case Values() | StaticTable():
            return node
        case Calc():
            return _satisfy_calc(node, before, duplicates)
        case Expand():
            below = _satisfy(node.input, not node.input.mode.is_append, duplicates)
            return replace(node, input=below)
        case GroupAggregate():
            return _satisfy_aggregate(node, before, duplicates)
        case UnionAll():
            return UnionAll(tuple(_satisfy(child, before, duplicates) for child in node.inputs))
        case Join():
            return _satisfy_join(node, before, duplicates)
        case TopN():
            below = _satisfy(node.input, not node.input.mode.is_append, duplicates)
            ties: Key = ()
            if below.mode.is_append:
                below, ties = with_position(below)
            satisfied = replace(node, input=below, ties=ties)
            key = next(iter(ordered_keys(satisfied)), None)
            return replace(satisfied, key=key, before=before)
        case Repeat():
            return replace(node, input=_satisfy(node.input, True, duplicates))
        case Materialize():
            below, order = with_position(_satisfy(node.input, True, duplicates))
            return replace(node, input=below, order=order)
        case TimeOperator():
            return _satisfy_in_time(node, before, duplicates)
        case Normalize():
            msg = "a Normalize before the inference that inserts it"
            raise InternalError(msg)


def _satisfy_scan(node: Scan, before: bool, duplicates: bool) -> Node:
    met = node.mode.has_before and not duplicates
    if node.mode.is_append or met or not before:
        return node
    return Normalize(node, key=node.table.schema.primary_key)


def _satisfy_in_time(node: TimeOperator, before: bool, duplicates: bool) -> Node:
    needs = [node.needs_before(child, before) for child in node.inputs]
    pairs = zip(node.inputs, needs, strict=True)
    satisfied = [_satisfy(child, need, duplicates) for child, need in pairs]
    if isinstance(node, SortedOver):
        return _satisfy_sorted(node, satisfied[0], before)
    if isinstance(node, OverAggregate | ArrivalOver):
        _check_added(node)
    if isinstance(node, OverAggregate | Deduplicate | ArrivalOver | ArrivalDeduplicate):
        below, order = with_position(satisfied[0])
        taken = replace(node, input=below, order=order)
        return replace(taken, before=before) if isinstance(taken, ArrivalDeduplicate) else taken
    if isinstance(node, WindowAggregate):
        below, order = _in_order(satisfied[0], node)
        return replace(node, input=below, order=order)
    return node.over(satisfied)


def _satisfy_sorted(node: SortedOver, below: Node, before: bool) -> SortedOver:
    """Rows that are only added come in the order of their topic where the query's is equal."""
    ties: Key = ()
    if below.mode.is_append:
        below, ties = with_position(below)
    satisfied = replace(node, input=below, ties=ties)
    key = next(iter(ordered_keys(satisfied)), None)
    return replace(satisfied, key=key, before=before)


def _check_added(node: OverAggregate | ArrivalOver) -> None:
    if not node.input.mode.is_append:
        raise StreamtableError(
            Condition.TAKES_INSERTS_ONLY,
            at=node.at,
            operator="OVER in the order of a time",
            source=describe_source(first_changing(node.input)),
            hint="Flink's OverAggregate takes no updates and deletes either",
        )


def _satisfy_aggregate(node: GroupAggregate, before: bool, duplicates: bool) -> GroupAggregate:
    below = _satisfy(node.input, not node.input.mode.is_append, duplicates)
    below, order = _in_order(below, node)
    return replace(node, input=below, before=before, order=order)


def _in_order(below: Node, node: GroupAggregate | WindowAggregate) -> tuple[Node, Key]:
    """An aggregate that goes by the order of rows is told their positions, where they have any."""
    if any(AGGREGATES[call.function].ordered for call in node.calls):
        return with_position(below)
    return below, ()


def _satisfy_calc(node: Calc, before: bool, duplicates: bool) -> Calc:
    """A filter on anything but the unique key changes what an update means to the consumer."""
    if _decides(node) and not before:
        below = _in_pairs(_satisfy(node.input, True, duplicates))
        return replace(node, input=below, paired=True)
    return replace(node, input=_satisfy(node.input, before, duplicates))


def _decides(node: Calc) -> bool:
    """Whether a filter may let one row of an update pass and stop the other."""
    changing = not node.input.mode.is_append
    by_key = any(node.condition_fields <= set(key) for key in ordered_keys(node.input))
    return node.condition is not None and changing and not by_key


def _in_pairs(node: Node) -> Node:
    """What a paired filter reads: no filter below it may leave half of an update."""
    match node:
        case Calc():
            below = _in_pairs(node.input)
            return replace(node, input=below, paired=_decides(node), before=True)
        case UnionAll():
            return UnionAll(tuple(_in_pairs(child) for child in node.inputs))
        case LookupJoin() if node.keeps_kinds:
            return node.over([_in_pairs(node.input)])
        case _:
            return node


def _satisfy_join(node: Join, before: bool, duplicates: bool) -> Join:
    """A join takes every row back that it has paired, so it has to know of each."""
    left, left_upserts = _satisfy_side(node.left, node.left_keys, duplicates)
    right, right_upserts = _satisfy_side(node.right, node.right_keys, duplicates)
    satisfied = replace(
        node, left=left, right=right, left_upserts=left_upserts, right_upserts=right_upserts
    )
    key = next(iter(ordered_keys(satisfied)), None)
    return replace(satisfied, key=key, before=before)


def _satisfy_side(node: Node, join_key: Key, duplicates: bool) -> tuple[Node, Key | None]:
    """One input of a join; with the key of its rows where it may stay as upserts.

    The join finds the row before an upsert in its own state, if all versions of a row share a join
    key. That spares the normalizer's state and its shuffle.
    """
    key = upsert_key(node, join_key)
    if key is not None:
        return _with_deletes(node), key
    return _satisfy(node, not node.mode.is_append, duplicates), None


def _with_deletes(node: Node) -> Node:
    """Filters over upserts, made to delete what they stop."""
    if not isinstance(node, Calc):
        return node
    return replace(node, input=_with_deletes(node.input), deletes=node.condition is not None)


def _check_duplicates(node: Node) -> None:
    for scan in scans(node):
        if scan.mode.has_before and not scan.table.schema.primary_key:
            raise StreamtableError(
                Condition.PRIMARY_KEY_REQUIRED,
                at=scan.table.at,
                hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
                table=scan.table.name,
                owner=f"'{CDC_DUPLICATES.key}' = 'true'",
            )


def _check_append(sink: Sink) -> None:
    if sink.input.mode.is_append:
        return
    culprit = first_changing(sink.input)
    kinds = " ".join(k.short for k in sorted(culprit.mode.kinds) if k is not RowKind.INSERT)
    raise StreamtableError(
        Condition.SINK_NEEDS_APPEND,
        at=sink.at,
        hint="write to an 'upsert-kafka' table with a primary key",
        table=sink.table.name,
        format=sink.table.connector.describe().rsplit(", ", 1)[-1],
        operator=describe_source(culprit),
        kinds=kinds,
    )


def first_changing(node: Node) -> Node:
    """The lowest node on the way down that turns inserts into changes."""
    for child in node.inputs:
        if not child.mode.is_append:
            return first_changing(child)
    return node


def describe_source(node: Node) -> str:
    """A node as a user would name it."""
    match node:
        case Scan():
            return f"the scan of table {node.table.name} ({node.table.connector.name})"
        case GroupAggregate():
            by = ", ".join(node.keys) or "nothing"
            return f"the aggregation by {by}"
        case Join():
            return f"the {node.kind.name.lower()} join"
        case TopN():
            return f"the first {node.limit} rows"
        case _:
            return f"the {NODE_NAMES[type(node)]}"


def _keyed(sink: Sink, materialize: UpsertMaterialize) -> Node:
    """The sink's input, made to come in order by the sink's primary key.

    Where that key is a unique one of the query, constants aside, it has one row at most. Elsewhere
    several rows may have it: all of them are kept, the last one is seen, and when that one goes the
    one before it is seen again; Flink's `SinkUpsertMaterializer`.
    """
    found = [key for key in unique_keys(sink.input) if _is_key(key, sink)]
    ordered = any(key in ordered_keys(sink.input) for key in found)
    forced = materialize is UpsertMaterialize.FORCE
    if materialize is UpsertMaterialize.NONE or (ordered and not forced):
        return sink.input
    return Materialize(sink.input, found[0] if found else sink.key)


def _is_key(key: Key, sink: Sink) -> bool:
    return set(key) <= set(sink.key) <= {*key, *constants(sink.input)}
