"""What the JSON formats of change events have in common.

Each wraps rows of the json format into an envelope that says what happened to them. An update is
written as a delete and an insert, as Flink writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.core.changelog import RETRACT
from streamtable.core.codec import Codec
from streamtable.formats.json import (
    DECIMAL_AS_PLAIN_NUMBER,
    IGNORE_NULL_FIELDS,
    IGNORE_PARSE_ERRORS,
    MAP_NULL_KEY_LITERAL,
    MAP_NULL_KEY_MODE,
    TIMESTAMP_FORMAT,
    check_columns,
    reading,
    writing,
)

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import OptionSet, Settings
    from streamtable.core.types import Field

#: Options of json that every format of change events has, too.
JSON_OPTIONS = (
    IGNORE_PARSE_ERRORS,
    TIMESTAMP_FORMAT,
    MAP_NULL_KEY_MODE,
    MAP_NULL_KEY_LITERAL,
    DECIMAL_AS_PLAIN_NUMBER,
    IGNORE_NULL_FIELDS,
)


@dataclass(frozen=True, kw_only=True)
class ChangeEvents:
    """A JSON format of change events; as a key format it is plain json unless a subclass differs.

    Attributes:
        style: the envelope that the Java encoder writes.
        java_decoder: the Java class that reads it.
    """

    identifier: str
    options: OptionSet
    metadata: tuple[Field, ...]
    style: str
    java_decoder: str
    mode: ChangelogMode = RETRACT
    projectable: bool = True

    def change_decoder(
        self, fields: tuple[Field, ...], metadata: tuple[str, ...], settings: Settings
    ) -> Codec:
        """Events -> changes of the columns; names are case-sensitive, unknown ones skipped."""
        check_columns(fields)
        parameters = {**reading(settings), **self.reading_more(settings)}
        return Codec(self.java_decoder, fields, parameters | {"metadata": " ".join(metadata)})

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Changes -> events."""
        check_columns(fields)
        return Codec("ChangeJsonEncoder", fields, {**writing(settings), "style": self.style})

    def reading_more(self, settings: Settings) -> dict[str, str]:  # noqa: ARG002
        """Parameters of the Java decoder beyond those of json."""
        return {}

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """A message's key -> columns."""
        check_columns(fields)
        return Codec("JsonDecoder", fields, reading(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Columns -> a message's key."""
        check_columns(fields)
        return Codec("JsonEncoder", fields, writing(settings))

    def skips_errors(self, settings: Settings) -> bool:
        """As `ignore-parse-errors` says."""
        return settings[IGNORE_PARSE_ERRORS]
