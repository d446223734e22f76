"""Options and metadata of each format are those that a real Flink declares, and a few of ours."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from streamtable.connector_api.format import ChangelogFormat
from streamtable.core.shown_options import documented
from streamtable.core.types import DataType
from streamtable.formats.registry import FORMATS

RECORDED = json.loads(
    (Path(__file__).parents[2] / "compat" / "formats" / "options-flink-2.2.0.json").read_text()
)["formats"]
#: Options of ours: names for message keys, which Flink has no option for because it writes no such
#: keys; and the schema of protobuf, which Flink finds on the class path.
OURS = {
    "debezium-json": {"schema-name"},
    "maxwell-json": {"database", "table"},
    "protobuf": {"schema", "descriptor-file"},
}
#: Formats that Flink does not have.
NOT_FLINKS = {"json-confluent", "protobuf-confluent"}
#: Flink declares the default `true`, but an option that is not set acts like `false`: without the
#: option, Flink's factory keeps the default of the serializer.
DEFAULTS = {("csv", "write-bigdecimal-in-scientific-notation"): "false"}


def test_every_format_is_recorded() -> None:
    assert set(RECORDED) | NOT_FLINKS == set(FORMATS)


@pytest.mark.parametrize("name", RECORDED)
def test_options(name: str) -> None:
    flink, ours = RECORDED[name]["options"], FORMATS[name].options
    assert set(ours.keys()) == set(flink) | OURS.get(name, set())
    shown = {key: default for key, _, default, _ in documented([ours])}
    for option in ours.options:
        if option.key in flink:
            assert_same(option, flink[option.key], DEFAULTS.get((name, option.key)))
            assert shown[option.key]


def assert_same(option: Any, flink: dict[str, Any], differs: str | None) -> None:
    default = option.default
    shown = getattr(default, "value", default)
    text = {True: "true", False: "false", None: None}.get(shown, shown)
    assert text == (flink["default"] if differs is None else differs), option.key
    assert option.required == flink["required"], option.key
    assert list(option.fallback_keys) == flink["fallbacks"], option.key


@pytest.mark.parametrize("name", RECORDED)
def test_metadata(name: str) -> None:
    found = FORMATS[name]
    ours = {f.name: flink_text(f.type) for f in found.metadata} if is_changes(found) else {}
    assert ours == RECORDED[name]["metadata"]


def is_changes(found: Any) -> bool:
    return isinstance(found, ChangelogFormat)


def flink_text(found: DataType) -> str:
    text = str(found).replace("STRING", "VARCHAR(2147483647)")
    return re.sub(r"TIMESTAMP_LTZ\((\d)\)", r"TIMESTAMP(\1) WITH LOCAL TIME ZONE", text)
