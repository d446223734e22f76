"""Formats by the name that `format`, `key.format` and `value.format` give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.formats.avro import AvroFormat
from streamtable.formats.avro_confluent import AvroConfluentFormat
from streamtable.formats.canal_json import CANAL_JSON
from streamtable.formats.csv import CsvFormat
from streamtable.formats.debezium_json import DEBEZIUM_JSON
from streamtable.formats.json import JsonFormat
from streamtable.formats.maxwell_json import MAXWELL_JSON
from streamtable.formats.raw import RawFormat

if TYPE_CHECKING:
    from streamtable.core.errors import Span
    from streamtable.formats.base import Format

_THERE: tuple[Format, ...] = (
    JsonFormat(),
    AvroFormat(),
    AvroConfluentFormat(),
    CsvFormat(),
    RawFormat(),
    DEBEZIUM_JSON,
    CANAL_JSON,
    MAXWELL_JSON,
)
FORMATS: dict[str, Format] = {found.identifier: found for found in _THERE}

#: Flink has them, we will.
NOT_YET = ("protobuf",)


def find_format(name: str, table: str, at: Span | None = None) -> Format:
    """The format of that name.

    Raises:
        StreamtableError: NOT_YET for one of Flink's that is not there, else UNKNOWN_FORMAT.
    """
    if name in FORMATS:
        return FORMATS[name]
    known = ", ".join(FORMATS)
    if name in NOT_YET:
        raise StreamtableError(
            Condition.NOT_YET, at=at, hint=f"there are {known}", what=f"format '{name}'"
        )
    hint = closest(name, (*FORMATS, *NOT_YET)) or f"there are {known}"
    raise StreamtableError(Condition.UNKNOWN_FORMAT, at=at, hint=hint, table=table, format=name)
