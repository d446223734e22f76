"""Settings of results that are shown in a terminal."""

from __future__ import annotations

from enum import Enum

from streamtable.core.option_kinds import choice, integer
from streamtable.core.options import Option


class ResultMode(Enum):
    """Flink's `sql-client.execution.result-mode`."""

    TABLE = "table"
    CHANGELOG = "changelog"
    TABLEAU = "tableau"


RESULT_MODE = Option(
    "sql-client.execution.result-mode",
    choice(ResultMode),
    default=ResultMode.TABLEAU,
    doc="How a SELECT is shown: each change (`tableau`, `changelog`), or the final rows"
    " (`table`, bounded runs only).",
)

MAX_COLUMN_WIDTH = Option(
    "table.display.max-column-width",
    integer(minimum=1),
    default=30,
    doc="Maximum width of a SELECT column whose type has no fixed width.",
)

CLIENT_MAX_COLUMN_WIDTH = Option(
    "sql-client.display.max-column-width",
    integer(minimum=1),
    doc="Deprecated name of `table.display.max-column-width`, which takes precedence.",
)
