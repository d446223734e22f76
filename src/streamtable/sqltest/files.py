"""Find test files: `*.test.yaml` and `test_*.yaml`, also with the suffix `.yml`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from streamtable.core.errors import Condition, StreamtableError

_PATTERNS = ("*.test.yaml", "*.test.yml", "test_*.yaml", "test_*.yml")


def test_files(paths: Iterable[Path]) -> list[Path]:
    """Return the named files, and the test files below the named folders, sorted.

    Raises:
        StreamtableError: FILE_UNREADABLE for a path that does not exist.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            below = (file for pattern in _PATTERNS for file in path.rglob(pattern))
            found.update(dict.fromkeys(sorted(below)))
        elif path.exists():
            found[path] = None
        else:
            raise StreamtableError(
                Condition.FILE_UNREADABLE,
                path=path,
                reason="it does not exist",
                hint="name test files, or folders with files such as job.test.yaml",
            )
    return list(found)
