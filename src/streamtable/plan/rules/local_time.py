"""Whether the rows of a plan depend on the session's time zone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import is_dataclass

from streamtable.core.identity import hashed_fields
from streamtable.core.table import Table
from streamtable.core.types import Root, quote
from streamtable.plan.node import Node
from streamtable.plan.rules.shape import stable_sql
from streamtable.plan.rules.tree import every
from streamtable.plan.window.window import Window

#: Spark SQL that makes an instant of a local time, or asks for the zone. An instant that is made
#: of a number depends on the zone only where another expression uses it.
_ZONED = re.compile(
    r"AS TIMESTAMP_LTZ|current_timezone\(\)|CAST\(flink_now\(\) AS"
    r"|(?<!^)(?<!unix_micros\()\btimestamp_(?:seconds|millis|micros)\("
)


def uses_zone(top: Node) -> bool:
    """Return whether the rows depend on the session's time zone.

    An expression over an instant counts, even a comparison. An instant that passes through does
    not, and neither does its number of microseconds.
    """
    return any(_uses_zone(node) for node in every(top))


def _uses_zone(node: Node) -> bool:
    below = (field for child in node.inputs for field in child.fields)
    instants = [quote(f.name) for f in below if Root.TIMESTAMP_LTZ.value in str(f.type)]
    own = (value for value in hashed_fields(node).values() if not isinstance(value, Node))
    for part in _parts(tuple(own)):
        if isinstance(part, Window):
            if part.local:
                return True
        elif part not in instants:
            rest = _without_epochs(stable_sql(part), instants)
            if _ZONED.search(rest) or any(name in rest for name in instants):
                return True
    return False


def _without_epochs(sql: str, instants: list[str]) -> str:
    for name in instants:
        sql = sql.replace(f"unix_micros({name})", "")
    return sql


def _parts(value: object) -> Iterator[str | Window]:
    """Yield the texts and windows in a field of an operator."""
    match value:
        case str() | Window():
            yield value
        case Node() | Table():
            return
        case tuple() | list() | frozenset():
            for part in value:
                yield from _parts(part)
        case _ if is_dataclass(value):
            for part in vars(value).values():
                yield from _parts(part)
