"""Formats by the value of `format`, `key.format` and `value.format`.

Formats are the entry points of the group `streamtable.formats`, in this package and in others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from streamtable.connector_api.registry import EntryPoints
from streamtable.core.errors import Condition, StreamtableError, closest

if TYPE_CHECKING:
    from streamtable.connector_api.format import Format
    from streamtable.core.errors import Span

FORMATS: Mapping[str, Format] = EntryPoints("streamtable.formats", "format")

#: Formats of Flink that are not supported; some are for other schema registries.
NOT_YET = (
    "avro-glue",
    "json-glue",
    "orc",
)


#: Formats of whole files; they cannot encode a single record.
OF_FILES = ("parquet",)


def find_format(name: str, table: str, at: Span | None = None) -> Format:
    """Find a format by name.

    Raises:
        StreamtableError: NOT_YET for a format of Flink that is not supported, or a format of files
            only; otherwise UNKNOWN_FORMAT.
    """
    if name in FORMATS:
        return FORMATS[name]
    known = ", ".join(FORMATS)
    if name in NOT_YET:
        raise StreamtableError(
            Condition.NOT_YET, at=at, hint=f"there are {known}", what=f"format '{name}'"
        )
    if name in OF_FILES:
        what = f"format '{name}' of anything but files"
        raise StreamtableError(Condition.NOT_YET, at=at, hint=f"there are {known}", what=what)
    hint = closest(name, (*FORMATS, *NOT_YET)) or f"there are {known}"
    raise StreamtableError(Condition.UNKNOWN_FORMAT, at=at, hint=hint, table=table, format=name)
