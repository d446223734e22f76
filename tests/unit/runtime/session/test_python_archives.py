"""Zip files of directories of `python.files`."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

from streamtable.runtime.session.python_archives import archive_of

if TYPE_CHECKING:
    from pathlib import Path


def test_one_archive_for_each_content(tmp_path: Path) -> None:
    (tmp_path / "p" / "__pycache__").mkdir(parents=True)
    module = tmp_path / "p" / "m.py"
    module.write_text("a = 1")
    first = archive_of(tmp_path)
    assert "p/m.py" in zipfile.ZipFile(first).namelist()
    (tmp_path / "p" / "__pycache__" / "m.pyc").write_text("compiled")
    assert archive_of(tmp_path) == first
    module.write_text("a = 2")
    second = archive_of(tmp_path)
    assert second != first
    assert zipfile.ZipFile(second).read("p/m.py") == b"a = 2"
