"""Tests of json-confluent: headers, schemas of other types, and registry outages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.core import types as t
from streamtable.core.types import Field

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))


@pytest.fixture
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


def record(schema_id: int, text: str) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + text.encode()


def test_objects_follow_the_schema_id(codecs: Any, double: RegistryDouble) -> None:
    known = double.add('{"type": "object"}', "JSON")
    options = {"url": double.url, "subject": "s"}
    decoder = codecs.decoder("json-confluent", COLUMNS, options)
    values = [decoder.decode(record(known, f'{{"name": "a", "id": {i}, "x": 1}}')) for i in (7, 8)]
    assert len(double.asked) == 1, "a schema is fetched once"
    encoder = codecs.encoder("json-confluent", COLUMNS, options)
    registered = json.loads(double.bodies[-1])
    assert registered["schemaType"] == "JSON"
    assert json.loads(registered["schema"])["required"] == ["id"]
    written = [bytes(encoder.encode(value)) for value in values]
    assert written == [record(known + 1, f'{{"id":{i},"name":"a"}}') for i in (7, 8)]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "0 bytes are too few for a magic byte and a schema id"),
        (b'{"id": 1}', "the magic byte is 0x7b, not 0x00"),
        (record(1, ""), "no object follows the schema id"),
        (record(1, "{"), "end-of-input"),
        (record(2, "{}"), "says: the schema is of the type AVRO, not JSON"),
        (record(9, "{}"), "no such schema (HTTP 404)"),
    ],
)
def test_broken_records(codecs: Any, double: RegistryDouble, value: bytes, reason: str) -> None:
    double.add('{"type": "object"}', "JSON")
    double.add('"string"')
    decoder = codecs.decoder("json-confluent", COLUMNS, {"url": double.url})
    fault = decode_fault(decoder, value)
    assert reason in str(fault.getMessage())
    assert not fault.isOutage()


@pytest.mark.parametrize("format_", ["json-confluent", "avro-confluent"])
@pytest.mark.parametrize(
    "answer",
    [
        (401, {"message": "not now"}),
        (503, {"message": "not now"}),
        (404, b"<html>no route"),
        (404, {"message": "a proxy's answer"}),
    ],
    ids=str,
)
def test_registry_outages_are_not_record_errors(
    codecs: Any, double: RegistryDouble, format_: str, answer: tuple[int, Any]
) -> None:
    double.failures = [answer] * 3
    decoder = codecs.decoder(format_, COLUMNS, {"url": double.url})
    assert decode_fault(decoder, record(1, "{}")).isOutage()


def decode_fault(decoder: Any, value: bytes) -> Any:
    with pytest.raises(Py4JJavaError) as caught:
        decoder.decode(value)
    assert caught.value.java_exception.getClass().getSimpleName() == "DecodeException"
    return caught.value.java_exception
