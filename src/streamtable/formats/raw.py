"""The `raw` format: one column, whose bytes are the bytes of the record."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import Kind, choice
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import APPROXIMATE, BYTES_ROOTS, CHARACTER, INTEGERS, Root
from streamtable.formats.types import walk

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field


class Endianness(Enum):
    """Byte order of numbers: highest or lowest byte first."""

    BIG = "big-endian"
    LITTLE = "little-endian"


def _charset(text: str) -> str:
    # If Python does not know the charset either, it is a typing error. Java makes the final check.
    if not text.isascii():
        raise ValueError(text)
    try:
        codecs.lookup(text)
    except LookupError:
        raise ValueError(text) from None
    return text


CHARSET = Option(
    "charset",
    Kind("String", "a charset such as 'UTF-8' or 'ISO-8859-1'", _charset),
    default="UTF-8",
    doc="Charset of strings.",
    encodes=True,
    decodes=True,
)
ENDIANNESS = Option(
    "endianness",
    choice(Endianness),
    default=Endianness.BIG,
    doc="Byte order of numbers.",
    encodes=True,
    decodes=True,
)

_OPTIONS = OptionSet("format 'raw'", (CHARSET, ENDIANNESS))
#: Types with a byte representation.
HELD = frozenset({Root.BOOLEAN, *CHARACTER, *BYTES_ROOTS, *INTEGERS, *APPROXIMATE})


@dataclass(frozen=True)
class RawFormat:
    """One value without any frame; insert-only."""

    identifier: str = "raw"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False  # there is only one column

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from bytes to the column."""
        return Codec("raw.RawDecoder", fields, _parameters(fields, settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from the column to bytes; null becomes a record without a value."""
        return Codec("raw.RawEncoder", fields, _parameters(fields, settings))

    def skips_errors(self, settings: Settings) -> bool:  # noqa: ARG002
        """Return false: Flink's raw has no such option."""
        return False


def _parameters(fields: tuple[Field, ...], settings: Settings) -> dict[str, str]:
    if len(fields) != 1:
        names = ", ".join(field.name for field in fields) or "none"
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            reason=f"format 'raw' holds exactly one column, found {names}",
            hint="'value.fields-include' = 'EXCEPT_KEY' excludes key columns from the value",
        )
    walk(fields, _check)
    return {
        "charset": settings[CHARSET],
        "littleEndian": str(settings[ENDIANNESS] is Endianness.LITTLE).lower(),
    }


def _check(found: DataType) -> str | None:
    return None if found.root in HELD else "raw does not support this type"


RAW = RawFormat()
