"""Compare csv, raw and avro-confluent with answers of a real Flink: tests/compat/text_formats."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from py4j.protocol import Py4JJavaError
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.core.errors import StreamtableError

if TYPE_CHECKING:
    from collections.abc import Iterator

COMPAT = Path(__file__).parents[2] / "compat" / "text_formats"
RECORDED = json.loads((COMPAT / "flink-2.2.0.json").read_text(encoding="utf-8"))
ANSWERS = {answer["id"]: answer for answer in RECORDED["cases"]}


def _cases() -> Any:
    spec = importlib.util.spec_from_file_location("compat_text_cases", COMPAT / "cases.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CASES = _cases()
LINES = [case for case in CASES.all_cases() if case.format != "avro-confluent"]
RECORDS = [case for case in CASES.all_cases() if case.format == "avro-confluent"]


@pytest.fixture(scope="module")
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


@pytest.mark.parametrize("case", LINES, ids=lambda case: case.id)
def test_lines(codecs: Any, case: Any) -> None:
    answer = _answer(case)
    try:
        row = _read(codecs, case)
    except StreamtableError:
        assert "error" in answer or "write_error" in answer, "refused what Flink takes"
        return
    found = None if row is None else bytes(codecs.encoder("json", case.columns, {}).encode(row))
    _compare(case, answer, found)
    if row is None or "written" not in answer:
        return
    encoder = codecs.encoder(case.format, case.columns, case.options)
    written = encoder.encode(row)
    flink = answer["written"]
    expected = None if flink is None else base64.b64decode(flink)
    assert (None if written is None else bytes(written)) == expected


@pytest.mark.parametrize("case", RECORDS, ids=lambda case: case.id)
def test_records_of_other_writer_schemas(codecs: Any, double: RegistryDouble, case: Any) -> None:
    schema = fastavro.parse_schema(json.loads(case.writer))
    datum = next(fastavro.json_reader(io.StringIO(case.value.decode()), schema))
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, datum)
    header = b"\0" + double.add(case.writer).to_bytes(4, "big")
    decoder = codecs.decoder("avro-confluent", case.columns, {"url": double.url})
    try:
        row = decoder.decode(header + out.getvalue())
    except Py4JJavaError as error:
        assert "DecodeException" in str(error.java_exception)
        row = None
    found = None if row is None else bytes(codecs.encoder("json", case.columns, {}).encode(row))
    _compare(case, _answer(case), found)


def _answer(case: Any) -> Any:
    recorded = ANSWERS[case.id]
    assert recorded["type"] == case.row_type, "recorded of other columns: run record.py again"
    assert base64.b64decode(recorded["value"]) == case.value
    assert recorded["options"] == case.options
    assert recorded["writer"] == case.writer
    return recorded["answer"]


def _read(codecs: Any, case: Any) -> Any:
    """Return the row, or None if the value does not parse."""
    name, options = (case.start, {}) if case.start else (case.format, case.options)
    decoder = codecs.decoder(name, case.columns, options)
    if case.start:
        codecs.encoder(case.format, case.columns, case.options)
    try:
        return decoder.decode(case.value)
    except Py4JJavaError as error:
        assert "DecodeException" in str(error.java_exception)
        return None


def _compare(case: Any, answer: Any, found: bytes | None) -> None:
    rows = answer.get("json") or [None]
    if case.ours == CASES.SAME:
        expected = rows[0]
    else:
        expected = None if case.ours == CASES.FAULT else case.ours
        assert expected != rows[0], "no difference left"
    assert (None if found is None else json.loads(found)) == (
        None if expected is None else json.loads(expected)
    )
