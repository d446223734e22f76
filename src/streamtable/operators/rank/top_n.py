"""`TopN` -> `TopNProcessor`: the top rows of each partition."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.core.durations import milliseconds
from streamtable.core.errors import InternalError
from streamtable.jvm.specs.rank import TopNOperator
from streamtable.operators.aggregate.group_aggregate import folds
from streamtable.operators.context import LoweringContext
from streamtable.operators.schema import changelog_ddl, positions, sort_columns
from streamtable.plan.aggregate.call import holds_bytes
from streamtable.plan.keys import removal_key
from streamtable.plan.rank.top_n import TopN


def lower_top_n(node: TopN, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a Top-N, which emits at most one change per row and batch."""
    if node.limit is None:
        msg = "a TopN without a limit, which planning refuses"
        raise InternalError(msg)
    output = (*node.input.fields, *((node.rank,) if node.rank else ()))
    changes = context.bridge.operator(
        rows,
        TopNOperator(
            keys=node.partition,
            fold=_folds(node, context),
            order=sort_columns(node.order, node.input.fields, node.ties, last=node.last),
            skip=node.skip,
            limit=node.limit,
            retracting=not node.input.mode.is_append,
            begins=node.input.retracts_first,
            row_key=positions(removal_key(node.input, expires=node.expires), node.input.fields),
            ranked=node.rank is not None,
            output_key=positions(node.key, output),
            before=node.before,
            ttl=milliseconds(node.ttl),
            output_ddl=changelog_ddl(output),
        ),
    )
    return changes.drop(*node.ties)


def _folds(node: TopN, context: LoweringContext) -> bool:
    """Whether tasks prune rows locally before the shuffle: rows that cannot be in the Top-N."""
    return (
        folds(context)
        and node.input.mode.is_append
        and not holds_bytes(node.partition, node.input.fields)
    )
