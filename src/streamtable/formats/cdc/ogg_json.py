"""The `ogg-json` format: change events as Oracle GoldenGate writes them."""

from __future__ import annotations

from streamtable.core import types as t
from streamtable.core.options import OptionSet
from streamtable.core.types import Field
from streamtable.formats.cdc.change_events import JSON_OPTIONS, ChangeEvents

OGG_JSON = ChangeEvents(
    identifier="ogg-json",
    options=OptionSet("format 'ogg-json'", JSON_OPTIONS),
    metadata=(
        Field("table", t.STRING),
        Field("primary-keys", t.array(t.STRING)),
        Field("ingestion-timestamp", t.timestamp_ltz(6)),
        Field("event-timestamp", t.timestamp_ltz(6)),
    ),
    style="ogg",
    java_decoder="changeevents.OggJsonDecoder",
)
