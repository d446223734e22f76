"""`GROUP BY TUMBLE(time, ...)` and its `TUMBLE_START(time, ...)` -> windows as a table gives them.

Flink's older way to write windows: TUMBLE, HOP and SESSION in GROUP BY, and in SELECT and HAVING
`..._START`, `..._END`, `..._ROWTIME` and `..._PROCTIME` of the same arguments.
Source of the rules: Flink's *Group Window Aggregation* page.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.aggregate import canonical
from streamtable.plan.expressions import Binder, Input, InputField
from streamtable.plan.relation import Relation
from streamtable.plan.window import assigned
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of

#: Parameters of each window, behind the time column.
_LENGTHS: Mapping[str, tuple[str, ...]] = {
    "TUMBLE": ("SIZE",),
    "HOP": ("SLIDE", "SIZE"),
    "SESSION": ("GAP",),
}
#: What SELECT asks of a window, by the position of the column that tells it.
_ASKED = {"START": 0, "END": 1, "ROWTIME": 2}


def with_group_window(
    grouping: list[exp.Expr], wanted: list[exp.Expr], source: Relation
) -> tuple[list[exp.Expr], list[exp.Expr], Relation]:
    """GROUP BY, what is asked of the groups, and the input, with the window's bounds as columns.

    Raises:
        StreamtableError: INVALID_WINDOW where a call does not fit; NOT_YET for sessions of computed
            values.
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
    table = assigned(call, source, time, dict(zip(parameters, lengths, strict=True)), partition)
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
