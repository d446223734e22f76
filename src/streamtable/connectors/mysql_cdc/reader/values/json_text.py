"""MySQL's JSON as text: one form for snapshot and binlog, so that both give the same row.

MySQL shows `{"a": 1}` and stores a binary form in its binlog. MariaDB stores the original text as a
LONGTEXT; it is not changed.
"""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any


def compact(text: str) -> str:
    """Remove blanks between the parts of a text (`use.legacy.json.format` = `true`)."""
    parts, start, inside, at = [], 0, False, 0
    while at < len(text):
        sign = text[at]
        if inside:
            if sign == "\\":
                at += 1
            elif sign == '"':
                inside = False
        elif sign == '"':
            inside = True
        elif sign in " \n\r\t":
            parts.append(text[start:at])
            start = at + 1
        at += 1
    parts.append(text[start:])
    return "".join(parts)


def dump(value: Any) -> str:
    """Convert a parsed binary value to text without blanks.

    Args:
        value: the result of `pymysqlreplication.json_binary`: keys and texts are bytes.
    """
    match value:
        case dict():
            inside = (f"{dump(key)}:{dump(part)}" for key, part in value.items())
            return "{" + ",".join(inside) + "}"
        case list():
            return "[" + ",".join(map(dump, value)) + "]"
        case bytes():
            return json.dumps(value.decode(), ensure_ascii=False)
        case Decimal():
            return str(value)
        case datetime() | date() | time() | timedelta():
            return json.dumps(str(value))
        case _:
            return json.dumps(value, ensure_ascii=False)
