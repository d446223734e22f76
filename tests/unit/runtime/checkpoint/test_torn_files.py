"""Logs of a query whose newest files are empty after a power failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.checkpoint.storage.whole_files import write_whole

_WHOLE = b'v1\n{"nextBatchWatermarkMs":0}'


def _query(folder: Path, logs: dict[str, bytes]) -> Path:
    for name, content in logs.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def _refusal(query: Path) -> str:
    with pytest.raises(StreamtableError) as refused:
        check_whole(query, lambda _: None)
    assert refused.value.condition is Condition.CHECKPOINT_UNREADABLE
    return str(refused.value)


@pytest.mark.parametrize("content", [b"", b"\0" * 512])
def test_an_empty_commit_file_is_removed(tmp_path: Path, content: bytes) -> None:
    logs = {f"{log}/{n}": _WHOLE for log in ("offsets", "commits") for n in (9, 10)}
    query = _query(tmp_path, {**logs, "commits/10": content})
    notices: list[str] = []
    check_whole(query, notices.append)
    assert len(notices) == 1
    assert "batch 10 runs again" in notices[0]
    assert {path.name for path in (query / "commits").iterdir()} == {"9"}
    check_whole(query, notices.append)
    assert len(notices) == 1


@pytest.mark.parametrize("content", [b"", b"\0" * 512])
def test_a_planned_batch_without_content_is_refused(tmp_path: Path, content: bytes) -> None:
    logs = {"offsets/9": _WHOLE, "commits/9": _WHOLE, "offsets/10": content}
    refusal = _refusal(_query(tmp_path, logs))
    assert f"'{tmp_path}/offsets/10' is empty" in refusal
    assert "or delete the file: batch 10 is planned again" in refusal


@pytest.mark.parametrize(
    ("logs", "file"),
    [
        ({"offsets/9": b"", "commits/9": _WHOLE}, "offsets/9"),
        ({"offsets/9": _WHOLE, "offsets/10": _WHOLE, "commits/9": b""}, "commits/9"),
        ({"metadata": b"\0" * 45, "offsets/0": _WHOLE}, "metadata"),
    ],
)
def test_empty_files_that_state_depends_on_need_a_new_directory(
    tmp_path: Path, logs: dict[str, bytes], file: str
) -> None:
    refusal = _refusal(_query(tmp_path, logs))
    assert f"'{tmp_path}/{file}' is empty" in refusal
    assert "new --checkpoint directory" in refusal
    assert "delete" not in refusal


def test_complete_logs_are_accepted(tmp_path: Path) -> None:
    check_whole(tmp_path / "new", lambda _: None)
    query = _query(tmp_path, {"metadata": b"{}", "offsets/0": _WHOLE, "offsets/1": _WHOLE})
    check_whole(query, lambda _: None)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "streamtable.json"
    for text in ("first", "second"):
        write_whole(target, text)
        assert target.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["streamtable.json"]


def test_the_error_includes_the_hint_about_stale_keys(tmp_path: Path) -> None:
    query = _query(tmp_path, {"metadata": b""})
    with pytest.raises(StreamtableError, match="topics; keys stay in 't'"):
        check_whole(query, lambda _: None, "; keys stay in 't'")
