"""Values of result rows: to JSON in Spark, from JSON in Python."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from streamtable.core.types import BYTES_ROOTS, DataType, Field, Root, quote
from streamtable.sqltest.values import Entries, entry_types, rounded

_OPTIONS = (
    "map('ignoreNullFields', 'false', 'timeZone', 'UTC',"
    " 'timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS',"
    " 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS')"
)


def json_sql(fields: Sequence[Field]) -> str:
    """Return Spark SQL of a row as a JSON object with the fields c0, c1, ..."""
    items = (f"{_sql(quote(f.name), f.type, 0)} AS c{i}" for i, f in enumerate(fields))
    return f"to_json(struct({', '.join(items)}), {_OPTIONS})"


def _sql(value: str, kind: DataType, depth: int) -> str:
    """Return a value in which each map is an array of entries, because JSON's keys are texts."""
    if not _has_map(kind):
        return f"CAST({value} AS STRING)" if kind.root is Root.TIME else value
    name = f"e{depth}"
    match kind.root:
        case Root.ARRAY:
            assert kind.element is not None  # noqa: S101 - an ARRAY has an element type
            return f"transform({value}, {name} -> {_sql(name, kind.element, depth + 1)})"
        case Root.MAP | Root.MULTISET:
            key, element = entry_types(kind)
            entry = (
                f"struct({_sql(f'{name}.key', key, depth + 1)} AS k,"
                f" {_sql(f'{name}.value', element, depth + 1)} AS v)"
            )
            return f"transform(map_entries({value}), {name} -> {entry})"
    fields = (
        f"{_sql(f'{value}.{quote(f.name)}', f.type, depth)} AS {quote(f.name)}" for f in kind.fields
    )
    return f"if({value} IS NULL, NULL, struct({', '.join(fields)}))"


def _has_map(kind: DataType) -> bool:
    """Return whether the value needs a conversion: it is or contains a map or a TIME."""
    parts = (kind.element, kind.key, *(f.type for f in kind.fields))
    return kind.root in (Root.MAP, Root.MULTISET) or any(
        part is not None and (_has_map(part) or part.root is Root.TIME) for part in parts
    )


def read_found(text: str, fields: Sequence[Field]) -> tuple[Any, ...]:
    """Return the values of a row in the form of `json_sql`."""
    row = json.loads(text, parse_float=Decimal)
    return tuple(_value(row[f"c{i}"], f.type) for i, f in enumerate(fields))


def _value(found: Any, kind: DataType) -> Any:
    if found is None:
        return None
    match kind.root:
        case Root.ARRAY:
            return tuple(_value(item, _given(kind.element)) for item in found)
        case Root.MAP | Root.MULTISET:
            key, element = entry_types(kind)
            return Entries((_value(e["k"], key), _value(e["v"], element)) for e in found)
        case Root.ROW:
            return tuple(_value(found[f.name], f.type) for f in kind.fields)
        case Root.DECIMAL:
            return Decimal(found)
        case Root.FLOAT | Root.DOUBLE:
            return rounded(float(found), kind)
        case Root.DATE:
            return date.fromisoformat(found)
        case Root.TIME:
            return time.fromisoformat(found)
        case Root.TIMESTAMP:
            return datetime.fromisoformat(found)
        case Root.TIMESTAMP_LTZ:
            return datetime.fromisoformat(found).replace(tzinfo=UTC)
        case root if root in BYTES_ROOTS:
            return base64.b64decode(found)
    return found


def _given(kind: DataType | None) -> DataType:
    assert kind is not None, "an ARRAY has an element type"  # noqa: S101
    return kind
