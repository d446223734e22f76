"""The archive of Spark's classes: used where it is there, and made whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamtable.jvm import class_archive

_WRITES = """
import os, re, pathlib
options = os.environ["SPARK_SUBMIT_OPTS"]
pathlib.Path(re.search(r"ArchiveClassesAtExit=(\\S+)", options)[1]).write_text("classes")
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path))


def test_a_start_without_an_archive_asks_for_none() -> None:
    assert class_archive.java_options() == ""


def test_an_archive_is_made_once_and_used() -> None:
    made = class_archive.make([sys.executable, "-c", _WRITES])
    assert made.read_text() == "classes"
    assert f"-XX:SharedArchiveFile={made} " in class_archive.java_options()
    assert class_archive.make(["false"]) == made


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        class_archive.make([sys.executable, "-c", f"{_WRITES}\nraise SystemExit(1)"])
    assert class_archive.java_options() == ""
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
