"""Shape of a plan in a checkpoint: all that its state depends on, by ids that survive a rename.

`GOLDEN=rewrite` adds the hashes of new golden plans to `tests/golden/shapes.json`, and new ids to
`tests/golden/identities.txt`. It changes no hash and removes no id that is there, because
checkpoints of earlier releases have them. An intended change resets state, and the changelog must
say so.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import MISSING, fields, make_dataclass
from enum import Enum
from functools import cache
from pathlib import Path

import pytest
from tests.unit.plan.operators import layouts, operators

from streamtable.core.identity import identities, identity, member_id, members, stable
from streamtable.core.types import INT, Field
from streamtable.plan.explain.explain import explain
from streamtable.plan.rules.shape import shape
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.static_table import StaticTable
from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
SHAPES = GOLDEN / "shapes.json"
IDENTITIES = GOLDEN / "identities.txt"
REWRITE = os.environ.get("GOLDEN") == "rewrite"
SCRIPTS = sorted((GOLDEN / "plans").rglob("*.sql"))


def _plans(script: Path) -> list[Sink]:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(script.read_text(), script.name)
    return [plan for plan in session.plans if isinstance(plan, Sink)]


def _shape(plan: object) -> str:
    return json.dumps(shape(plan), sort_keys=True)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_planned_twice_has_the_same_shapes(script: Path) -> None:
    assert [*map(_shape, _plans(script))] == [*map(_shape, _plans(script))]


def test_plans_with_different_explain_text_have_different_shapes() -> None:
    told: dict[str, str] = {}
    for script in SCRIPTS:
        for plan in _plans(script):
            text = explain(plan, changeable=False)
            assert told.setdefault(_shape(plan), text) == text, script.stem
    assert len(told) > len(SCRIPTS) / 2


def test_rows_provided_by_a_program_are_not_in_the_shape() -> None:
    """Rows that a program provides are not part of a shape: each run has them in a new object."""
    fields = (Field("k", INT),)
    assert _shape(StaticTable("t", fields, object())) == _shape(StaticTable("t", fields, object()))
    assert _shape(StaticTable("t", fields, 1)) != _shape(StaticTable("u", fields, 1))


def _hash(plan: Sink) -> str:
    """Return the hash of a plan, as `runtime.checkpoint.manifest.recorded_query` computes it."""
    return hashlib.sha256(_shape(plan).encode()).hexdigest()


def test_checkpoints_of_earlier_releases_have_the_same_hash() -> None:
    found = {script.stem: [*map(_hash, _plans(script))] for script in SCRIPTS}
    written = json.loads(SHAPES.read_text())
    if REWRITE:
        written = {name: written.get(name, hashes) for name, hashes in found.items()}
        SHAPES.write_text(json.dumps(written, indent=1) + "\n")
    assert found == written


def test_ids_of_earlier_releases_are_kept() -> None:
    """`identities.txt` has exactly the ids of the code.

    If a line is removed or changed, older checkpoints are refused. A new line is harmless.
    """
    found = {*_ids_of_classes(), *_ids_of_members(), *_ids_of_state()}
    written = set(IDENTITIES.read_text().splitlines())
    if REWRITE:
        written |= found
        IDENTITIES.write_text("\n".join(sorted(written)) + "\n")
    assert sorted(found) == sorted(written)


def test_ids_of_classes_are_unique() -> None:
    lines = [*_ids_of_classes()]
    assert len(set(lines)) == len(lines)


def _ids_of_classes() -> Iterator[str]:
    """Yield each class, and each of its fields with the default that the hash leaves out."""
    for cls, found in identities().items():
        if not found.id or not _is_ours(cls):
            continue
        yield found.id
        for part in fields(cls):
            if part.name not in found.fields:
                continue
            usual = member_id(part.default) if isinstance(part.default, Enum) else part.default
            left_out = "" if part.default is MISSING else f", left out where it is {usual!r}"
            yield f"{found.id}.{found.fields[part.name]}{left_out}"


def _ids_of_members() -> Iterator[str]:
    for cls, ids in members().items():
        yield from (f"member {id_}" for id_ in ids.values() if _is_ours(cls))


def _ids_of_state() -> Iterator[str]:
    for layout in layouts():
        yield f"state {layout.id} {layout.version}: {', '.join(sorted(layout.variables))}"


def _is_ours(cls: type) -> bool:
    """Return whether a class is part of streamtable, and not made by a test."""
    return cls.__module__.startswith("streamtable.")


def test_golden_plans_cover_all_operators_except_static_table() -> None:
    """The golden plans have every operator except `StaticTable`.

    A program provides the rows of a `StaticTable`, so no script has one.
    """
    shapes = " ".join(_shape(plan) for script in SCRIPTS for plan in _plans(script))
    missing = {cls.__name__ for cls in operators() if f'{{"{identity(cls).id}": ' not in shapes}
    assert missing == {"StaticTable"}


def test_a_renamed_class_with_renamed_fields_has_the_same_hash() -> None:
    """A plan keeps its hash if a later release renames its classes and their fields.

    The test renames every operator of the golden plans.
    """
    for script in SCRIPTS:
        for plan in _plans(script):
            assert _shape(_renamed(plan)) == _shape(plan), script.stem


def _renamed(value: object) -> object:
    """Return a plan whose classes and fields have new Python names and their former ids."""
    if isinstance(value, tuple):
        return tuple(map(_renamed, value))
    if type(value) not in (*operators(), Sink):
        return value
    renamed, names = _renamed_class(type(value))
    return renamed(*(_renamed(getattr(value, name)) for name in names))


@cache
def _renamed_class(cls: type) -> tuple[type, tuple[str, ...]]:
    """Return a copy of a class with new names, and the names of the fields of `cls` that it has."""
    ids = identity(cls)
    known = [f for f in fields(cls) if f.name in ids.fields]
    made = make_dataclass(
        f"Renamed{cls.__name__}",
        [
            (f"renamed_{f.name}", object)
            if f.default is MISSING
            else (f"renamed_{f.name}", object, f.default)
            for f in known
        ],
        frozen=True,
    )
    stable(ids.id, **{f"renamed_{name}": id_ for name, id_ in ids.fields.items()})(made)
    return made, tuple(f.name for f in known)
