"""A JDK of shell scripts, so that what we ask of Java can be watched without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.jvm.install.tools import java_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Answers `-version`; as Ivy, notes the call and puts one jar where it is told to.
_JAVA = """#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2025-04-15' >&2; exit; fi
echo called >> '{calls}'
sleep 0.2
[ -e '{broken}' ] && echo 'UNRESOLVED: a#b;1' && exit 1
for last; do :; done
echo jar > "$(dirname "$last")/thing-1.0.jar"
"""


class FakeJdk:
    """A JAVA_HOME; `broken`, if it exists, makes Ivy fail."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.broken = home / "broken"
        self._calls = home / "calls"
        (home / "bin").mkdir(parents=True)

    @property
    def calls(self) -> int:
        """How often Java ran for more than its version."""
        return len(self._calls.read_text().splitlines()) if self._calls.exists() else 0

    def install(self, version: str) -> None:
        """Put a `java` of that version there."""
        script = _JAVA.format(version=version, calls=self._calls, broken=self.broken)
        self.install_tool("java", script)

    def install_tool(self, name: str, script: str) -> None:
        """Put any program there."""
        path = self.home / "bin" / name
        path.write_text(script)
        path.chmod(0o755)


@pytest.fixture
def jdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeJdk]:
    """JAVA_HOME points to a fake Java 17, the cache is empty."""
    fake = FakeJdk(tmp_path / "jdk")
    fake.install("17.0.15")
    monkeypatch.setenv("JAVA_HOME", str(fake.home))
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("STREAMTABLE_IVY_FILE", raising=False)
    java_tool.cache_clear()
    yield fake
    java_tool.cache_clear()
