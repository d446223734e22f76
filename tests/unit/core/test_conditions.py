"""The table of error conditions is sorted and unique, and the code uses each condition."""

from __future__ import annotations

from pathlib import Path

from streamtable.core.conditions import Condition

SOURCES = Path(__file__).parents[3] / "src" / "streamtable"


def test_sorted_by_name() -> None:
    names = list(Condition.__members__)
    # An underscore sorts like a blank, before every letter.
    assert names == sorted(names, key=lambda name: name.replace("_", " "))


def test_conditions_have_unique_messages() -> None:
    # In an enum, members with the same value are one member with two names.
    assert len(set(Condition)) == len(Condition.__members__)


def test_every_condition_is_used() -> None:
    python = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    java = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.java"))
    idle = [
        name
        for name in Condition.__members__
        if f"Condition.{name}" not in python and f'"{name}' not in java
    ]
    assert idle == []
