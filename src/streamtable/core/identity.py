"""Stable ids of classes, fields and enum members, from which a checkpoint's hash is computed.

Python names may change from release to release. A stable id never changes while it is in use: a new
id would make existing checkpoints incompatible. `tests/golden/identities.txt` lists the ids of all
operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeVar

C = TypeVar("C", bound=type)
E = TypeVar("E", bound=type[Enum])


@dataclass(frozen=True)
class Identity:
    """Stable ids of a dataclass.

    Attributes:
        id: id of the class; empty for an abstract base class that no plan contains.
        fields: name of a field -> its id.
        derived: fields that are computed from other fields and are excluded from the hash.
    """

    id: str
    fields: Mapping[str, str]
    derived: frozenset[str]


_CLASSES: dict[type, Identity] = {}
_MEMBERS: dict[type[Enum], Mapping[str, str]] = {}


def stable(id_: str, /, *, derived: Iterable[str] = (), **ids: str) -> Callable[[C], C]:
    """Set the ids of a dataclass and its fields; ids of base class fields are inherited.

    Args:
        id_: id of the class; empty for an abstract base class that no plan contains.
        derived: fields that are computed from other fields.
        ids: name of a field -> its id.

    Raises:
        TypeError: a field has no id, an id has no field, or two fields have the same id.
    """

    def register(cls: C) -> C:
        inherited = [_CLASSES[base] for base in reversed(cls.__mro__[1:]) if base in _CLASSES]
        known = {name: id_ for base in inherited for name, id_ in base.fields.items()} | ids
        omitted_records = frozenset(derived).union(*(base.derived for base in inherited))
        declared = {field.name for field in fields(cls) if field.compare}
        if declared != known.keys() | omitted_records or len({*known.values()}) < len(known):
            message = f"{cls.__name__}: give each of its fields {sorted(declared)} an id of its own"
            raise TypeError(message)
        _CLASSES[cls] = Identity(id_, known, omitted_records)
        return cls

    return register


def stable_members(**ids: str) -> Callable[[E], E]:
    """Set the ids of the members of an enum.

    Raises:
        TypeError: a member has no id, an id has no member, or two members have the same id.
    """

    def register(cls: E) -> E:
        if ids.keys() != cls.__members__.keys() or len({*ids.values()}) < len(ids):
            message = f"{cls.__name__}: give each of its members an id of its own"
            raise TypeError(message)
        _MEMBERS[cls] = ids
        return cls

    return register


def identity(cls: type) -> Identity:
    """Return the ids of a class.

    Raises:
        TypeError: the class has no ids of its own. Ids of a base class do not count.
    """
    if cls not in _CLASSES or not _CLASSES[cls].id:
        message = f"{cls.__name__} has no stable id, which all that a plan holds needs"
        raise TypeError(message)
    return _CLASSES[cls]


def member_id(member: Enum) -> str:
    """Return the id of an enum member.

    Raises:
        TypeError: the members of the enum have no ids.
    """
    if type(member) not in _MEMBERS:
        message = f"the members of {type(member).__name__} have no stable ids"
        raise TypeError(message)
    return _MEMBERS[type(member)][member.name]


def hashed_fields(owner: object) -> Mapping[str, object]:
    """Return the values of an object that are part of its hash, by field id.

    A field with its default value is omitted, so that a later release can add fields.
    """
    ids = identity(type(owner)).fields
    known = {field.name: field for field in fields(owner)}  # type: ignore[arg-type]
    values = {name: getattr(owner, name) for name in ids}
    return {ids[name]: value for name, value in values.items() if not _usual(known[name], value)}


def identities() -> Mapping[type, Identity]:
    """Return every class that has ids."""
    return MappingProxyType(_CLASSES)


def members() -> Mapping[type[Enum], Mapping[str, str]]:
    """Return every enum whose members have ids: member name -> id."""
    return MappingProxyType(_MEMBERS)


def _usual(field: Field[Any], value: object) -> bool:
    return field.default is not MISSING and value == field.default
