"""The log of Spark's JVM, next to the logs of other starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.runtime.session.launch_log import launch_log


def test_a_log_removed_by_another_start_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each start lists and removes old logs. A broken link stands for a log just removed."""
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path))
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "spark-1.log").symlink_to(logs / "removed")
    notices: list[str] = []
    log = launch_log(False, notices.append)
    assert log is not None
    assert log.parent == logs
    assert notices == []
