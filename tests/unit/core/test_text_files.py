"""Text files in the encodings that editors write."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.text_files import read_text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_utf_8(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_bytes("SELECT 'ä'\r\n".encode(encoding))
    assert read_text(file, "look") == "SELECT 'ä'\n"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_other_encodings_are_refused(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_bytes("SELECT 'ä'".encode(encoding))
    with pytest.raises(StreamtableError) as refused:
        read_text(file, "look")
    assert refused.value.condition is Condition.FILE_UNREADABLE
    assert "it is not UTF-8 at byte" in str(refused.value)
    assert refused.value.hint == "save the file as UTF-8"
