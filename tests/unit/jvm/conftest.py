"""A JDK of shell scripts, so that tests observe the calls of Java without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.jvm.install.tools import java_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Prints a version for `-version`. In the role of Ivy, logs the call and writes one jar.
_JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2025-04-15' >&2; exit; fi
echo called >> '{calls}'
sleep 0.2
[ -e '{broken}' ] && echo 'UNRESOLVED: a#b;1' && exit 1
for last; do :; done
echo jar > "$(dirname "$last")/thing-1.0.jar"
"""


class FakeJdk:
    """A fake JAVA_HOME. If the file `broken` exists, Ivy fails."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.broken = home / "broken"
        self._calls = home / "calls"
        (home / "bin").mkdir(parents=True)

    @property
    def calls(self) -> int:
        """The number of calls of Java other than `-version`."""
        return len(self._calls.read_text().splitlines()) if self._calls.exists() else 0

    def install(self, version: str) -> None:
        """Install a `java` of the version."""
        script = _JAVA.format(version=version, calls=self._calls, broken=self.broken)
        self.install_tool("java", script)

    def install_tool(self, name: str, script: str) -> None:
        """Install a program."""
        path = self.home / "bin" / name
        path.write_text(script)
        path.chmod(0o755)


@pytest.fixture
def jdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeJdk]:
    """Point JAVA_HOME to a fake Java 17, with an empty cache."""
    fake = FakeJdk(tmp_path / "jdk")
    fake.install("17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(fake.home))
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("STREAMTABLE_IVY_FILE", raising=False)
    java_tool.cache_clear()
    yield fake
    java_tool.cache_clear()
