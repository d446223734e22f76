"""Base class of the JSON formats of change events.

Each format puts rows of the json format into an envelope with the kind of change. An update is
written as a delete and an insert, as Flink does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtable.core.changelog import RETRACT
from streamtable.core.codec import Codec
from streamtable.formats.json.json import (
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

#: Options of json that every format of change events also has.
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
    """A JSON format of change events; its key format is plain json unless a subclass overrides it.

    Attributes:
        style: the envelope that the Java encoder writes.
        java_decoder: the Java class that reads the envelope.
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
        """Return the codec from events to changes.

        Names are case-sensitive; unknown names are skipped.
        """
        check_columns(fields)
        parameters = {**reading(settings), **self.reading_more(settings)}
        return Codec(self.java_decoder, fields, parameters | {"metadata": " ".join(metadata)})

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from changes to events."""
        check_columns(fields)
        return Codec(
            "changeevents.ChangeJsonEncoder", fields, {**writing(settings), "style": self.style}
        )

    def reading_more(self, settings: Settings) -> dict[str, str]:  # noqa: ARG002
        """Return parameters of the Java decoder in addition to those of json."""
        return {}

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from a message's key to columns."""
        check_columns(fields)
        return Codec("json.JsonDecoder", fields, reading(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to a message's key."""
        check_columns(fields)
        return Codec("json.JsonEncoder", fields, writing(settings))

    def skips_errors(self, settings: Settings) -> bool:
        """Return the value of `ignore-parse-errors`."""
        return settings[IGNORE_PARSE_ERRORS]
