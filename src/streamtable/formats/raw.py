"""The `raw` format: one column, whose bytes are the record's."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Kind, Option, OptionSet, choice
from streamtable.core.types import APPROXIMATE, BYTES_ROOTS, CHARACTER, INTEGERS, Root
from streamtable.formats.types import walk

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field


class Endianness(Enum):
    """Which byte of a number comes first: its highest or its lowest."""

    BIG = "big-endian"
    LITTLE = "little-endian"


def _charset(text: str) -> str:
    # What Python does not know either is a slip of the pen; Java has the last word.
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
    doc="How texts are read and written.",
)
ENDIANNESS = Option(
    "endianness",
    choice(Endianness),
    default=Endianness.BIG,
    doc="Which byte of a number comes first.",
)

_OPTIONS = OptionSet("format 'raw'", (CHARSET, ENDIANNESS))
#: What has bytes of its own.
HELD = frozenset({Root.BOOLEAN, *CHARACTER, *BYTES_ROOTS, *INTEGERS, *APPROXIMATE})


@dataclass(frozen=True)
class RawFormat:
    """One value without any frame; insert-only."""

    identifier: str = "raw"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False  # there is nothing to choose from

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Bytes -> the column."""
        return Codec("RawDecoder", fields, _parameters(fields, settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """The column -> bytes; null is a record without a value."""
        return Codec("RawEncoder", fields, _parameters(fields, settings))

    def skips_errors(self, settings: Settings) -> bool:  # noqa: ARG002
        """Never: Flink's raw has no such option."""
        return False


def _parameters(fields: tuple[Field, ...], settings: Settings) -> dict[str, str]:
    if len(fields) != 1:
        names = ", ".join(field.name for field in fields) or "none"
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            reason=f"format 'raw' holds exactly one column, found {names}",
            hint="'value.fields-include' = 'EXCEPT_KEY' leaves columns of the key out of the value",
        )
    walk(fields, _check)
    return {
        "charset": settings[CHARSET],
        "littleEndian": str(settings[ENDIANNESS] is Endianness.LITTLE).lower(),
    }


def _check(found: DataType) -> str | None:
    return None if found.root in HELD else "raw has no bytes for it"
