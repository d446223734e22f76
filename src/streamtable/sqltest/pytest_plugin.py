"""A pytest plugin: collects `*.test.yaml` files. It imports Spark when the first case runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

_STACK = pytest.StashKey[ExitStack]()
_SPARK = pytest.StashKey[Any]()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a test file of SQL; files of other tools lack the key `script`."""
    if file_path.name.endswith((".test.yaml", ".test.yml")) and _names_script(file_path):
        found: pytest.Collector = SqlFile.from_parent(parent, path=file_path)
        return found
    return None


def _names_script(path: Path) -> bool:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return any(line.startswith("script:") for line in lines)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop Spark, if a case has started it."""
    if _STACK in session.config.stash:
        session.config.stash[_STACK].close()


class SqlFile(pytest.File):
    """A test file."""

    memory: Any = None
    bound: Any = None

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the cases of the file."""
        from streamtable.core.errors import StreamtableError
        from streamtable.sqltest.bind import bind
        from streamtable.sqltest.document import read_file

        try:
            self.bound = bind(read_file(self.path))
        except StreamtableError as error:
            raise self.CollectError(str(error)) from None
        for case in self.bound.cases:
            yield SqlCase.from_parent(self, name=case.name, case=case)

    def runner(self) -> Any:
        """Return the runner of the file's cases; the first call starts Spark."""
        from streamtable.sqltest.memory import Memory

        if self.memory is None:
            self.memory = Memory.of(_spark(self.config), self.bound)
        return self.memory


class SqlCase(pytest.Item):
    """A case of a test file."""

    def __init__(self, *, case: Any, **more: Any) -> None:
        super().__init__(**more)
        self._case = case

    def runtest(self) -> None:
        """Run the case in memory."""
        from streamtable.sqltest.run import run_case

        parent = self.parent
        assert isinstance(parent, SqlFile)  # noqa: S101 - made by it
        outcome = run_case(parent.runner(), self._case)
        if outcome.lines:
            pytest.fail("\n".join(outcome.lines), pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the case."""
        return self.path, self._case.at.line - 1, self.name


def _spark(config: pytest.Config) -> Any:
    if _SPARK not in config.stash:
        from streamtable.sqltest.run import local_spark

        stack = config.stash[_STACK] = ExitStack()
        config.stash[_SPARK] = stack.enter_context(local_spark(lambda _: None))
    return config.stash[_SPARK]
