"""Whether a query can continue with the state of a group aggregation that has other aggregates.

Both queries must aggregate the same rows by the same columns. No other operator may have state,
except a normalizer of upserts. Fields have other names if an aggregate is added before them: an
argument that is an expression is named by its position. Fields are therefore compared by how they
are computed from the table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.identity import identity
from streamtable.core.types import Field, quote
from streamtable.jvm.specs.restored import EMPTY, ROWS, StoredCall
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.functions import AGGREGATES
from streamtable.plan.position import POSITION_NAMES
from streamtable.plan.rows.calc import Calc
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan
from streamtable.runtime.checkpoint.assignment import Assignment
from streamtable.runtime.checkpoint.manifest.from_now import Lacks
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.checkpoint.manifest.shapes import Operator, operator

_CALC, _SCAN, _GROUPS, _NORMALIZE = (
    identity(node).id for node in (Calc, Scan, GroupAggregate, Normalize)
)
_REFERENCE = re.compile(r"`((?:[^`]|``)+)`")
#: Functions whose state is that of another function of the same argument.
_SAME_STATE = {"AVG": "SUM"} | dict.fromkeys(
    ("VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV"), "VAR_POP"
)


@dataclass(frozen=True)
class Extension:
    """How the state of a group aggregation becomes that of another one.

    Attributes:
        calls: the calls of the old query.
        sources: for each call of the new query the position of an old call with the same state, or
            `ROWS`, or `EMPTY`.
        added: the new calls that start empty, as in EXPLAIN.
        upserts: for each column that the normalizer of the source keeps, its position in the old
            one; None without a normalizer.
        retracting: whether the input may retract rows.
        number: number of the old query in its state, if it shares the state with others; else None.
        keys: the grouping fields.
        upsert_keys: the key of the normalizer; empty without one.
    """

    calls: Sequence[StoredCall]
    sources: Sequence[int]
    added: Sequence[str]
    upserts: Sequence[int] | None
    retracting: bool
    number: int | None
    keys: tuple[Field, ...]
    upsert_keys: tuple[Field, ...]

    @property
    def is_complete(self) -> bool:
        """Whether the state has all that the new calls need."""
        return not self.added


def extension(old: RecordedQuery, now: RecordedQuery, plan: Sink) -> Extension | None:
    """Return how a query continues with the state of an old one; None if it cannot.

    Args:
        old: the query in the checkpoint.
        now: the new query.
        plan: its plan.
    """
    if old.shape is None or old.state != now.state:
        return None
    if not old.reads_alike(now):
        return None
    before, after = (_groups(operator(shape)) for shape in (old.shape, now.shape))
    if before is None or after is None:
        return None
    if any("ttl" in part.own for part in (*before.all(), *after.all())):
        return None
    (old_rows,), (rows,) = before.inputs, after.inputs
    kept, upserts = _upserts(old_rows), _upserts(rows)
    if len(now.state) != (2 if upserts else 1):
        return None
    if _rows(old_rows) != _rows(rows) or _keys(before) != _keys(after) or set(upserts) - set(kept):
        return None
    stored = [_state(call, old_rows) for call in _calls(before)]
    sources = [_source(_state(call, rows), stored) for call in _calls(after)]
    (node,) = (part for part in every(plan.input) if isinstance(part, GroupAggregate))
    normalizers = (part for part in every(plan.input) if isinstance(part, Normalize))
    return Extension(
        [_stored(call) for call in _calls(before)],
        sources,
        [c.described for c, source in zip(node.calls, sources, strict=True) if source == EMPTY],
        [kept.index(column) for column in upserts] if upserts else None,
        retracting=not node.input.mode.is_append,
        number=old.number,
        keys=_of_names(node.keys, node.input.fields),
        upsert_keys=tuple(f for part in normalizers for f in _of_names(part.key, part.fields)),
    )


def extension_of(queries: Assignment, name: str, folder: CheckpointPath) -> Extension | None:
    """Return how a query continues with the state in its directory; None if it cannot.

    A state that began empty with `--from-now` lacks groups whose rows the sink has kept.
    """
    old = old_record(queries, name)
    began_empty = old.from_now is not None and old.from_now.lacks is Lacks.ROWS
    if began_empty or newest_batch(folder / "commits") < 0:
        return None
    return extension(old, queries.records[name], queries.plans[name])


def old_record(queries: Assignment, name: str) -> RecordedQuery:
    """Return the record of a query in the checkpoint; an unchanged query has the same as now."""
    return queries.changed.get(name, queries.records[name])


def _of_names(names: Sequence[str], fields: Sequence[Field]) -> tuple[Field, ...]:
    by_name = {field.name: field for field in fields}
    return tuple(by_name[name] for name in names)


def _groups(top: Operator) -> Operator | None:
    """Return the group aggregation below projections and filters; None if there is none."""
    (below,) = top.inputs
    while below.id == _CALC:
        (below,) = below.inputs
    return below if below.id == _GROUPS else None


def _keys(groups: Operator) -> list[Any]:
    (rows,) = groups.inputs
    return [_meaning(key, rows) for key in groups.own["keys"]]


def _calls(groups: Operator) -> list[Mapping[str, Any]]:
    return [data for call in groups.own["calls"] for data in call.values()]


def _rows(top: Operator) -> Any:
    """Return what decides which rows an operator has, apart from their columns."""
    if top.id == _SCAN:
        *table, connector = top.own["table"]
        own = {part: value for part, value in top.own.items() if part not in ("table", "fields")}
        return [table, {part: _without_columns(side) for part, side in connector.items()}, own]
    if top.id == _NORMALIZE:
        (below,) = top.inputs
        return [top.id, top.own, _rows(below)]
    if top.id != _CALC:
        return top
    (below,) = top.inputs
    condition = top.own.get("condition")
    return _rows(below) if condition is None else [_computed(condition, below), _rows(below)]


def _without_columns(side: Any) -> Any:
    """Return the key or the value of a table without its columns: a scan reads some of them."""
    if not isinstance(side, dict):
        return side
    return {name: value for name, value in side.items() if name != "columns"}


def _upserts(rows: Operator) -> list[tuple[str, str]]:
    """Return the columns that the normalizer of the source keeps; none without a normalizer."""
    for part in rows.all():
        if part.id == _NORMALIZE:
            found = _fields(part.inputs[0])
            return [(name, type_) for name, type_ in found.items() if name not in POSITION_NAMES]
    return []


def _fields(scan: Operator) -> dict[str, str]:
    """Return the fields of a scan: name -> type."""
    fields = (data for field in scan.own["fields"] for data in field.values())
    return {data["name"]: data["type"] for data in fields}


def _meaning(name: str, rows: Operator) -> Any:
    """Return how a field of an operator is computed from fields of the table, and their types."""
    if rows.id == _NORMALIZE:
        return _meaning(name, rows.inputs[0])
    if rows.id == _SCAN:
        return [name, _fields(rows).get(name)]
    if rows.id != _CALC:
        return name
    projections = (part for each in rows.own["projections"] for part in each.values())
    sql = next((p["sql"] for p in projections if p["field"]["Field"]["name"] == name), None)
    return name if sql is None else _computed(sql, rows.inputs[0])


def _computed(sql: str, below: Operator) -> Any:
    """Return an expression over the fields of an operator, with the meaning of each field."""
    names = {name.replace("``", "`") for name in _REFERENCE.findall(sql)}
    if len(names) == 1 and sql == quote(next(iter(names))):
        return _meaning(next(iter(names)), below)
    return [sql, {name: _meaning(name, below) for name in sorted(names)}]


def _state(call: Mapping[str, Any], rows: Operator) -> Any:
    """Return what the state of a call depends on."""
    function = call["function"]
    read = [call[part] and _meaning(call[part], rows) if part in call else None for part in _READ]
    parameters = call.get("parameters", [])
    return [_SAME_STATE.get(function, function), call.get("distinct", False), parameters, *read]


_READ = ("argument", "filter")


def _source(state: Any, stored: Sequence[Any]) -> int:
    if state in stored:
        return stored.index(state)
    return ROWS if state == ["COUNT", False, [], None, None] else EMPTY


def _stored(call: Mapping[str, Any]) -> StoredCall:
    function = call["function"]
    python = function not in AGGREGATES
    return StoredCall(function, call.get("distinct", False), call.get("parameters", []), python)
