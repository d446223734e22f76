"""`GroupAggregate` -> `GroupAggregateProcessor`, with one state row per group."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.durations import milliseconds
from streamtable.core.settings.execution import ExecutionMode
from streamtable.core.settings.table import AGGREGATION_PHASES, DISTINCT_BITMAPS, AggregationPhases
from streamtable.core.types import BOOLEAN, Field
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.aggregate import GroupAggregateOperator
from streamtable.jvm.specs.operator import Aggregation
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.aggregate.call import AggregateCall, holds_bytes
from streamtable.plan.aggregate.group_aggregate import GroupAggregate


def lower_group_aggregate(
    node: GroupAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """Lower a group aggregation, which emits at most one change per group and batch."""
    names = [ROW_KIND_COLUMN, *(f.name for f in node.input.fields)]
    return context.bridge.operator(
        rows,
        GroupAggregateOperator(
            keys=node.keys,
            calls=aggregations(node.calls, node.input.fields, context.bridge),
            retracting=not node.input.mode.is_append,
            unknown=node.input.retracts_unknown,
            before=node.before,
            # A bitmap holds many values, but each value expires separately.
            bitmaps=context.settings[DISTINCT_BITMAPS] and node.ttl is None,
            fold=folds(context) and not holds_bytes(node.keys, node.input.fields),
            order=[names.index(name) for name in node.order],
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(node.fields),
            restored=None if context.restored is None else context.restored.groups,
        ),
    )


def aggregations(
    calls: Sequence[AggregateCall], fields: Sequence[Field], bridge: Bridge
) -> list[Aggregation]:
    """Convert aggregate calls to column positions, in rows of a row kind and these fields.

    Args:
        calls: the calls.
        fields: the fields of the input.
        bridge: the bridge, for the programs of Python functions.
    """
    positions = {f.name: i for i, f in enumerate(fields, start=1)}
    types = {f.name: f.type for f in fields}

    def aggregation(call: AggregateCall) -> Aggregation:
        argument = call.argument
        return Aggregation(
            function=call.function,
            argument=-1 if argument is None else positions[argument],
            filter=-1 if call.filter is None else positions[call.filter],
            distinct=call.distinct,
            argument_type=(BOOLEAN if argument is None else types[argument]).spark_sql(),
            result_type=call.output.type.spark_sql(),
            parameters=("1",) if call.capped else call.parameters,
            python=bridge.python_program(call.function) if call.python else None,
        )

    return [aggregation(call) for call in calls]


def folds(context: LoweringContext) -> bool:
    """Whether rows may wait for other rows of their group: never in real-time mode."""
    phases = context.settings[AGGREGATION_PHASES]
    return phases is not AggregationPhases.ONE_PHASE and context.mode is ExecutionMode.MICRO_BATCH
