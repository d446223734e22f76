"""The `avro` format: one binary record without a header, with a schema derived from the columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from streamtable.core.changelog import APPEND
from streamtable.core.codec import Codec
from streamtable.core.option_kinds import BOOLEAN, choice
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import TIMESTAMPS
from streamtable.formats.avro.schema import avro_schema

if TYPE_CHECKING:
    from streamtable.core.changelog import ChangelogMode
    from streamtable.core.options import Settings
    from streamtable.core.types import Field


class Encoding(Enum):
    """Encodings of Avro."""

    BINARY = "binary"
    JSON = "json"


ENCODING = Option(
    "encoding",
    choice(Encoding),
    default=Encoding.BINARY,
    doc="Binary or json encoding of Avro.",
    encodes=True,
    decodes=True,
)
LEGACY_TIMESTAMPS = Option(
    "timestamp_mapping.legacy",
    BOOLEAN,
    default=True,
    doc="Whether TIMESTAMP maps to Avro's timestamp, as before Flink 1.19, instead of"
    " local-timestamp.",
    encodes=True,
    decodes=True,
)


_OPTIONS = OptionSet("format 'avro'", (ENCODING, LEGACY_TIMESTAMPS))


@dataclass(frozen=True)
class AvroFormat:
    """Avro records; insert-only, because they have no row kind."""

    identifier: str = "avro"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False  # fields must be decoded in order

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from records with exactly the columns' schema to columns."""
        return Codec("avro.AvroDecoder", fields, _parameters(fields, settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to records with their schema."""
        return Codec("avro.AvroEncoder", fields, _parameters(fields, settings))

    def skips_errors(self, settings: Settings) -> bool:  # noqa: ARG002
        """Return false: Flink's avro has no such option."""
        return False


def _parameters(fields: tuple[Field, ...], settings: Settings) -> dict[str, str]:
    legacy = settings.written(LEGACY_TIMESTAMPS.key)
    schema = avro_schema(
        fields,
        legacy_timestamps=settings[LEGACY_TIMESTAMPS],
        ways_out=dict.fromkeys(TIMESTAMPS, f"'{legacy}' = 'false' lifts this limit for the column"),
    )
    return {"schema": json.dumps(schema), "json": str(settings[ENCODING] is Encoding.JSON).lower()}


AVRO = AvroFormat()
