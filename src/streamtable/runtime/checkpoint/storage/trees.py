"""Folders of a checkpoint with all that is in them."""

from __future__ import annotations

import shutil
from pathlib import Path

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.runtime.checkpoint.storage.remote_path import RemotePath


def remove_tree(folder: CheckpointPath) -> None:
    """Delete a folder with all that is in it; it may be missing."""
    if isinstance(folder, RemotePath):
        folder.remove_tree()
    else:
        shutil.rmtree(str(folder), ignore_errors=True)


def replace_tree(source: CheckpointPath, target: CheckpointPath) -> None:
    """Replace a folder by a copy of another one, whose files are small and hold text."""
    remove_tree(target)
    if isinstance(source, Path) and isinstance(target, Path):
        shutil.copytree(source, target)
    else:
        _copy(source, target)


def _copy(source: CheckpointPath, target: CheckpointPath) -> None:
    target.mkdir(exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_text(entry.read_text("utf-8"), encoding="utf-8")
