"""Compare change events with recorded answers of a real Flink: tests/compat/formats."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from streamtable.core import types as t
from streamtable.core.changelog import RowKind
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS

COMPAT = Path(__file__).parents[2] / "compat" / "formats"
RECORDED = json.loads((COMPAT / "changes-flink-2.2.0.json").read_text(encoding="utf-8"))
ANSWERS = {answer["id"]: answer for answer in RECORDED["cases"]}
KINDS = {kind.value: kind.short for kind in RowKind}


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("compat_change_cases", COMPAT / "change_cases.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = _cases()


class Events:
    """The Java decoder and encoders of one case."""

    def __init__(self, spark: Any, case: Any) -> None:
        found = FORMATS[case.format]
        given = {key: Given(text) for key, text in case.options.items()}
        settings = found.options.read(given, "t")
        self.jvm = spark._jvm
        make: Any = self.jvm.io.streamtable.codec.Codecs
        names = {field.name: field for field in found.metadata}
        produced = (*case.columns, *(names[key] for key in case.metadata))
        codec = found.change_decoder(case.columns, case.metadata, settings)
        self.decoder = make.changeDecoder(
            codec.java_class, codec.schema_ddl, dict(codec.parameters)
        )
        reading = {**given, "schema-include": Given("false")}
        if case.format != "debezium-json":
            del reading["schema-include"]
        codec = found.change_encoder(case.columns, found.options.read(reading, "t"))
        self.encoder = make.encoder(codec.java_class, codec.schema_ddl, dict(codec.parameters))
        iso = {k: v for k, v in given.items() if k == "timestamp-format.standard"}
        codec = FORMATS["json"].encoder(
            (Field("kind", t.TINYINT), *produced), FORMATS["json"].options.read(iso, "t")
        )
        self.json = make.encoder(codec.java_class, codec.schema_ddl, dict(codec.parameters))
        self.width = len(case.columns)

    def rows(self, value: bytes) -> list[Any]:
        found = self.decoder.decode(value)
        return [] if found is None else list(found)

    def shown(self, row: Any) -> tuple[str, str]:
        """Return the kind of the row, and the other fields as JSON."""
        text = bytes(self.json.encode(row)).decode()
        kind, rest = re.fullmatch(r'\{"kind":(\d),(.*)', text, re.DOTALL).groups()
        return KINDS[int(kind)], "{" + rest

    def event(self, row: Any) -> str:
        """Return the event that the encoder writes for the row."""
        make = self.jvm.org.apache.spark.sql.catalyst.expressions.GenericInternalRow
        arrays = self.jvm.java.util.Arrays
        change = arrays.copyOfRange(row.values(), 0, 2)
        change[1] = make(arrays.copyOfRange(row.values(), 1, 1 + self.width))
        return bytes(self.encoder.encode(make(change))).decode()


def _plain(rows: list[tuple[str, str]]) -> list[tuple[str, Any]]:
    """Parse the JSON, as entries of a map have no order: Flink's have that of its HashMap."""
    return [(kind, json.loads(text)) for kind, text in rows]


@pytest.mark.parametrize("case", CASES.all_cases(), ids=lambda case: case.id)
def test_change_event(spark: Any, case: Any) -> None:
    recorded = ANSWERS[case.id]
    assert recorded["type"] == case.row_type, "recorded of other columns: run record_changes.py"
    assert base64.b64decode(recorded["value"]) == case.value
    assert recorded["options"] == case.options
    flink = recorded["answer"].get("rows")
    events = Events(spark, case)
    try:
        rows = events.rows(case.value)
    except Py4JJavaError as error:
        assert "DecodeException" in str(error.java_exception)
        # Flink skips such an event silently; streamtable counts the event.
        if case.options.get("ignore-parse-errors") == "true":
            assert flink == []
        else:
            assert case.ours == CASES.FAULT or (flink is None and case.ours is None)
        return
    found = [events.shown(row) for row in rows]
    if case.ours is not None:
        assert found == case.ours
        assert found != [(row["kind"], row["json"]) for row in flink or ()], "no difference left"
        return
    assert flink is not None, f"Flink refuses it: {recorded['answer']['error']}"
    expected = [(row["kind"], row["json"]) for row in flink]
    if case.metadata:
        assert _plain(found) == _plain(expected)
    else:
        assert found == expected
        assert [events.event(row) for row in rows] == [row["event"] for row in flink]
