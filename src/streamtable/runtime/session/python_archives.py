"""Zip files of the directories of `python.files`, one for each content of a directory."""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
import threading
from pathlib import Path

#: Directory of compiled modules, which an import changes.
_COMPILED = "__pycache__"

#: Jobs of one process may start at the same time.
_LOCK = threading.Lock()


def archive_of(folder: Path) -> Path:
    """Return a zip file of a directory; the same file as long as the content is the same.

    Spark sends each of its files to every worker once, and keeps it until the session ends.
    """
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        inside = file.relative_to(folder)
        if _COMPILED not in inside.parts:
            content = file.read_bytes()
            digest.update(f"{inside}\0{len(content)}\0".encode() + content)
    name = f"{folder.resolve().name}-{digest.hexdigest()[:16]}"
    with _LOCK:
        target = Path(_directory().name, name)
        archive = target.with_name(f"{name}.zip")
        if not archive.exists():
            made = shutil.make_archive(f"{target}-unfinished", "zip", folder)
            Path(made).replace(archive)
    return archive


@functools.cache
def _directory() -> tempfile.TemporaryDirectory[str]:
    """Return the directory of the zip files, which is removed at the end of the process."""
    return tempfile.TemporaryDirectory(prefix="streamtable-python-", ignore_cleanup_errors=True)
