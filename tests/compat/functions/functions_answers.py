"""Flink's recorded answers, and the forms in which types and values are compared."""

from __future__ import annotations

import datetime
import json
import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from sqlglot import exp
from tests.compat.functions.functions_table import COLUMNS

from streamtable.catalog.functions import Functions
from streamtable.catalog.namespaces import Namespaces
from streamtable.core.types import Field, Root
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.sql.parse import parse_expression

_FILE = Path(__file__).with_name("functions.json")
_LONGEST = "2147483647"


@dataclass(frozen=True)
class Answer:
    """Flink's answer: a type and a value, a failure at run time, or a refusal.

    Attributes:
        kind: `value`, `fails` or `error`.
    """

    zone: str
    sql: str
    kind: str
    type: str
    value: Any

    @property
    def id(self) -> str:
        """The id of the test."""
        return self.sql if self.zone == "UTC" else f"{self.sql} [{self.zone}]"


def recorded() -> list[Answer]:
    """Return all recorded answers."""
    return [
        Answer(
            case["zone"],
            case["sql"],
            next(kind for kind in ("error", "fails", "value") if kind in case),
            case.get("type", ""),
            case.get("value"),
        )
        for case in json.loads(_FILE.read_text())["cases"]
    ]


def expression(sql: str) -> exp.Expr:
    """Parse an expression, and bind its function calls as in a new session."""
    parsed = parse_expression(sql)
    Functions(Namespaces(), frozenset()).bind_calls((parsed,))
    return parsed


@cache
def binder() -> Binder:
    """Return a binder over the columns of the recorded row, as table `t`."""
    fields = []
    for name, (kind, _, _) in COLUMNS.items():
        shape, not_null, _ = kind.partition(" NOT NULL")
        data_type = parse_expression(f"CAST(NULL AS {shape})").args["to"].data_type
        fields.append(InputField("t", name, Field(name, data_type.with_nullable(not not_null))))
    return Binder(Input(tuple(fields)))


def same_type(flink: str) -> str:
    """Convert Flink's serializable spelling of a type to our spelling."""
    text = flink.replace(f"VARCHAR({_LONGEST})", "STRING").replace(
        f"VARBINARY({_LONGEST})", "BYTES"
    )
    text = re.sub(r"TIMESTAMP\((\d)\) WITH LOCAL TIME ZONE", r"TIMESTAMP_LTZ(\1)", text)
    text = re.sub(
        r"INTERVAL (DAY|HOUR|MINUTE|SECOND)[^>,]*?(?= NOT NULL|$)", "INTERVAL DAY TO SECOND", text
    )
    return re.sub(r"INTERVAL (YEAR|MONTH)[^>,]*?(?= NOT NULL|$)", "INTERVAL YEAR TO MONTH", text)


_DAY_TIME = re.compile(r"PT(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?")


def comparable(value: Any, root: Root) -> Any:
    """Convert a value recorded from Flink (Java's texts) to the form of `spark_value`."""
    if value is None:
        return None
    if root is Root.FLOAT:
        return single(value)
    if root in (Root.TIMESTAMP, Root.TIMESTAMP_LTZ):
        text = value.removesuffix("Z")
        return text + ":00" if text.count(":") == 1 else text.rstrip("0") if "." in text else text
    if root is Root.TIME:
        text = value.partition(".")[0]
        return text + ":00" if text.count(":") == 1 else text
    if root is Root.INTERVAL_DAY_TIME:
        match = _DAY_TIME.fullmatch(value)
        assert match is not None, value
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        return hours * 3600 + minutes * 60 + seconds
    return value


def single(text: str) -> str:
    """Convert the text of a FLOAT to the text in which Python writes its 32-bit value."""
    return repr(struct.unpack("f", struct.pack("f", float(text)))[0])


def spark_value(value: Any) -> Any:
    """Convert a value collected from Spark to JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return repr(value)
        case Decimal():
            return format(value, "f")
        case datetime.timedelta():
            return value.total_seconds()
        case datetime.datetime():
            text = value.replace(tzinfo=None).isoformat()
            return text.rstrip("0") if "." in text else text
        case datetime.date() | datetime.time():
            return value.isoformat()
        case bytes() | bytearray():
            return "hex:" + bytes(value).hex()
        case dict():
            pairs = [[spark_value(k), spark_value(v)] for k, v in value.items()]
            return {"map": sorted(pairs, key=repr)}
        case tuple():
            return {"row": [spark_value(part) for part in value]}
        case _:
            return [spark_value(item) for item in value]
