"""Lines of a job as JSON, one object per line, for programs that collect logs."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import Any

from streamtable.cli.status import StatusLine, status
from streamtable.core.errors import Condition, StreamtableError, singles
from streamtable.core.secrets import masked, without_secrets

#: Interval of the status, in seconds.
_STATUS_S = 60.0

#: A condition at the beginning of a notice.
_CONDITION = re.compile(r"([A-Z][A-Z_]+): ")


class JsonLines(StatusLine):
    """Writes notices, the status and errors as JSON objects with the same keys.

    `time` (ISO 8601, UTC), `level` (`INFO`, `WARNING` or `ERROR`), `logger`, `message` and
    `condition` (null without an error condition). A status also has `metrics`, an error `at`: its
    place in the script, or null.
    """

    def __post_init__(self) -> None:
        self._next = self.clock() + _STATUS_S

    def tick(self) -> None:
        """Write the status if its interval has passed."""
        if self.clock() >= self._next:
            self._next = self.clock() + _STATUS_S
            values = self.values()
            self._write("INFO", "streamtable.status", status(values), None, metrics=values)

    def notice(self, line: str) -> None:
        """Write a line of the job."""
        found = _CONDITION.match(line)
        name = found[1] if found and found[1] in Condition.__members__ else None
        self._write("WARNING" if name else "INFO", "streamtable", line, name)

    def error(self, error: Exception, text: str) -> None:
        """Write the error that ends the command.

        Args:
            error: the error; several errors become several lines.
            text: the message of an error that is not the user's.
        """
        if not isinstance(error, StreamtableError):
            self._write("ERROR", "streamtable", text, None, at=None)
            return
        for each in singles(error):
            at = None if each.at is None else str(each.at)
            self._write("ERROR", "streamtable", str(each), each.condition.name, at=at)

    def clear(self) -> None:
        """Do nothing: no line is replaced."""

    def _write(
        self, level: str, logger: str, message: str, condition: str | None, **more: Any
    ) -> None:
        moment = datetime.fromtimestamp(time.time(), UTC)
        line = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": level,
            "logger": logger,
            "message": without_secrets(message),
            "condition": condition,
            **masked(more),
        }
        self.out.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.out.flush()
