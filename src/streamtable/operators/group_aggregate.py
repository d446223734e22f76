"""`GroupAggregate` -> `GroupAggregateProcessor`, one state row per group."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from streamtable.core.settings import (
    AGGREGATION_PHASES,
    DISTINCT_BITMAPS,
    AggregationPhases,
    ExecutionMode,
)
from streamtable.core.types import BOOLEAN, BYTES_ROOTS, DataType, Root
from streamtable.jvm.bridge import Aggregation
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl
from streamtable.plan.nodes import AggregateCall, GroupAggregate


def lower_group_aggregate(
    node: GroupAggregate, rows: DataFrame, context: LoweringContext
) -> DataFrame:
    """At most one change per group and batch."""
    fields = node.input.fields
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
        )

    return context.bridge.group_aggregate(
        rows,
        keys=node.keys,
        calls=[aggregation(call) for call in node.calls],
        retracting=not node.input.mode.is_append,
        before=node.before,
        bitmaps=context.settings[DISTINCT_BITMAPS],
        fold=_folds(context) and not _holds_bytes(node, types),
        output_ddl=changelog_ddl(node.fields),
    )


def _folds(context: LoweringContext) -> bool:
    """Whether rows may wait for others of their group: never in real-time mode."""
    phases = context.settings[AGGREGATION_PHASES]
    return phases is not AggregationPhases.ONE_PHASE and context.mode is ExecutionMode.MICRO_BATCH


def _holds_bytes(node: GroupAggregate, types: Mapping[str, DataType]) -> bool:
    """Whether a grouping column has no equality of its own as a Java object."""
    unequal = {*BYTES_ROOTS, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW}
    return any(types[key].root in unequal for key in node.keys)
