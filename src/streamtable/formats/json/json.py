"""The `json` format: one object per record, with Flink's options and spelling."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import BOOLEAN, TEXT, choice
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import CHARACTER, Root
from streamtable.formats.types import walk

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import DataType, Field


class TimestampStandard(Enum):
    """Format of timestamps: `2020-01-01 12:00:00` or `2020-01-01T12:00:00`."""

    SQL = "SQL"
    ISO_8601 = "ISO-8601"


class MapNullKeyMode(Enum):
    """Handling of null keys of a map, which json cannot represent."""

    FAIL = "FAIL"
    DROP = "DROP"
    LITERAL = "LITERAL"


FAIL_ON_MISSING_FIELD = Option(
    "fail-on-missing-field",
    BOOLEAN,
    default=False,
    doc="Whether a missing field is a parse error.",
)
IGNORE_PARSE_ERRORS = Option(
    "ignore-parse-errors",
    BOOLEAN,
    default=False,
    doc="Whether records that cannot be parsed are skipped and single fields become null. Both"
    " are counted.",
)
TIMESTAMP_FORMAT = Option(
    "timestamp-format.standard",
    choice(TimestampStandard),
    default=TimestampStandard.SQL,
    doc="How timestamps are read and written.",
    encodes=True,
)
MAP_NULL_KEY_MODE = Option(
    "map-null-key.mode",
    choice(MapNullKeyMode),
    default=MapNullKeyMode.FAIL,
    doc="Handling of null map keys: fail, drop the entry, or write the literal.",
    encodes=True,
)
MAP_NULL_KEY_LITERAL = Option(
    "map-null-key.literal",
    TEXT,
    default="null",
    doc="Literal for null map keys if 'map-null-key.mode' is LITERAL.",
    encodes=True,
)
DECIMAL_AS_PLAIN_NUMBER = Option(
    "encode.decimal-as-plain-number",
    BOOLEAN,
    default=False,
    doc="Whether decimals are written without scientific notation.",
    encodes=True,
)
IGNORE_NULL_FIELDS = Option(
    "encode.ignore-null-fields",
    BOOLEAN,
    default=False,
    doc="Whether null fields are omitted.",
    encodes=True,
)
JSON_PARSER_ENABLED = Option(
    "decode.json-parser.enabled",
    BOOLEAN,
    default=True,
    doc="Selects one of Flink's two parsers. Here one parser serves both values.",
)


def _one_way_of_errors(settings: Settings, table: str) -> None:
    if settings[FAIL_ON_MISSING_FIELD] and settings[IGNORE_PARSE_ERRORS]:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(IGNORE_PARSE_ERRORS),
            reason=f"table {table} sets both '{settings.written(FAIL_ON_MISSING_FIELD.key)}' and"
            f" '{settings.written(IGNORE_PARSE_ERRORS.key)}', which exclude each other",
            hint="keep one of them",
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
    """JSON objects; insert-only, because they have no row kind."""

    identifier: str = "json"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = True
    projects_rows: bool = True
    is_line: bool = True

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from objects; names are case-sensitive, unknown ones are skipped."""
        check_columns(fields)
        return Codec("json.JsonDecoder", fields, reading(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to objects in the order of the columns."""
        check_columns(fields)
        return Codec("json.JsonEncoder", fields, writing(settings))

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]


def reading(settings: Settings) -> dict[str, str]:
    """Return the parameters of a Java decoder of JSON, for every format based on json."""
    return {
        "failOnMissingField": _flag(settings[FAIL_ON_MISSING_FIELD]),
        "ignoreParseErrors": _flag(settings[IGNORE_PARSE_ERRORS]),
        "isoTimestamps": _flag(settings[TIMESTAMP_FORMAT] is TimestampStandard.ISO_8601),
    }


def writing(settings: Settings) -> dict[str, str]:
    """Return the parameters of a Java encoder of JSON, for every format based on json."""
    return {
        "ignoreNullFields": _flag(settings[IGNORE_NULL_FIELDS]),
        "plainDecimals": _flag(settings[DECIMAL_AS_PLAIN_NUMBER]),
        "isoTimestamps": _flag(settings[TIMESTAMP_FORMAT] is TimestampStandard.ISO_8601),
        "mapNullKeys": settings[MAP_NULL_KEY_MODE].value,
        "mapNullKeyLiteral": settings[MAP_NULL_KEY_LITERAL],
    }


def check_columns(fields: tuple[Field, ...]) -> None:
    """Raise UNSUPPORTED_TYPE for a column that JSON cannot represent."""
    walk(fields, _check)


def _flag(value: bool) -> str:
    return str(value).lower()


def _check(found: DataType) -> str | None:
    if found.root is Root.BITMAP:
        return "json has no sets of integers; write BITMAP_TO_BYTES(...) to a column of BYTES"
    key = found.element if found.root is Root.MULTISET else found.key
    if found.root in (Root.MAP, Root.MULTISET) and key and key.root not in CHARACTER:
        return "json supports only string keys"
    return None


JSON = JsonFormat()
