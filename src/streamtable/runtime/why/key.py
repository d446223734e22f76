"""The key of a row: JSON of the command line, checked against the key columns of the table."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import APPROXIMATE, CHARACTER, INTEGERS, DataType, Field, Root
from streamtable.plan.binding.bound import text_literal
from streamtable.plan.sink.sink import Sink

OPTION = "--key"

_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_TIMES: Mapping[Root, Callable[[str], object]] = {
    Root.DATE: date.fromisoformat,
    Root.TIME: time.fromisoformat,
    Root.TIMESTAMP: datetime.fromisoformat,
    Root.TIMESTAMP_LTZ: datetime.fromisoformat,
}
_EXAMPLES = {
    Root.DATE: "'2026-01-31'",
    Root.TIME: "'12:00:00'",
    Root.TIMESTAMP: "'2026-01-31 12:00:00'",
    Root.TIMESTAMP_LTZ: "'2026-01-31 12:00:00Z'",
}
_ZONE = re.compile(r"(Z|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True)
class KeyColumn:
    """A column of the key and its value as Spark SQL."""

    field: Field
    literal: str

    @property
    def text(self) -> str:
        """The column and its value, for messages."""
        return f"{self.field.name} = {self.literal}"


def parse_key(text: str, sink: Sink) -> tuple[KeyColumn, ...]:
    """Parse the key of a row of a sink.

    Args:
        text: a JSON object with one value per key column.
        sink: the INSERT; its table has a primary key.

    Raises:
        StreamtableError: PRIMARY_KEY_REQUIRED; INVALID_OPTION for a text that is not such an
            object; UNSUPPORTED_TYPE for a key column whose values cannot be given as JSON.
    """
    name = sink.table.name
    if not sink.key:
        raise StreamtableError(
            Condition.PRIMARY_KEY_REQUIRED,
            at=sink.table.at,
            table=name,
            owner="'streamtable why', which finds a row by its key,",
            hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
        )
    columns = ", ".join(sink.key)
    try:
        found = json.loads(text, parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise _refused(text, f"JSON: {error}") from error
    if not isinstance(found, dict):
        raise _refused(text, f"a JSON object with the key ({columns}) of {name}")
    for column in found:
        if column not in sink.key:
            raise _refused(text, f"the key ({columns}) of {name}: '{column}' is no key column")
    for column in sink.key:
        if column not in found:
            raise _refused(text, f"the key ({columns}) of {name}: '{column}' is missing")
    types = {f.name: f for f in sink.input.fields}
    return tuple(_column(types[column], found[column], text) for column in sink.key)


def known_columns(text: str, fields: Sequence[Field]) -> tuple[KeyColumn, ...]:
    """Return the columns of a JSON object whose values can be given as Spark SQL.

    Args:
        text: an object with some of the fields, as Spark writes it.
        fields: the fields.
    """
    values = json.loads(text, parse_float=Decimal)
    found = []
    for field in fields:
        if field.name in values:
            with suppress(StreamtableError):
                found.append(_column(field, values[field.name], text))
    return tuple(found)


def literal(text: str, kind: DataType) -> str | None:
    """Return Spark SQL of a value from its text in Spark; None for a type without one."""
    if kind.root in CHARACTER:
        return text_literal(text)
    if kind.root in INTEGERS:
        return text
    if kind.root is Root.BOOLEAN:
        return text
    if kind.root in (Root.DECIMAL, *APPROXIMATE, Root.TIME):
        return f"CAST({text_literal(text)} AS {kind.spark_sql()})"
    if kind.root in (Root.DATE, Root.TIMESTAMP, Root.TIMESTAMP_LTZ):
        return f"{kind.spark_sql()} {text_literal(text)}"
    return None


def _column(field: Field, value: Any, text: str) -> KeyColumn:
    kind = field.type
    supported = {*CHARACTER, *_BITS, *APPROXIMATE, *_TIMES, Root.BOOLEAN, Root.DECIMAL}
    if kind.root not in supported:
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE,
            found=kind,
            reason=f"'{OPTION}' takes no values for the key column '{field.name}'",
        )
    found = _value(kind, value)
    as_sql = None if found is None else literal(found, kind)
    if as_sql is None:
        expected = kind.with_nullable(True).sql()
        example = _EXAMPLES.get(kind.root)
        shape = f"{expected}, such as {example}" if example else expected
        raise _refused(text, f"the key: '{field.name}' is {shape}")
    return KeyColumn(field, as_sql)


def _value(kind: DataType, value: Any) -> str | None:
    """Return a JSON value as text for Spark; None if the type does not have it."""
    root = kind.root
    if root in CHARACTER:
        return value if isinstance(value, str) else None
    if root is Root.BOOLEAN:
        return str(value).lower() if isinstance(value, bool) else None
    if isinstance(value, bool):
        return None
    if root in _BITS:
        half = 1 << (_BITS[root] - 1)
        return str(value) if isinstance(value, int) and -half <= value < half else None
    if root in APPROXIMATE:
        return str(value) if isinstance(value, int | Decimal) else None
    if root is Root.DECIMAL:
        return _decimal(kind, value)
    return _moment(root, value) if isinstance(value, str) else None


def _decimal(kind: DataType, value: Any) -> str | None:
    if not isinstance(value, int | Decimal | str):
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    digits, scale = kind.precision or 0, kind.scale or 0
    if not number.is_finite() or abs(number) >= Decimal(10) ** (digits - scale):
        return None
    shortened = number.normalize().as_tuple().exponent
    return format(number, "f") if isinstance(shortened, int) and -shortened <= scale else None


def _moment(root: Root, value: str) -> str | None:
    try:
        _TIMES[root](value)
    except ValueError:
        return None
    if root is Root.TIMESTAMP and _ZONE.search(value):
        return None
    return value.replace("T", " ")


def _no_number(text: str) -> Any:
    msg = f"{text} is no value"
    raise ValueError(msg)


def _refused(text: str, expected: str) -> StreamtableError:
    return StreamtableError(Condition.INVALID_OPTION, option=OPTION, value=text, expected=expected)


def described(key: Sequence[KeyColumn]) -> str:
    """Return the key for messages: `id = 7, name = 'a'`."""
    return ", ".join(column.text for column in key)
