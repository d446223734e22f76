"""The archive of Spark's classes is used if it exists, and is written whole or not at all."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from streamtable.jvm.install import class_archive

_OPTIONS = "SPARK_SUBMIT_OPTS"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path))
    monkeypatch.setenv(_OPTIONS, "-Dgiven=1")


class _Jvm:
    """Write the archive that the options name at the end, as a JVM does."""

    def __init__(self) -> None:
        self.options = ""

    def launch(self) -> None:
        self.options = os.environ[_OPTIONS]

    def end(self) -> None:
        if wanted := re.search(r"ArchiveClassesAtExit=(\S+)", self.options):
            Path(wanted[1]).write_text("classes")


def _files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_start_without_an_archive_sets_no_java_options() -> None:
    assert class_archive.java_options() == ""


def test_later_starts_use_the_archive_of_the_first_start(tmp_path: Path) -> None:
    first, second = _Jvm(), _Jvm()
    with class_archive.recording(first.end):
        first.launch()
    assert first.options.startswith("-Dgiven=1 -XX:ArchiveClassesAtExit=")
    assert os.environ[_OPTIONS] == "-Dgiven=1"
    made = class_archive.archive()
    assert _files(tmp_path) == [made.name]
    assert f"-XX:SharedArchiveFile={made} " in class_archive.java_options()
    with class_archive.recording(second.end):
        second.launch()
    assert second.options == "-Dgiven=1"


def test_a_failed_recording_leaves_no_files(tmp_path: Path) -> None:
    jvm = _Jvm()
    with pytest.raises(RuntimeError), class_archive.recording(jvm.end):
        jvm.launch()
        raise RuntimeError
    assert class_archive.java_options() == ""
    assert _files(tmp_path) == []


def test_a_jvm_without_a_recording_leaves_no_files(tmp_path: Path) -> None:
    with class_archive.recording(lambda: None):
        pass
    assert class_archive.java_options() == ""
    assert _files(tmp_path) == []


def test_a_recording_deletes_the_least_recently_used_files(tmp_path: Path) -> None:
    folder = tmp_path / "classes"
    folder.mkdir()
    for age, name in enumerate(["spark-c.jsa", "spark-b.jsa", "spark-a.jsa", "spark-a.17"]):
        path = folder / name
        path.touch()
        os.utime(path, (10_000 - age, 10_000 - age))
    (folder / "spark-d.18").touch()  # a recording of another process
    jvm = _Jvm()
    with class_archive.recording(jvm.end):
        jvm.launch()
    made = class_archive.archive().name
    assert _files(folder) == sorted(["spark-b.jsa", "spark-c.jsa", "spark-d.18", made])
