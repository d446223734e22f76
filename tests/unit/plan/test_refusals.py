"""Scripts that must be refused, with the exact error; see `tests/golden/refusals/README.md`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.session import Session

GOLDEN = Path(__file__).parents[2] / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
FILES = sorted((GOLDEN / "refusals").glob("*.err"))
_CASE = re.compile(r"-- case: (.*)\n((?:.*\n)*?)-- error:[ ]?(.*)\n")


def _refusal(sql: str) -> str:
    session = Session()
    session.load(TABLES, "tables.sql")
    with pytest.raises(StreamtableError) as refused:
        session.load(sql, "job.sql")
    return str(refused.value)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
def test_refusals(file: Path) -> None:
    text = file.read_text()
    cases = _CASE.findall(text)
    assert cases, "a file without cases"
    found = [(name, sql, _refusal(sql)) for name, sql, _ in cases]
    if os.environ.get("GOLDEN") == "rewrite":
        blocks = [f"-- case: {name}\n{sql}-- error: {line}\n" for name, sql, line in found]
        file.write_text("\n".join(blocks))
    assert [line for _, _, line in found] == [line for _, _, line in cases]
