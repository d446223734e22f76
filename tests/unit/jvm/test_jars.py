from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.devbroker.jars import broker_jars
from streamtable.jvm.install.jars import connector_jars

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.jvm.conftest import FakeJdk


def test_jars_are_fetched_and_reported_once(
    jdk: FakeJdk, capsys: pytest.CaptureFixture[str]
) -> None:
    first = connector_jars()
    assert [jar.name for jar in first] == ["thing-1.0.jar"]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("fetching the libraries of the connectors (14 jars, 16 MB) ... ")

    assert connector_jars() == first
    assert jdk.calls == 1
    assert capsys.readouterr().err == ""

    assert broker_jars()[0].parent != first[0].parent
    assert jdk.calls == 2


def test_each_ivy_file_has_a_separate_folder(
    jdk: FakeJdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = connector_jars()
    own = tmp_path / "ivy.xml"
    own.write_text("<ivy-module/>")
    monkeypatch.setenv("STREAMTABLE_IVY_FILE", str(own))
    assert connector_jars()[0].parent != pinned[0].parent
    assert jdk.calls == 2


def test_processes_that_start_together_fetch_once(jdk: FakeJdk) -> None:
    program = "from streamtable.jvm.install.jars import connector_jars; print(connector_jars())"
    together = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) for _ in range(3)
    ]
    answers = {process.communicate(timeout=60)[0] for process in together}
    assert len(answers) == 1
    assert jdk.calls == 1


def test_a_failed_fetch_shows_the_ivy_error_and_leaves_no_jars(
    jdk: FakeJdk, tmp_path: Path
) -> None:
    jdk.broken.touch()
    with pytest.raises(StreamtableError, match="UNRESOLVED: a#b;1") as caught:
        connector_jars()
    assert caught.value.condition is Condition.RESOURCE_UNAVAILABLE
    assert [path.name for path in (tmp_path / "cache" / "jars").iterdir()] == ["lock"]

    jdk.broken.unlink()
    assert connector_jars()


def test_version_list_that_cannot_be_read(jdk: FakeJdk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMTABLE_IVY_FILE", "nowhere.xml")
    with pytest.raises(StreamtableError) as caught:
        connector_jars()
    assert caught.value.condition is Condition.FILE_UNREADABLE
    assert jdk.calls == 0


@pytest.mark.usefixtures("jdk")
def test_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path / "file"))
    with pytest.raises(StreamtableError, match="set STREAMTABLE_CACHE") as caught:
        connector_jars()
    assert caught.value.condition is Condition.FILE_UNREADABLE
