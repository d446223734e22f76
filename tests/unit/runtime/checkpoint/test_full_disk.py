"""A full disk is reported, and the checkpoint keeps its earlier content."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system with one page, which the lock takes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "streamtable-test", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not permitted here")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def test_a_full_disk_is_reported(page: Path) -> None:
    checkpoint = open_checkpoint(str(page / "c"), {})
    with pytest.raises(StreamtableError) as told:
        begin(checkpoint, {"topic": "id"})
    checkpoint.close()
    assert told.value.condition is Condition.CHECKPOINT_UNREADABLE
    assert f"checkpoint {page / 'c'} cannot be used: No space left on device" in str(told.value)
    assert checkpoint.is_new
    open_checkpoint(str(page / "c"), {}).close()
