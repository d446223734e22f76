"""Plans as text: each script below `tests/golden/plans` gives the `.plan` file next to it.

The scripts use the tables of `tables.sql`. `make golden` rewrites the plans; the review reads the
difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
SCRIPTS = sorted((GOLDEN / "plans").rglob("*.sql"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_plan(script: Path) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(script.read_text(), script.name)
    found = session.explain() + "\n"
    golden = script.with_suffix(".plan")
    if os.environ.get("GOLDEN") == "rewrite":
        golden.write_text(found)
    assert found == golden.read_text()


def test_every_plan_has_its_script() -> None:
    plans = {path.stem for path in (GOLDEN / "plans").rglob("*.plan")}
    assert plans == {path.stem for path in SCRIPTS}
