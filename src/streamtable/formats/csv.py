"""The `csv` format: one line per record, with fields in the order of the columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, TEXT, Kind
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import BYTES_ROOTS, CHARACTER, NUMERIC, TIMESTAMPS, Root
from streamtable.formats.types import unsupported

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field

_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _character(text: str) -> str:
    if len(text) != 1 or ord(text) > 0xFFFF:
        raise ValueError(text)
    return text


def _escaped_character(text: str) -> str:
    r"""Parse one character, which may have Java's escapes: `\t`, `\u0001`, `\\`."""

    def meant(escape: re.Match[str]) -> str:
        code = escape[1]
        if code[0] == "u" and len(code) > 1:
            return chr(int(code.lstrip("u"), 16))
        return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPES.get(code, code)

    return _character(re.sub(r"\\(u+[0-9A-Fa-f]{4}|[0-3]?[0-7]{1,2}|.)", meant, text))


_CHARACTER: Kind[str] = Kind("String", "a single character", _character)

DELIMITER = Option(
    "field-delimiter",
    Kind("String", "a single character, or one spelled as \\t or \\u0001", _escaped_character),
    default=",",
    doc="Field delimiter.",
    encodes=True,
    decodes=True,
)
NO_QUOTES = Option(
    "disable-quote-character",
    BOOLEAN,
    default=False,
    doc="Whether quoting is disabled; strings with delimiters are then written unquoted.",
    encodes=True,
    decodes=True,
)
QUOTE = Option(
    "quote-character", _CHARACTER, default='"', doc="Quote character.", encodes=True, decodes=True
)
COMMENTS = Option(
    "allow-comments",
    BOOLEAN,
    default=False,
    doc="Whether blank lines and lines that start with # are skipped.",
)
IGNORE_PARSE_ERRORS = Option(
    "ignore-parse-errors",
    BOOLEAN,
    default=False,
    doc="Whether records that cannot be parsed are skipped and single fields become null. Both"
    " are counted.",
)
ARRAY_DELIMITER = Option(
    "array-element-delimiter",
    _CHARACTER,
    default=";",
    doc="Delimiter of the elements of an array or a row.",
    encodes=True,
    decodes=True,
)
ESCAPE = Option("escape-character", _CHARACTER, doc="Escape character.", encodes=True, decodes=True)
NULL_LITERAL = Option(
    "null-literal", TEXT, doc="String that represents null.", encodes=True, decodes=True
)
SCIENTIFIC = Option(
    "write-bigdecimal-in-scientific-notation",
    BOOLEAN,
    default=False,
    doc="Whether decimals are written in scientific notation (2.7E-8) and without trailing zeros.",
    encodes=True,
)


def _one_way_of_quotes(settings: Settings, table: str) -> None:
    if settings[NO_QUOTES] and settings.has(QUOTE):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(QUOTE),
            reason=f"table {table} sets both '{settings.written(NO_QUOTES.key)}' and"
            f" '{settings.written(QUOTE.key)}'",
            hint="keep one of them",
        )


_OPTIONS = OptionSet(
    "format 'csv'",
    (
        DELIMITER,
        NO_QUOTES,
        QUOTE,
        COMMENTS,
        IGNORE_PARSE_ERRORS,
        ARRAY_DELIMITER,
        ESCAPE,
        NULL_LITERAL,
        SCIENTIFIC,
    ),
    rules=(_one_way_of_quotes,),
)


@dataclass(frozen=True)
class CsvFormat:
    """Lines of fields; insert-only, because they have no row kind."""

    identifier: str = "csv"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False  # fields are identified by position
    is_line: bool = True

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from lines to columns."""
        return Codec("csv.CsvDecoder", fields, _parameters(fields, settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to lines without a line end."""
        return Codec("csv.CsvEncoder", fields, _parameters(fields, settings))

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]


def _parameters(fields: tuple[Field, ...], settings: Settings) -> dict[str, str]:
    for field in fields:
        _check(field.type, field.name, nested=False)
    given = {
        "delimiter": settings[DELIMITER],
        "quote": "" if settings[NO_QUOTES] else settings[QUOTE],
        "escape": settings.get(ESCAPE) or "",
        "arrayDelimiter": settings[ARRAY_DELIMITER],
        "comments": str(settings[COMMENTS]).lower(),
        "ignoreErrors": str(settings[IGNORE_PARSE_ERRORS]).lower(),
        "scientific": str(settings[SCIENTIFIC]).lower(),
    }
    null = settings.get(NULL_LITERAL)
    return given if null is None else {**given, "nullLiteral": null}


_SIMPLE = CHARACTER | BYTES_ROOTS | NUMERIC | TIMESTAMPS | {Root.BOOLEAN, Root.DATE, Root.TIME}


def _check(found: DataType, column: str, *, nested: bool) -> None:
    """Check a type by Flink's rules: simple types, or top-level arrays and rows of them."""
    if found.root is Root.TIME and (found.precision or 0) > 3:
        raise unsupported(found, column, "csv keeps at most three fractional digits of a TIME")
    if found.root in _SIMPLE:
        return
    if nested or found.root not in (Root.ARRAY, Root.ROW):
        raise unsupported(
            found, column, "csv supports simple types, and arrays and rows of simple types"
        )
    if found.element is not None:
        _check(found.element, column, nested=True)
    for field in found.fields:
        _check(field.type, f"{column}.{field.name}", nested=True)


CSV = CsvFormat()
