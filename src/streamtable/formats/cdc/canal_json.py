"""The `canal-json` format: change events as Canal writes them, with several rows per event."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from streamtable.core import types as t
from streamtable.core.option_kinds import Kind
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import Field
from streamtable.formats.cdc.change_events import JSON_OPTIONS, ChangeEvents

if TYPE_CHECKING:
    from streamtable.core.options import Settings


#: Messages of Python's compiler for syntax that Java may support and Python does not.
_JAVA_ONLY = ("bad escape", "unknown extension")


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        if not error.msg.startswith(_JAVA_ONLY):
            raise ValueError(text) from None
    return text


_PATTERN: Kind[str] = Kind("String", "a regular expression", _pattern)

DATABASE_INCLUDE = Option(
    "database.include",
    _PATTERN,
    doc="Java regular expression of the databases to read.",
    decodes=True,
)
TABLE_INCLUDE = Option(
    "table.include",
    _PATTERN,
    doc="Java regular expression of the tables to read.",
    decodes=True,
)


class CanalJson(ChangeEvents):
    """Envelopes with `data`, `old` and `type`; Canal writes no keys, so a key is plain json."""

    def reading_more(self, settings: Settings) -> dict[str, str]:
        """Return the filters of databases and tables."""
        wanted = {
            "databaseInclude": settings.get(DATABASE_INCLUDE),
            "tableInclude": settings.get(TABLE_INCLUDE),
        }
        return {name: text for name, text in wanted.items() if text is not None}


CANAL_JSON = CanalJson(
    identifier="canal-json",
    options=OptionSet("format 'canal-json'", (*JSON_OPTIONS, DATABASE_INCLUDE, TABLE_INCLUDE)),
    metadata=(
        Field("database", t.STRING),
        Field("table", t.STRING),
        Field("sql-type", t.map_of(t.STRING, t.INT)),
        Field("pk-names", t.array(t.STRING)),
        Field("ingestion-timestamp", t.timestamp_ltz(3)),
        Field("event-timestamp", t.timestamp_ltz(3)),
    ),
    style="canal",
    java_decoder="changeevents.CanalJsonDecoder",
)
