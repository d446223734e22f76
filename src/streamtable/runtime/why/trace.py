"""Follow the columns of a key down a plan: conditions over the fields of each operator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from streamtable.core.types import quote
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.join.pairs import PairNode
from streamtable.plan.node import Node
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rank.limit import Limit
from streamtable.plan.rank.top_n import TopN
from streamtable.plan.rows.calc import Calc
from streamtable.plan.source.normalize import Normalize
from streamtable.plan.source.scan import Scan
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.plan.window.window_table import SessionTable
from streamtable.plan.window.window_top_n import WindowTopN
from streamtable.runtime.why.key import KeyColumn
from streamtable.runtime.why.sql_text import may_fail, plain, substituted, unwrapped

#: Maximum number of values that a message lists.
_LISTED = 3


@dataclass(frozen=True)
class Pin:
    """Values that columns of an operator have in the rows of the key.

    Attributes:
        names: the columns in the operator above, for messages.
        columns: Spark SQL over the fields of the operator.
        fields: the fields that the columns read.
        values: the accepted values, each with one Spark literal per column.
        exact: whether the rows of the key depend on no other rows of the operator. A ranking, for
            example, compares the rows of the key with other rows.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    fields: frozenset[str]
    values: tuple[tuple[str, ...], ...]
    exact: bool = True

    @property
    def condition(self) -> str:
        """Spark SQL over the fields of the operator."""
        if len(self.columns) == 1:
            return f"({self.columns[0]}) IN ({', '.join(value for (value,) in self.values)})"
        pairs = (zip(self.columns, value, strict=True) for value in self.values)
        equal = (" AND ".join(f"({column}) = {v}" for column, v in pair) for pair in pairs)
        return " OR ".join(f"({condition})" for condition in equal)

    @property
    def text(self) -> str:
        """The columns and their values, for messages."""
        shown = [plain(column) for column in self.columns]
        rows = [
            ", ".join(f"{c} = {v}" for c, v in zip(shown, value, strict=True))
            for value in self.values[:_LISTED]
        ]
        more = len(self.values) - len(rows)
        return " or ".join([*rows, *([f"{more} other values"] if more else [])])


@dataclass(frozen=True)
class Below:
    """The pins of an input of an operator, and those of the operator that it computes itself."""

    pins: tuple[Pin, ...]
    lost: tuple[Pin, ...] = ()


def pins_of(key: Sequence[KeyColumn]) -> tuple[Pin, ...]:
    """Return the pins of the columns of a key, at the top of the plan."""
    return tuple(
        Pin(
            (column.field.name,),
            (quote(column.field.name),),
            frozenset({column.field.name}),
            ((column.literal,),),
        )
        for column in key
    )


def condition_of(pins: Sequence[Pin]) -> str | None:
    """Return Spark SQL of the rows with the values of all pins; None without pins."""
    return " AND ".join(f"({pin.condition})" for pin in pins) or None


def below(node: Node, pins: Sequence[Pin]) -> tuple[Below, ...]:
    """Return the pins of each input of an operator.

    A field keeps its value and its name from an input to the output, except in projections, and
    for those that the operator computes.
    """
    match node:
        case Calc():
            return (_projected(node, pins),)
        case PairNode():
            return _sides(node, pins)
        case GroupAggregate() | WindowAggregate():
            windows = {f for f in node.keys if node.input.window_field(f) is not None}
            merged = isinstance(node, WindowAggregate) and node.session is not None
            return (_kept(pins, frozenset(node.keys) - (windows if merged else set())),)
        case TopN() | WindowTopN() | Deduplicate():
            own = {node.rank.name} if not isinstance(node, Deduplicate) and node.rank else set()
            passed = frozenset(f.name for f in node.input.fields) - own
            return (_kept(pins, passed, frozenset(node.partition)),)
        case Limit():
            passed = frozenset(f.name for f in node.input.fields)
            return (_kept(pins, passed, frozenset()),)
        case SessionTable():
            passed = frozenset(f.name for f in node.input.fields)
            return (_kept(pins, passed, frozenset(node.window.partition)),)
        case _:
            return tuple(_kept(pins, frozenset(f.name for f in i.fields)) for i in node.inputs)


