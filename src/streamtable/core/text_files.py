"""Text files that a user names."""

from __future__ import annotations

from pathlib import Path

from streamtable.core.errors import Condition, Span, StreamtableError


def read_text(path: Path, hint: str, at: Span | None = None) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Args:
        path: the file.
        hint: what to do if the file cannot be read.
        at: the place that names the file.

    Raises:
        StreamtableError: FILE_UNREADABLE.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason: object = error.strerror
    except UnicodeDecodeError as error:
        reason, hint = f"it is not UTF-8 at byte {error.start}", "save the file as UTF-8"
    raise StreamtableError(Condition.FILE_UNREADABLE, at=at, path=path, reason=reason, hint=hint)
