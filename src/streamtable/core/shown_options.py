"""Options and their values as help, reference pages and listings show them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from enum import Enum

from streamtable.core.durations import format_duration
from streamtable.core.options import OptionSet


def documented(sets: Iterable[OptionSet]) -> list[tuple[str, str, str, str]]:
    """Rows for help and reference pages: key, type, default or `required`, doc."""
    rows = []
    for options in sets:
        for option in options.options:
            default = "required" if option.required else value_shown(option.default)
            doc = option.doc
            if option.fallback_keys:
                doc += f" Also `{'`, `'.join(option.fallback_keys)}`."
            if option.no_effect is not None:
                doc += f" Accepted without effect: {option.no_effect}."
            if option.not_yet is not None:
                value = option.not_yet_value
                doc += f" {value_shown(value)}:" if value is not None else ""
                doc += " not supported yet." if value is not None else " Not supported yet."
            rows.append((option.key, option.kind.name, default, doc))
    return rows


def value_shown(default: object) -> str:
    """Format a typed value as it is written in a script."""
    match default:
        case "":
            return "empty"
        case None | ():
            return "(none)"
        case timedelta():
            return format_duration(default)
        case Enum():
            return str(default.value)
        case bool():
            return str(default).lower()
        case _:
            return str(default)
