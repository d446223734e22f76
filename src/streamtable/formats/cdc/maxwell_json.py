"""The `maxwell-json` format: change events as Maxwell's daemon writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option, OptionSet
from streamtable.core.types import Field
from streamtable.formats.cdc.change_events import JSON_OPTIONS, ChangeEvents

if TYPE_CHECKING:
    from streamtable.core.codec import Codec
    from streamtable.core.options import Settings

DATABASE = Option(
    "database", TEXT, doc="Database name in written keys. Not in Flink.", encodes=True
)
TABLE = Option("table", TEXT, doc="Table name in written keys. Not in Flink.", encodes=True)


class MaxwellJson(ChangeEvents):
    """Envelopes with `data`, `old` and `type`.

    A key has the form `{"database":"db","table":"t","pk.id":1}`: Maxwell's `kafka_key_format`
    `hash`.
    """

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from a key to columns; it skips the key's database and table."""
        return super().decoder(_of_key(fields), settings)

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to a key, with the names of a database and a table."""
        named = {option.key: settings.get(option) for option in (DATABASE, TABLE)}
        for option, name in named.items():
            if name is None:
                raise StreamtableError(
                    Condition.MISSING_OPTION,
                    hint=f"add 'key.maxwell-json.{option}' = '...'",
                    table="whose keys are to be written",
                    option=f"key.maxwell-json.{option}",
                    owner="format 'maxwell-json'",
                )
        codec = super().encoder(_of_key(fields), settings)
        opening = json.dumps(named, separators=(",", ":"), ensure_ascii=False)[:-1] + ","
        return replace(codec, parameters={**codec.parameters, "opening": opening, "closing": ""})


def _of_key(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field(f"pk.{f.name}", f.type) for f in fields)


MAXWELL_JSON = MaxwellJson(
    identifier="maxwell-json",
    options=OptionSet("format 'maxwell-json'", (*JSON_OPTIONS, DATABASE, TABLE)),
    metadata=(
        Field("database", t.STRING),
        Field("table", t.STRING),
        Field("primary-key-columns", t.array(t.STRING)),
        Field("ingestion-timestamp", t.timestamp_ltz(3)),
    ),
    style="maxwell",
    java_decoder="changeevents.MaxwellJsonDecoder",
)
