"""Plan group windows: `GROUP BY TUMBLE(time, ...)` with `TUMBLE_START(time, ...)`.

Group windows are Flink's older syntax: TUMBLE, HOP and SESSION in GROUP BY, and `..._START`,
`..._END`, `..._ROWTIME` and `..._PROCTIME` with the same arguments in SELECT and HAVING. They are
planned as windowing table functions.

Source of the rules: Flink's *Group Window Aggregation* page.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate.plan_aggregate import canonical
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.plan.query.relation import Relation
from streamtable.plan.window.plan_window import assigned
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

#: Parameters of each window, after the time column.
_LENGTHS: Mapping[str, tuple[str, ...]] = {
    "TUMBLE": ("SIZE",),
    "HOP": ("SLIDE", "SIZE"),
    "SESSION": ("GAP",),
}
#: Auxiliary function -> position of the column with its value.
_ASKED = {"START": 0, "END": 1, "ROWTIME": 2}


def with_group_window(
    grouping: list[exp.Expr], wanted: list[exp.Expr], source: Relation
) -> tuple[list[exp.Expr], list[exp.Expr], Relation]:
    """Replace group windows; return the new GROUP BY, wanted expressions and input.

    The bounds of the window become columns of the input.

    Raises:
        StreamtableError: INVALID_WINDOW for invalid calls; NOT_YET for sessions of computed values.
    """
    found = [node for node in grouping if isinstance(node, FlinkCall) and node.name in _LENGTHS]
    if not found:
        return grouping, wanted, source
    call, *others = found
    if others:
        raise _invalid(others[0], "GROUP BY takes one window")
    parameters = _LENGTHS[call.name]
    if len(call.expressions) != 1 + len(parameters):
        expected = ", ".join(("time", *parameters))
        raise _invalid(call, f"in GROUP BY it takes ({expected})")
    time, *lengths = call.expressions
    rest = [node for node in grouping if node is not call]
    partition = _partition(rest, source) if call.name == "SESSION" else ()
    given = dict(zip(parameters, lengths, strict=True))
    # Unlike the table function HOP, Flink's SlidingWindowAssigner accepts any size and slide.
    table = assigned(call, source, time, given, partition, any_size=True)
    bounds = table.fields[-3:]
    columns = tuple(InputField(None, f.name, f) for f in bounds)
    names = [exp.column(f.name, quoted=True) for f in bounds]
    meant = [canonical(argument, source) for argument in call.expressions]
    used = {0, 1}

    def replaced(node: exp.Expr) -> exp.Expr:
        kind, _, asked = node.name.partition("_") if isinstance(node, FlinkCall) else ("", "", "")
        if kind not in _LENGTHS or asked not in (*_ASKED, "PROCTIME"):
            return node
        given = [canonical(argument, source) for argument in node.expressions]
        if kind != call.name or given != meant:
            raise _invalid(node, f"no {kind} of the same arguments is in GROUP BY")
        if (asked == "PROCTIME") != table.window.processing and asked not in ("START", "END"):
            raise _invalid(node, f"its window is of {_kind(processing=table.window.processing)}")
        if asked == "PROCTIME":
            return FlinkCall(this="PROCTIME", expressions=[])
        position = _ASKED[asked]
        used.add(position)
        column = names[position].copy()
        column.meta.update(node.meta)
        return column

    rewritten = [node.copy().transform(replaced) for node in wanted]
    grouped = [*rest, *(names[i] for i in sorted(used))]
    return grouped, rewritten, Relation(table, (*source.columns, *columns))


def _partition(nodes: list[exp.Expr], source: Relation) -> tuple[str, ...]:
    binder = Binder(Input(source.columns))
    names: list[str] = []
    for node in nodes:
        bound = binder.bind(node)
        if not isinstance(node, exp.Column) or len(bound.fields) != 1:
            raise StreamtableError(
                Condition.NOT_YET,
                at=place_of(node),
                what="SESSION in GROUP BY beside an expression",
                hint="compute it in a subquery, and group by its column",
            )
        names.extend(bound.fields)
    return tuple(names)


def _kind(*, processing: bool) -> str:
    return "processing time" if processing else "event time"


def _invalid(call: exp.Expr, reason: str) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_WINDOW, at=place_of(call), function=call.name, reason=reason
    )
