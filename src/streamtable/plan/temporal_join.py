"""`JOIN t FOR SYSTEM_TIME AS OF l.rowtime` -> `TemporalJoin`, or a lookup as of a processing time.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Temporal Joins*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.conditions import Part, all_of
from streamtable.plan.expressions import Binder, Input
from streamtable.plan.lookup_join import is_static, lookup_join
from streamtable.plan.nodes import Calc, Node
from streamtable.plan.relation import Relation
from streamtable.plan.source_nodes import Scan
from streamtable.plan.stateful_nodes import JoinKind
from streamtable.plan.time_attributes import is_event_time
from streamtable.plan.time_joins import TemporalJoin
from streamtable.plan.time_nodes import WatermarkAssigner
from streamtable.sql.place import place_of

_NAME = "FOR SYSTEM_TIME AS OF"


def temporal_join(
    left: Relation, right: Relation, kind: JoinKind, parts: Sequence[Part], version: exp.Version
) -> Relation:
    """The left rows, each with the version of the right table at its event time.

    Args:
        left: rows that are only added, with an event time; for a lookup any rows.
        right: a table with a primary key and a watermark, or one that does not change.
        kind: inner or left.
        parts: the condition of ON, over the fields of both.
        version: the clause.

    Raises:
        StreamtableError: INVALID_WINDOW where the clause does not fit its tables; NOT_YET for
            other joins and inputs.
    """
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise _not_yet(version, f"{_NAME} in a {kind.name.lower()} join")
    moment = _moment(left, right, version)
    if moment is None:
        if not all(part.bound.deterministic for part in parts):
            raise _not_yet(version, f"{_NAME} with a condition that may change its answer")
        return _over(lookup_join(left, right, kind, parts), left, right)
    if not left.node.mode.is_append:
        raise _not_yet(version, f"{_NAME} of an event time for rows that may be taken back")
    key, time = _versioned(right.node, version)
    names = ({f.name for f in left.node.fields}, {f.name for f in right.node.fields})
    pairs: list[tuple[str, str]] = []
    residual: list[Part] = []
    for part in parts:
        found = part.across(frozenset(names[0]), frozenset(names[1]))
        plain = (
            found and _plain(found[0].sql, left.node),
            found and _plain(found[1].sql, right.node),
        )
        if plain[0] and plain[1] and plain[1] in key:
            pairs.append((plain[0], plain[1]))
        else:
            residual.append(part)
    if {name for _, name in pairs} != set(key) or len(pairs) != len(key):
        raise _invalid(version, f"ON must hold an equality for each key column ({', '.join(key)})")
    condition = all_of(residual)
    node = TemporalJoin(
        left.node,
        right.node,
        kind,
        tuple(pairs),
        condition.sql if condition else None,
        condition.fields if condition else frozenset(),
        moment,
        time,
    )
    return _over(node, left, right)


def _over(node: Node, left: Relation, right: Relation) -> Relation:
    by_name = {f.name: f for f in node.fields}
    columns = (*left.columns, *right.columns)
    return Relation(node, tuple(replace(c, field=by_name[c.field.name]) for c in columns))


def _moment(left: Relation, right: Relation, version: exp.Version) -> str | None:
    """The event time as of which a version is taken; None for now, of what does not change."""
    bound = Binder(Input(left.columns)).bind(version.expression)
    if bound.time_attribute == "proc" and is_static(right.node):
        return None
    if bound.time_attribute == "proc":
        # Flink: "Processing-time temporal join is not supported yet" for all but lookup tables.
        raise _invalid(
            version,
            "as of a processing time it takes a table that does not change; Flink refuses others as"
            " well, because rows would not wait for the table to be read",
            "join as of an event time, or look up in a view of VALUES or of a DataFrame",
        )
    name = _plain(bound.sql, left.node)
    if name is None or not is_event_time(left.node, name):
        raise _invalid(version, "it takes an event time of the left input, such as l.rowtime")
    return name


def _versioned(node: Node, version: exp.Version) -> tuple[tuple[str, ...], str]:
    """The primary key and the event time of a table, by the names of the node's fields."""
    calcs = []
    below = node
    while isinstance(below, Calc):
        calcs.append(below)
        below = below.input
    if not isinstance(below, WatermarkAssigner) or any(c.condition for c in calcs):
        raise _invalid(version, "it takes a table with a WATERMARK, and no view of it")
    scan: Node = below
    while not isinstance(scan, Scan):
        (scan,) = scan.inputs
    key = scan.table.schema.primary_key
    if not key:
        raise _invalid(version, f"table {scan.table.name} has no PRIMARY KEY")
    found: dict[str, str] = {}
    for field in node.fields:
        name: str | None = field.name
        for calc in calcs:
            name = next((p.source for p in calc.projections if p.field.name == name), None)
        if name is not None:
            found.setdefault(name, field.name)
    return tuple(found[name] for name in key), found[below.column]


def _plain(sql: str, node: Node) -> str | None:
    """The field that an expression is; None for any other."""
    return next((f.name for f in node.fields if sql == f"`{f.name}`"), None)


def _invalid(version: exp.Version, reason: str, hint: str | None = None) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_WINDOW, at=place_of(version), hint=hint, function=_NAME, reason=reason
    )


def _not_yet(version: exp.Version, what: str, hint: str | None = None) -> StreamtableError:
    return StreamtableError(Condition.NOT_YET, at=place_of(version), what=what, hint=hint)
