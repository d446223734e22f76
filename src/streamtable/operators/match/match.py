"""`MatchRecognize` and `ProcessingTimeMatch` -> their processors."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from streamtable.core.changelog import ROW_KIND_COLUMN
from streamtable.core.types import BIGINT, Field, Root, quote, spark_ddl
from streamtable.jvm.specs.match import MatchDefinition, MatchOperator, MatchPattern, MatchValue
from streamtable.operators.aggregate.group_aggregate import aggregations
from streamtable.operators.context import LoweringContext
from streamtable.operators.match.automaton import automaton
from streamtable.operators.schema import changelog_ddl, sort_columns
from streamtable.operators.window.event_times import lateness, required, table_below
from streamtable.plan.binding.moments import EPOCH, millis
from streamtable.plan.match.match import Match, MatchRecognize
from streamtable.plan.match.value import MatchDefinition as PlannedDefinition
from streamtable.plan.match.value import MatchValue as PlannedValue
from streamtable.plan.query.relation import bound_field

_MOMENT = Field("__moment", BIGINT)
_MICROS = f"{quote(_MOMENT.name)} * 1000L"


def lower_match(node: Match, rows: DataFrame, context: LoweringContext) -> DataFrame:
    """Lower a MATCH_RECOGNIZE, which emits every match once."""
    kept = [f for f in node.input.fields if f.name not in node.order]
    names = [f.name for f in kept]
    found = context.bridge.operator(
        _by_time(node, rows, names),
        MatchOperator(
            keys=node.partition,
            event_time=isinstance(node, MatchRecognize),
            pattern=_pattern(node),
            definitions=_definitions(node, kept, context),
            values=[_value(value, node, kept, context) for value in node.values],
            order=sort_columns(node.peers, kept),
            positions=len(node.order),
            lateness=lateness(node.input, context),
            output_ddl=_output_ddl(node),
        ),
    )
    return found.selectExpr(ROW_KIND_COLUMN, *(_output(node, f) for f in node.fields))


def _by_time(node: Match, rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Select row kind, columns, time in ms, and the columns that give the arrival order."""
    time = next(f for f in node.input.fields if f.name == node.time)
    moment = required(millis(bound_field(time)), time.name, table_below(node))
    return rows.selectExpr(
        ROW_KIND_COLUMN,
        *map(quote, names),
        f"{moment} AS {quote(_MOMENT.name)}",
        *map(quote, node.order),
    )


def _pattern(node: Match) -> MatchPattern:
    names = [variable.name for variable in node.pattern]
    return MatchPattern(
        variables=names,
        states=automaton(node.pattern),
        skip_to=node.skip.to.name,
        skip_variable=-1 if node.skip.variable is None else names.index(node.skip.variable),
        within=node.within or 0,
    )


def _definitions(
    node: Match, kept: Sequence[Field], context: LoweringContext
) -> list[MatchDefinition]:
    known = {definition.variable: definition for definition in node.definitions}
    none = PlannedDefinition("")
    return [_definition(known.get(v.name, none), node, kept, context) for v in node.pattern]


def _definition(
    definition: PlannedDefinition, node: Match, kept: Sequence[Field], context: LoweringContext
) -> MatchDefinition:
    return MatchDefinition(
        column=_position(definition.column, kept),
        text=definition.sql,
        values=[_value(value, node, kept, context) for value in definition.values],
        values_ddl=spark_ddl(tuple(value.output for value in definition.values)),
    )


def _value(
    value: PlannedValue, node: Match, kept: Sequence[Field], context: LoweringContext
) -> MatchValue:
    call = None if value.call is None else aggregations([value.call], kept, context.bridge)[0]
    names = [variable.name for variable in node.pattern]
    return MatchValue(
        variable=-1 if value.variable is None else names.index(value.variable),
        column=_position(value.column, kept),
        first=value.first,
        offset=value.offset,
        aggregation=call,
    )


def _position(name: str | None, kept: Sequence[Field]) -> int:
    """Return the position of a column behind the row kind; -1 for none."""
    return -1 if name is None else [f.name for f in kept].index(name) + 1


def _output_ddl(node: Match) -> str:
    """Return the schema of the operator, with the time as a number at the end."""
    fields = [f for f in node.fields if f != node.rowtime]
    return changelog_ddl((*fields, _MOMENT))


def _output(node: Match, field: Field) -> str:
    if field != node.rowtime:
        return quote(field.name)
    instant = field.type.root is Root.TIMESTAMP_LTZ
    moment = f"timestamp_micros({_MICROS})"
    if not instant:
        moment = f"timestampadd(MICROSECOND, {_MICROS}, {EPOCH})"
    return f"{moment} AS {quote(field.name)}"
