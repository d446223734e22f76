"""Plan `JOIN t FOR SYSTEM_TIME AS OF`: a temporal join, or a lookup by processing time.

Source of the rules: Flink's *Joins in Continuous Queries* page, *Temporal Joins*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.expressions import Binder, Input
from streamtable.plan.join.kind import JoinKind
from streamtable.plan.join.lookup_join import LookupJoin
from streamtable.plan.join.plan_connector_lookup import connector_lookup, lookup_table
from streamtable.plan.join.plan_lookup_join import lookup_join
from streamtable.plan.join.temporal_join import TemporalJoin
from streamtable.plan.node import Node
from streamtable.plan.query.conditions import Part, all_of
from streamtable.plan.query.lookup_hints import LookupHints
from streamtable.plan.query.relation import Relation, with_values
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.refusals import refuse_lost_time
from streamtable.plan.window.watermark import WatermarkAssigner
from streamtable.sql.place import place_of

_NAME = "FOR SYSTEM_TIME AS OF"


def temporal_join(
    left: Relation,
    right: Relation,
    kind: JoinKind,
    parts: Sequence[Part],
    version: exp.Version,
    hints: LookupHints,
) -> Relation:
    """Join each left row with the version of the right table at the row's event time.

    Args:
        left: rows with an event time; for a lookup join, any rows.
        right: a table with a primary key and a watermark, a static table, or a table whose
            connector has lookups.
        kind: inner or left.
        parts: the condition of ON, over the fields of both.
        version: the FOR SYSTEM_TIME clause.
        hints: the LOOKUP hints of the query.

    Raises:
        StreamtableError: INVALID_WINDOW if the clause does not fit the tables; NOT_YET for other
            joins and inputs.
    """
    if kind not in (JoinKind.INNER, JoinKind.LEFT):
        raise _not_yet(version, f"{_NAME} in a {kind.name.lower()} join")
    moment = _moment(left, right, version)
    if moment is None:
        if not all(part.bound.deterministic for part in parts):
            raise _not_yet(version, f"{_NAME} with a non-deterministic condition")
        if right.node.is_static:
            return _over(lookup_join(left, right, kind, parts), left, right)
        return _over(connector_lookup(left, right, kind, parts, version, hints), left, right)
    key, time = _versioned(right.node, version)
    names = ({f.name for f in left.node.fields}, {f.name for f in right.node.fields})
    values: list[Bound] = []
    keys: list[str] = []
    residual: list[Part] = []
    for part in parts:
        found = part.across(frozenset(names[0]), frozenset(names[1]))
        plain = found and _plain(found[1].sql, right.node)
        if found and plain and plain in key and found[0].deterministic:
            values.append(found[0])
            keys.append(plain)
        else:
            residual.append(part)
    if set(keys) != set(key) or len(keys) != len(key):
        raise _invalid(version, f"ON must hold an equality for each key column ({', '.join(key)})")
    condition = all_of(residual)
    one, left_keys = with_values(left, values, "join_key", frozenset(names[1]))
    node = TemporalJoin(
        one.node,
        right.node,
        kind,
        tuple(zip(left_keys, keys, strict=True)),
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
    """Return the event time of the version; None for a lookup."""
    bound = Binder(Input(left.columns)).bind(version.expression)
    is_lookup = right.node.is_static or lookup_table(right.node) is not None
    if bound.time_attribute == "proc" and is_lookup:
        return None
    if bound.time_attribute == "proc":
        # Flink: "Processing-time temporal join is not supported yet" except for lookup tables.
        raise _invalid(
            version,
            "in processing time it requires a static table or a connector with lookups; Flink also"
            " refuses other tables, because rows would not wait until the table is read",
            "join as of an event time, or use a view of VALUES or of a DataFrame",
        )
    name = _plain(bound.sql, left.node)
    if name is None or not _is_left_time(name, left.node):
        refuse_lost_time(left.node, name or "", place_of(version))
        raise _invalid(version, "it requires an event-time column of the left input", _times(left))
    return name


def _times(left: Relation) -> str:
    """Name the event times of the left input that a temporal join can use, for messages."""
    found = [
        f"{column.qualifier}.{column.name}" if column.qualifier else column.name
        for column in left.columns
        if _is_left_time(column.field.name, left.node)
    ]
    if found:
        return f"write {' or '.join(found)}"
    return "declare a WATERMARK for a column of the left table"


def _is_left_time(name: str, node: Node) -> bool:
    """Return whether a field is an event time, possibly from the left side of a temporal join.

    Rows leave a temporal join when the watermark has passed them. The next temporal join emits them
    in the same batch, with the versions at their time. An operator that drops late rows could not
    recognize the rows that were late before the join.
    """
    while isinstance(node, Calc):
        source = next((p.source for p in node.projections if p.field.name == name), None)
        if source is None:
            return False
        node, name = node.input, source
    if isinstance(node, LookupJoin):
        return _is_left_time(name, node.input)
    if isinstance(node, TemporalJoin):
        return _is_left_time(name, node.left)
    return node.is_event_time(name)


def _versioned(node: Node, version: exp.Version) -> tuple[tuple[str, ...], str]:
    """Return the primary key and the event time of a table, as field names of the node."""
    calcs = []
    below = node
    while isinstance(below, Calc):
        calcs.append(below)
        below = below.input
    if not isinstance(below, WatermarkAssigner) or any(c.condition for c in calcs):
        raise _invalid(version, "it requires a table, not a view, with a WATERMARK")
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
    """Return the field that an expression refers to; None for any other expression."""
    return next((f.name for f in node.fields if sql == f"`{f.name}`"), None)


def _invalid(version: exp.Version, reason: str, hint: str | None = None) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_WINDOW, at=place_of(version), hint=hint, function=_NAME, reason=reason
    )


def _not_yet(version: exp.Version, what: str, hint: str | None = None) -> StreamtableError:
    return StreamtableError(Condition.NOT_YET, at=place_of(version), what=what, hint=hint)
