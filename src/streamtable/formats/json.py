"""The `json` format: one object per record, with Flink's options and spelling."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import BOOLEAN, TEXT, Option, OptionSet, choice
from streamtable.core.types import CHARACTER, Root
from streamtable.formats.types import walk

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field


class TimestampStandard(Enum):
    """How a timestamp reads: `2020-01-01 12:00:00` or `2020-01-01T12:00:00`."""

    SQL = "SQL"
    ISO_8601 = "ISO-8601"


class MapNullKeyMode(Enum):
    """What becomes of a null key of a map, which json cannot write."""

    FAIL = "FAIL"
    DROP = "DROP"
    LITERAL = "LITERAL"


FAIL_ON_MISSING_FIELD = Option(
    "fail-on-missing-field",
    BOOLEAN,
    default=False,
    doc="Whether a record that lacks a column's field is one that does not parse.",
)
IGNORE_PARSE_ERRORS = Option(
    "ignore-parse-errors",
    BOOLEAN,
    default=False,
    doc="Whether records that do not parse are skipped, and single fields become null; counted.",
)
TIMESTAMP_FORMAT = Option(
    "timestamp-format.standard",
    choice(TimestampStandard),
    default=TimestampStandard.SQL,
    doc="How timestamps are read and written.",
)
MAP_NULL_KEY_MODE = Option(
    "map-null-key.mode",
    choice(MapNullKeyMode),
    default=MapNullKeyMode.FAIL,
    doc="What becomes of a map's null key: an error, an entry less, or the literal.",
)
MAP_NULL_KEY_LITERAL = Option(
    "map-null-key.literal",
    TEXT,
    default="null",
    doc="Written for a null key where 'map-null-key.mode' is LITERAL.",
)
DECIMAL_AS_PLAIN_NUMBER = Option(
    "encode.decimal-as-plain-number",
    BOOLEAN,
    default=False,
    doc="Whether decimals are never written as 2.7E-8.",
)
IGNORE_NULL_FIELDS = Option(
    "encode.ignore-null-fields",
    BOOLEAN,
    default=False,
    doc="Whether null fields are left out of the object.",
)
JSON_PARSER_ENABLED = Option(
    "decode.json-parser.enabled",
    BOOLEAN,
    default=True,
    doc="Which of Flink's two parsers is meant; one parser serves both values here.",
)


def _one_way_of_errors(settings: Settings, table: str) -> None:
    if settings[FAIL_ON_MISSING_FIELD] and settings[IGNORE_PARSE_ERRORS]:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(IGNORE_PARSE_ERRORS),
            reason=f"table {table} sets both '{FAIL_ON_MISSING_FIELD.key}' and"
            f" '{IGNORE_PARSE_ERRORS.key}', which exclude each other",
        )


_OPTIONS = OptionSet(
    "format 'json'",
    (
        FAIL_ON_MISSING_FIELD,
        IGNORE_PARSE_ERRORS,
        TIMESTAMP_FORMAT,
        MAP_NULL_KEY_MODE,
        MAP_NULL_KEY_LITERAL,
        DECIMAL_AS_PLAIN_NUMBER,
        IGNORE_NULL_FIELDS,
        JSON_PARSER_ENABLED,
    ),
    rules=(_one_way_of_errors,),
)


@dataclass(frozen=True)
class JsonFormat:
    """JSON objects; insert-only, they carry no row kind of their own."""

    identifier: str = "json"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = True

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Objects -> columns; names are case-sensitive, unknown ones skipped."""
        check_columns(fields)
        return Codec("JsonDecoder", fields, reading(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Columns -> objects in the order of the columns."""
        check_columns(fields)
        return Codec("JsonEncoder", fields, writing(settings))

    def skips_errors(self, settings: Settings) -> bool:
        """As `ignore-parse-errors` says."""
        return settings[IGNORE_PARSE_ERRORS]


def reading(settings: Settings) -> dict[str, str]:
    """The parameters of a Java decoder of JSON, whichever of the options its format has."""
    return {
        "failOnMissingField": _flag(settings[FAIL_ON_MISSING_FIELD]),
        "ignoreParseErrors": _flag(settings[IGNORE_PARSE_ERRORS]),
        "isoTimestamps": _flag(settings[TIMESTAMP_FORMAT] is TimestampStandard.ISO_8601),
    }


def writing(settings: Settings) -> dict[str, str]:
    """The parameters of a Java encoder of JSON, likewise."""
    return {
        "ignoreNullFields": _flag(settings[IGNORE_NULL_FIELDS]),
        "plainDecimals": _flag(settings[DECIMAL_AS_PLAIN_NUMBER]),
        "isoTimestamps": _flag(settings[TIMESTAMP_FORMAT] is TimestampStandard.ISO_8601),
        "mapNullKeys": settings[MAP_NULL_KEY_MODE].value,
        "mapNullKeyLiteral": settings[MAP_NULL_KEY_LITERAL],
    }


def check_columns(fields: tuple[Field, ...]) -> None:
    """UNSUPPORTED_TYPE for a column that JSON cannot hold."""
    walk(fields, _check)


def _flag(value: bool) -> str:
    return str(value).lower()


def _check(found: DataType) -> str | None:
    key = found.element if found.root is Root.MULTISET else found.key
    if found.root in (Root.MAP, Root.MULTISET) and key and key.root not in CHARACTER:
        return "json has text keys only"
    return None
