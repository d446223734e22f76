from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.install.tools import java_tool, java_version

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jvm.conftest import FakeJdk


def test_java_home_takes_precedence_over_the_path(jdk: FakeJdk) -> None:
    assert java_tool("java") == jdk.home / "bin" / "java"


def test_the_path_is_used_if_java_home_has_no_java(
    jdk: FakeJdk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(jdk.home / "bin"), prepend=":")
    assert java_tool("java") == jdk.home / "bin" / "java"


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ("javac 21", 21),
        ('Picked up JAVA_TOOL_OPTIONS: -Xmx99m\nopenjdk version "25-ea" 2025-09-16', 25),
    ],
)
def test_versions_are_read(jdk: FakeJdk, said: str, version: int) -> None:
    jdk.install_tool("java", f"#!/bin/sh\ncat <<'END'\n{said}\nEND\n")
    assert java_version(jdk.home / "bin" / "java") == version


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('IMPLEMENTOR="Debian"\nJAVA_VERSION="21.0.7"\n', 21),
        ('JAVA_VERSION="1.8.0_402"\n', 8),
        ('IMPLEMENTOR="Debian"\n', 17),
    ],
)
def test_the_file_of_a_release_precedes_its_program(
    jdk: FakeJdk, release: str, version: int
) -> None:
    jdk.install_tool("java", "#!/bin/sh\necho 'openjdk version \"17.0.15\"'\n")
    (jdk.home / "release").write_text(release)
    assert java_version(jdk.home / "bin" / "java") == version


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\necho 'openjdk version \"11.0.2\"'\n", "is version 11"),
        ("#!/bin/sh\necho 'No Java runtime present'; exit 1\n", "does not run"),
        ("#!/bin/sh\necho hello\n", "does not print its version"),
    ],
)
def test_an_unusable_java_is_refused(jdk: FakeJdk, script: str, reason: str) -> None:
    jdk.install_tool("java", script)
    with pytest.raises(StreamtableError, match=reason) as caught:
        java_tool("java")
    assert caught.value.condition is Condition.JAVA_MISSING


def test_a_jre_without_javac_is_reported(jdk: FakeJdk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(jdk.home / "bin"))
    with pytest.raises(StreamtableError, match=r"javac 17 or newer was not found.*a JRE has no"):
        java_tool("javac")
