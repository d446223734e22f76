"""Stable ids: declarations that are refused, and ids that a rename does not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import pytest

from streamtable.core.identity import hashed_fields, identity, member_id, stable, stable_members


def test_a_field_without_an_id_is_refused() -> None:
    @dataclass(frozen=True)
    class Added:
        old: int
        new: int = 0

    with pytest.raises(TypeError, match=r"Added: .*\['new', 'old'\]"):
        stable("Added", old="old")(Added)


def test_an_id_without_a_field_is_refused() -> None:
    @dataclass(frozen=True)
    class Renamed:
        new: int

    with pytest.raises(TypeError, match="Renamed"):
        stable("Renamed", old="old", new="new")(Renamed)


def test_two_fields_with_one_id_are_refused() -> None:
    @dataclass(frozen=True)
    class Twice:
        one: int
        two: int

    with pytest.raises(TypeError, match="Twice"):
        stable("Twice", one="n", two="n")(Twice)


def test_a_subclass_inherits_field_ids_and_needs_a_class_id() -> None:
    @stable("Base", derived=("told",), old="old")
    @dataclass(frozen=True)
    class Base:
        old: int
        told: int = 0

    @dataclass(frozen=True)
    class Below(Base):
        new: int = 7
        place: int = field(default=0, compare=False)

    with pytest.raises(TypeError, match="Below has no stable id"):
        identity(Below)
    named = stable("Below", new="fresh")(Below)
    assert hashed_fields(named(1, 2, 3, 4)) == {"old": 1, "fresh": 3}
    assert hashed_fields(named(1)) == {"old": 1}


def test_members_of_an_enum() -> None:
    @stable_members(NEW="OLD")
    class Kind(Enum):
        NEW = 1

    class Other(Enum):
        ONE = 1

    assert member_id(Kind.NEW) == "OLD"
    with pytest.raises(TypeError, match="Other"):
        member_id(Other.ONE)
    with pytest.raises(TypeError, match="Other"):
        stable_members(TWO="TWO")(Other)
