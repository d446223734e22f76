"""The user's list of jobs on this machine: one entry per checkpoint directory.

An entry is a file in a directory of the user's own. It has the path of the checkpoint; after the
end of a job with a temporary checkpoint, it has the last status document.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from streamtable.runtime.status.document import StatusDocument
from streamtable.runtime.status.lock import holder_of

#: Time for which an ended job with a temporary checkpoint is listed, in seconds.
_KEPT_S = 86_400.0

#: Maximum number of entries of ended jobs; the oldest entries are removed first.
_MOST = 200


@dataclass(frozen=True)
class Entry:
    """A job in the list.

    Attributes:
        directory: the checkpoint.
        document: the last document of a job whose temporary checkpoint is gone.
    """

    directory: Path
    document: StatusDocument | None = None


def add_entry(directory: Path) -> None:
    """Add a job to the list.

    Raises:
        OSError: the list cannot be written.
    """
    _write(directory, {"directory": str(directory)})
    _prune()


def folder_of(checkpoint: str) -> Path:
    """Return the folder for the document of a job whose checkpoint is not on a local disk.

    The list itself is created, the folder is not.
    """
    with suppress(OSError):
        _folder()
    return _candidates()[0] / f"{_name(checkpoint)}.job"


def is_in_list(folder: Path) -> bool:
    """Return whether a folder is one of `folder_of`."""
    return folder.parent in _candidates()


def keep_ended(document: StatusDocument) -> None:
    """Keep the last document of a job whose temporary checkpoint is about to be deleted.

    Raises:
        OSError: the list cannot be written.
    """
    directory = Path(document.directory)
    _write(directory, {"directory": document.directory, "document": json.loads(document.text())})


def entries() -> Iterator[Entry]:
    """Yield the entries of the list, and remove those whose checkpoint is gone."""
    found: dict[Path, Entry] = {}
    for folder in _folders():
        for file in _files(folder):
            entry = _read(file)
            if entry is None:
                with suppress(OSError):
                    file.unlink()
            else:
                found.setdefault(entry.directory, entry)
    yield from found.values()


def ended_document(directory: Path) -> StatusDocument | None:
    """Return the last document of an ended job with a temporary checkpoint, if it is listed."""
    return next((e.document for e in entries() if e.directory == directory), None)


def _read(file: Path) -> Entry | None:
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        directory = Path(values["directory"])
        if "document" not in values:
            return Entry(directory) if directory.is_dir() else None
        document = StatusDocument.from_json(values["document"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    over = (document.ended or document.updated) < time.time() - _KEPT_S
    return None if over else Entry(directory, document)


def _write(directory: Path, values: object) -> None:
    folder = _folder()
    name = _name(str(directory))
    draft = folder / f"{name}.new"
    draft.write_text(json.dumps(values), encoding="utf-8")
    draft.replace(folder / f"{name}.json")


def _name(directory: str) -> str:
    return hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]


def _prune() -> None:
    for file in _files(_folder())[_MOST:]:
        entry = _read(file)
        if entry is None or entry.document is not None or holder_of(entry.directory) is None:
            with suppress(OSError):
                file.unlink()
            if entry is not None and is_in_list(entry.directory):
                shutil.rmtree(entry.directory, ignore_errors=True)


def _files(folder: Path) -> list[Path]:
    """Return the entries of a folder, the newest first."""
    timed = []
    for file in folder.glob("*.json"):
        with suppress(OSError):
            timed.append((file.stat().st_mtime, file))
    return [file for _, file in sorted(timed, reverse=True)]


def _folder() -> Path:
    """Create and return the folder of this user's list; nobody else may write it.

    Raises:
        OSError: the folder belongs to another user, or cannot be created.
    """
    folder = _candidates()[0]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(folder):
        message = f"{folder} belongs to another user"
        raise PermissionError(message)
    return folder


def _folders() -> list[Path]:
    return [folder for folder in _candidates() if _is_own(folder)]


def _candidates() -> list[Path]:
    """Return the folders that may have a list: programs without a login have no XDG_RUNTIME_DIR."""
    given = os.environ.get("XDG_RUNTIME_DIR")
    roots = [Path(given)] if given and Path(given).is_dir() else []
    found = [root / "streamtable-jobs" for root in roots]
    found.append(Path(tempfile.gettempdir()) / f"streamtable-jobs-{os.getuid()}")
    found.append(Path(f"/run/user/{os.getuid()}/streamtable-jobs"))
    return found


def _is_own(folder: Path) -> bool:
    """Whether a folder is this user's, and no other user may write to it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    writable = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not writable
