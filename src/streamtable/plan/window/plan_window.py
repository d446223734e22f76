"""Plan windowing table functions in FROM: TUMBLE, HOP, CUMULATE and SESSION -> `WindowTable`.

Source of the rules: Flink's *Windowing table-valued functions* page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import TIMESTAMPS, Root, quote
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.binding.named_arguments import described_column, named_arguments
from streamtable.plan.query.relation import Relation, unique_names
from streamtable.plan.window.refusals import refuse_lost_time
from streamtable.plan.window.watermark import is_instant
from streamtable.plan.window.window import Window, WindowKind
from streamtable.plan.window.window_table import WindowTable
from streamtable.sql.nodes import FlinkCall, IntervalLiteral, TableArgument, TableFunction
from streamtable.sql.place import place_of

#: Arguments of each function, in order; OFFSET and later arguments are optional.
_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
#: Columns that each function appends to those of its table.
_ADDED = ("window_start", "window_end", "window_time")
_MICROS_PER_MILLI = 1000
_TIME_HINT = (
    "declare WATERMARK FOR it in its table, or compute it by PROCTIME(), and pass it on unchanged"
)


def is_window_function(node: exp.Expr) -> bool:
    """Return whether an item of FROM is a windowing table function."""
    return isinstance(node, TableFunction) and node.this.name in _PARAMETERS


def plan_window_table(node: TableFunction, planned: Callable[[exp.Expr], Relation]) -> Relation:
    """Append `window_start`, `window_end` and `window_time` to the rows of a table.

    Args:
        node: the call.
        planned: plans a table or query from its tree.

    Raises:
        StreamtableError: INVALID_WINDOW for invalid arguments.
    """
    call = node.this
    given = _arguments(call)
    data = given["DATA"]
    if not isinstance(data, TableArgument | exp.Subquery):
        raise _invalid(call, data, "its first argument is a table, written TABLE t")
    relation = planned(data.this if isinstance(data, TableArgument) else data)
    for column in relation.columns:
        if column.name in _ADDED:
            raise _invalid(
                call,
                data,
                f"its table has a column '{column.name}' already",
                "give it another name",
            )
    lengths = {k: v for k, v in given.items() if k not in ("DATA", "TIMECOL")}
    partition = _partition(call, data, relation)
    table = assigned(call, relation, _described(call, given["TIMECOL"]), lengths, partition)
    bounds = zip(_ADDED, table.fields[-3:], strict=True)
    added = [InputField(None, name, field) for name, field in bounds]
    columns = tuple(replace(c, qualifier=None) for c in relation.columns)
    return Relation(table, (*columns, *added))


def assigned(
    call: FlinkCall,
    relation: Relation,
    time: exp.Expr,
    lengths: Mapping[str, exp.Expr],
    partition: tuple[str, ...],
    *,
    any_size: bool = False,
) -> WindowTable:
    """Assign the rows of a relation to windows.

    Args:
        call: the function's name, and the place of the call.
        relation: the rows.
        time: the time column.
        lengths: intervals by parameter name.
        partition: partition fields of the sessions.
        any_size: whether the size need not be a multiple of the step.

    Raises:
        StreamtableError: INVALID_WINDOW for invalid arguments.
    """
    column, processing = _time_field(call, time, relation)
    window = replace(
        _window(call, lengths, any_size=any_size),
        local=is_instant(column.field),
        partition=partition,
        processing=processing,
    )
    taken = [f.name for f in relation.node.fields]
    names = unique_names([*taken, *_ADDED])[len(taken) :]
    return WindowTable(relation.node, window, column.field.name, *names)


def _arguments(call: FlinkCall) -> dict[str, exp.Expr]:
    def invalid(at: exp.Expr, reason: str) -> StreamtableError:
        return _invalid(call, at, reason)

    return named_arguments(call, _PARAMETERS[call.name], ("OFFSET",), invalid)


def _described(call: FlinkCall, node: exp.Expr) -> exp.Expr:
    column = described_column(node)
    if column is None:
        raise _invalid(call, node, "the time column is written DESCRIPTOR(column)")
    return column


def _time_field(call: FlinkCall, node: exp.Expr, relation: Relation) -> tuple[InputField, bool]:
    """Return the time column, and whether it is the processing time."""
    bound = Binder(Input(relation.columns)).bind(node)
    found = next((c for c in relation.columns if bound.sql == quote(c.field.name)), None)
    if found is None:
        raise _invalid(call, node, "its time is an expression, not a time attribute", _TIME_HINT)
    if bound.time_attribute == "proc":
        return found, True
    if bound.type.root not in TIMESTAMPS or not relation.node.is_event_time(found.field.name):
        refuse_lost_time(relation.node, found.field.name, place_of(node))
        raise _invalid(call, node, f"column '{found.name}' is not a time attribute", _TIME_HINT)
    # The last millisecond of a window is a time attribute of the window's kind.
    below = relation.node.window_field(found.field.name)
    return found, below is not None and below.window.processing


def _partition(call: FlinkCall, data: exp.Expr, relation: Relation) -> tuple[str, ...]:
    given = data.args.get("partition_by") or []
    if given and call.name != "SESSION":
        raise _invalid(call, given[0], "only SESSION takes PARTITION BY")
    binder = Binder(Input(relation.columns))
    names: list[str] = []
    for node in given:
        bound = binder.bind(node)
        if not isinstance(node, exp.Column) or len(bound.fields) != 1:
            raise _invalid(call, node, "PARTITION BY takes columns")
        names.extend(bound.fields)
    return tuple(names)


def _window(call: FlinkCall, given: Mapping[str, exp.Expr], *, any_size: bool) -> Window:
    lengths = {name: _millis(call, name, node) for name, node in given.items()}
    for name, length in lengths.items():
        if length <= 0 and name != "OFFSET":
            raise _invalid(call, given[name], f"{name} must be above zero")
    size = lengths.get("SIZE", lengths.get("GAP", 0))
    step = lengths.get("SLIDE", lengths.get("STEP", size))
    stepped = "SLIDE" if "SLIDE" in lengths else "STEP"
    if size % step and not any_size:
        raise _invalid(call, given["SIZE"], f"SIZE must be a multiple of {stepped}")
    return Window(WindowKind[call.name], size, step, lengths.get("OFFSET", 0))


def _millis(call: FlinkCall, name: str, node: exp.Expr) -> int:
    kind = node.args["to"].data_type if isinstance(node, IntervalLiteral) else None
    if kind is None or kind.root is not Root.INTERVAL_DAY_TIME:
        raise _invalid(call, node, f"{name} is an interval such as INTERVAL '10' MINUTE")
    return int(node.args["value"]) // _MICROS_PER_MILLI


def _invalid(
    call: FlinkCall, at: exp.Expr, reason: str, hint: str | None = None
) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_WINDOW,
        at=place_of(at) or place_of(call),
        hint=hint,
        function=call.name,
        reason=reason,
    )
