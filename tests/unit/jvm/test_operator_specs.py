"""Specs cross the bridge by name: Python's classes and Java's records have the same parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

from streamtable.jvm import specs
from streamtable.jvm.bridge import camel_case
from streamtable.jvm.specs.operator import Named, OperatorSpec

JAVA = Path(specs.__file__).parents[1] / "java" / "io" / "streamtable" / "operators"
#: Python type -> Java types that it may stand for.
TYPES = {
    "bool": ("boolean",),
    "int": ("int", "long"),
    "int | None": ("Long",),
    "str": ("String", "JoinKind", "SkipTo", "DataType"),
    "str | None": ("String",),
    "Sequence[int]": ("List<Integer>",),
    "Sequence[int] | None": ("List<Integer>",),
    "Sequence[str]": ("List<String>",),
    "Sequence[Aggregation]": ("List<Aggregation>",),
    "Sequence[SortColumn]": ("List<SortColumn>",),
    "Aggregation | None": ("Aggregation",),
    "MatchPattern": ("MatchPattern",),
    "Sequence[MatchDefinition]": ("List<MatchDefinition>",),
    "Sequence[MatchValue]": ("List<MatchValue>",),
    "Sequence[PatternEdge]": ("List<PatternEdge>",),
    "Sequence[PatternState]": ("List<PatternState>",),
    "object | None": ("PythonProgram",),
    "Lateness": ("Lateness",),
    "Counters": ("Counters",),
    "DataFrame": ("Dataset<Row>",),
    "RestoredState": ("RestoredState",),
    "RestoredState | None": ("RestoredState",),
    "RestoredGroups | None": ("RestoredGroups",),
    "Sequence[StoredCall]": ("List<StoredCall>",),
}


def _subclasses(cls: type[Named]) -> Iterator[type[Named]]:
    for found in cls.__subclasses__():
        yield found
        yield from _subclasses(found)


for _module in iter_modules(specs.__path__, f"{specs.__name__}."):
    import_module(_module.name)

NAMED = sorted((c for c in _subclasses(Named) if c is not OperatorSpec), key=lambda c: c.__name__)


@pytest.mark.parametrize("named", NAMED, ids=lambda cls: cls.__name__)
def test_python_and_java_specs_have_the_same_fields(named: type[Named]) -> None:
    if issubclass(named, OperatorSpec):
        path = JAVA.joinpath(*named.package.split("."), f"{named.__name__}.java")
    else:
        (path,) = JAVA.rglob(f"{named.__name__}.java")
    source = path.read_text()
    parts = re.search(rf"record {named.__name__}\(\s*([^)]*)\)", source)
    assert parts is not None
    java = dict(reversed(part.split()) for part in re.split(r",\s+", parts.group(1)))
    python = {camel_case(field.name): field.type for field in fields(named)}  # type: ignore[arg-type]
    assert list(python) == list(java)
    for name, kind in python.items():
        assert java[name] in TYPES[str(kind)], name


def test_every_operator_of_java_is_known_to_python() -> None:
    java = {path.stem for path in JAVA.rglob("*Operator.java")}
    assert java == {named.__name__ for named in NAMED if issubclass(named, OperatorSpec)}


def test_modules_are_named_as_the_java_packages() -> None:
    """The module of a package also has the records of its subpackages."""
    for named in NAMED:
        if issubclass(named, OperatorSpec):
            room, *_ = named.package.split(".")
            assert named.__module__ == f"{specs.__name__}.{room}"
