"""Compare the codecs with recorded answers of a real Flink: tests/compat/formats."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import sys
from pathlib import Path
from typing import Any

import fastavro
import pytest
from py4j.protocol import Py4JJavaError

from streamtable.core.errors import StreamtableError
from streamtable.core.types import Root
from streamtable.formats.avro.schema import avro_schema

COMPAT = Path(__file__).parents[2] / "compat" / "formats"
RECORDED = json.loads((COMPAT / "flink-2.2.0.json").read_text(encoding="utf-8"))
ANSWERS = {answer["id"]: answer for answer in RECORDED["cases"]}


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("compat_format_cases", COMPAT / "cases.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = _cases()


@pytest.mark.parametrize("case", CASES.all_cases(), ids=lambda case: case.id)
def test_json(codecs: Any, case: Any) -> None:
    recorded = ANSWERS[case.id]
    assert recorded["type"] == case.row_type, "recorded of other columns: run record.py again"
    assert base64.b64decode(recorded["value"]) == case.value
    assert recorded["options"] == case.options
    decoder = codecs.decoder("json", case.columns, case.options)
    encoder = codecs.encoder("json", case.columns, case.options)
    try:
        row = decoder.decode(case.value)
        found = [] if row is None else [bytes(encoder.encode(row)).decode()]
    except Py4JJavaError as error:
        assert "DecodeException" in str(error.java_exception)
        skips = case.options.get("ignore-parse-errors") == "true"
        found = [] if skips else None
    flink = recorded["answer"].get("json")
    if case.ours != CASES.SAME:
        assert found == {CASES.FAULT: None, CASES.LEFT_OUT: []}.get(case.ours, [case.ours])
        assert found != flink, "no difference left"
    elif has_map(case) and found:
        # Entries of a map have no order: Flink writes them in the order of its HashMap.
        assert [json.loads(text) for text in found] == [json.loads(text) for text in flink]
    else:
        assert found == flink


def has_map(case: Any) -> bool:
    return any(column.type.root in (Root.MAP, Root.MULTISET) for column in case.columns)


AVRO = [
    case
    for case in CASES.all_cases()
    if case.ours == CASES.SAME and len(ANSWERS[case.id]["answer"].get("json", [])) == 1
]


@pytest.mark.parametrize("case", AVRO, ids=lambda case: case.id)
def test_avro(codecs: Any, case: Any) -> None:
    answer = ANSWERS[case.id]["answer"]
    legacy = case.options.get("timestamp_mapping.legacy", "true") == "true"
    if "avro_schema" not in answer:
        with pytest.raises(StreamtableError):
            avro_schema(case.columns, legacy_timestamps=legacy)
        return
    schema = avro_schema(case.columns, legacy_timestamps=legacy)
    assert schema == json.loads(answer["avro_schema"])
    row = codecs.decoder("json", case.columns, case.options).decode(case.value)
    encoder = codecs.encoder("avro", case.columns, case.options)
    if "avro" not in answer:
        with pytest.raises(Py4JJavaError, match="NULL_IN_NOT_NULL_COLUMN"):
            encoder.encode(row)
        return
    written = bytes(encoder.encode(row))
    flink = base64.b64decode(answer["avro"])
    if case.avro_differs:
        assert written != flink, "no difference left"
    elif has_map(case):
        assert read(schema, written) == read(schema, flink)
    else:
        assert written == flink
    again = codecs.decoder("avro", case.columns, case.options).decode(written)
    assert bytes(encoder.encode(again)) == written


IN_JSON = [case for case in AVRO if "avro_json" in ANSWERS[case.id]["answer"]]


@pytest.mark.parametrize("case", IN_JSON, ids=lambda case: case.id)
def test_avro_in_json(codecs: Any, case: Any) -> None:
    flink = ANSWERS[case.id]["answer"]["avro_json"]
    options = {**case.options, "encoding": "json"}
    row = codecs.decoder("json", case.columns, case.options).decode(case.value)
    written = bytes(codecs.encoder("avro", case.columns, options).encode(row)).decode()
    if case.avro_differs:
        assert written != flink, "no difference left"
    elif has_map(case):
        assert json.loads(written) == json.loads(flink)
    else:
        assert written == flink


def read(schema: Any, data: bytes) -> Any:
    return fastavro.schemaless_reader(io.BytesIO(data), fastavro.parse_schema(schema))
