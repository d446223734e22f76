"""History of typed statements, in a file of the user."""

from __future__ import annotations

import os
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from streamtable.core.secrets import is_secret


class SqlHistory(FileHistory):
    """History file without statements that name a secret, such as a password of a cluster."""

    def store_string(self, string: str) -> None:
        """Append a statement to the file."""
        if not is_secret(string):
            super().store_string(string)


def history_in(file: Path | None) -> History:
    """Return the history of a file; without one, the history ends with the shell.

    A file that cannot be written is the same as none.
    """
    place = file or default_file()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return SqlHistory(str(place))


def default_file() -> Path:
    """Return the history file of the user, below `XDG_STATE_HOME`."""
    return _home("XDG_STATE_HOME", ".local/state") / "streamtable" / "sql_history"


def default_init() -> Path:
    """Return the init file of the user, below `XDG_CONFIG_HOME`."""
    return _home("XDG_CONFIG_HOME", ".config") / "streamtable" / "init.sql"


def _home(variable: str, otherwise: str) -> Path:
    given = os.environ.get(variable)
    return Path(given) if given else Path.home() / otherwise