def pinned_scans(node: Node, pins: Sequence[Pin]) -> Iterator[tuple[Scan, tuple[Pin, ...]]]:
    """Yield each scan of a tree with the pins that reach it."""
    if isinstance(node, Scan):
        yield node, tuple(pins)
    for child, found in zip(node.inputs, below(node, pins), strict=True):
        yield from pinned_scans(child, found.pins)


def deciding(scan: Scan, pins: Sequence[Pin]) -> tuple[Pin, ...]:
    """Return the pins by which the changes of a scan may be filtered before anything else.

    They depend on no other rows. Of a table with updates, they read only the primary key: another
    version of a row may have other values.
    """
    key = frozenset(scan.table.schema.primary_key)
    append = scan.mode.is_append
    return tuple(p for p in pins if p.exact and (append or (key and p.fields <= key)))


def gives_join_keys(node: PairNode, pins: Sequence[Pin], side: int) -> bool:
    """Return whether the pins of one input already give all join keys of that input."""
    keys = (node.left_keys, node.right_keys)[side]
    single = {pin.columns[0] for pin in pins if len(pin.columns) == 1}
    return all(quote(key) in single for key in keys)


def of_values(node: PairNode, side: int, values: Sequence[tuple[str, ...]], *, exact: bool) -> Pin:
    """Return the pin of one input of a join for the join keys of the rows of the other input."""
    keys = (node.left_keys, node.right_keys)[side]
    columns = tuple(map(quote, keys))
    return Pin(keys, columns, frozenset(keys), tuple(values), exact)


def _kept(
    pins: Sequence[Pin], fields: frozenset[str], alone: frozenset[str] | None = None
) -> Below:
    """Keep the pins of fields that an input has; those outside of `alone` are not exact."""
    kept = [pin for pin in pins if pin.fields <= fields]
    lost = tuple(pin for pin in pins if not pin.fields <= fields)
    if alone is not None:
        kept = [replace(pin, exact=pin.exact and pin.fields <= alone) for pin in kept]
    return Below(tuple(kept), lost)


def _projected(node: Calc, pins: Sequence[Pin]) -> Below:
    texts = {p.field.name: quote(p.source) if p.source else p.sql for p in node.projections}
    reads = {p.field.name: p.reads for p in node.projections}
    kept, lost = [], []
    for pin in pins:
        fields = frozenset(name for field in pin.fields for name in reads[field])
        columns = tuple(unwrapped(substituted(c, texts)) for c in pin.columns)
        # Rows that a filter drops must not fail in an expression that the query does not reach.
        if fields and not any(map(may_fail, columns)):
            kept.append(replace(pin, columns=columns, fields=fields))
        else:
            lost.append(pin)
    return Below(tuple(kept), tuple(lost))


def _sides(node: PairNode, pins: Sequence[Pin]) -> tuple[Below, ...]:
    """Give each input the pins of its fields; a join key has one value in both inputs."""
    found = []
    equal = ({right: left for left, right in node.keys}, dict(node.keys))
    for side, other in zip(node.inputs, equal, strict=True):
        names = frozenset(f.name for f in side.fields)
        kept = []
        for pin in pins:
            if pin.fields <= names:
                kept.append(pin)
            elif pin.fields <= frozenset(other):
                texts = {name: quote(other[name]) for name in pin.fields}
                columns = tuple(unwrapped(substituted(c, texts)) for c in pin.columns)
                fields = frozenset(other[name] for name in pin.fields)
                kept.append(replace(pin, columns=columns, fields=fields))
        found.append(tuple(kept))
    both = {name for pins_of_side in found for pin in pins_of_side for name in pin.names}
    lost = tuple(pin for pin in pins if not set(pin.names) <= both)
    return tuple(Below(kept, lost) for kept in found)


def table_of(node: Node) -> Scan | None:
    """Return the scan of an operator that gives the current rows of a table."""
    if isinstance(node, Normalize) and isinstance(node.input, Scan):
        return node.input
    return node if isinstance(node, Scan) else None
