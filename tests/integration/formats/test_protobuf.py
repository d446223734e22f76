"""Protobuf records against Flink's recorded answers, and schemas in their forms."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from streamtable.core import types as t
from streamtable.core.types import Field
from streamtable.sql.parse import parse_type

COMPAT = Path(__file__).parents[2] / "compat" / "formats" / "protobuf"
CASES = json.loads((COMPAT / "flink-2.2.0.json").read_text(encoding="utf-8"))["cases"]
SCHEMAS = {"com.example.three.Three": "three", "com.example.two.TwoFile$Two": "two"}
SHORT = 'syntax = "proto3"; package p; message M { int32 i = 1; message N { int64 l = 2; } }'
ONE_INT = (Field("i", t.INT),)


def options(case: Any, suffix: str) -> dict[str, str]:
    name = case["message"]
    file = str(COMPAT / f"{SCHEMAS[name]}{suffix}")
    return {"message-class-name": name, "descriptor-file": file, **case["options"]}


@pytest.mark.parametrize("suffix", [".proto", ".bin"])
def test_records_are_read_and_written_as_by_flink(codecs: Any, suffix: str) -> None:
    differ = {}
    for case in CASES:
        fields = parse_type(case["type"]).fields
        decoder = codecs.decoder("protobuf", fields, options(case, suffix))
        found: dict[str, Any] = {}
        try:
            row = decoder.decode(base64.b64decode(case["value"]))
            found["json"] = json.loads(bytes(codecs.encoder("json", fields, {}).encode(row)))
            encoder = codecs.encoder("protobuf", fields, options(case, suffix))
            found["bytes"] = base64.b64encode(bytes(encoder.encode(row))).decode()
        except Py4JJavaError as error:
            found["error"] = str(error.java_exception)
        answer = dict(case["answer"])
        if "json" in answer:
            answer["json"] = json.loads(answer["json"])
        if "error" in answer and "error" in found:
            continue
        if answer != found:
            differ[case["id"]] = (answer, found)
    assert not differ


@pytest.mark.parametrize("name", ["p.M", "p.Any$M"])
def test_a_message_has_two_names(codecs: Any, name: str) -> None:
    decoder = codecs.decoder("protobuf", ONE_INT, {"message-class-name": name, "schema": SHORT})
    assert decoder.decode(b"\x08\x07").getInt(0) == 7


@pytest.mark.parametrize(
    ("name", "schema", "columns", "reason"),
    [
        ("p.X", SHORT, ONE_INT, "it has no message 'p.X'; it has p.M, p.M.N"),
        ("p.M", SHORT, (Field("j", t.INT),), "message 'p.M' has no field 'j'"),
        ("p.M", SHORT, (Field("i", t.STRING),), "field 'p.M.i' is int32, which is no STRING"),
        ("p.M.N", SHORT, (Field("l", t.INT),), "field 'p.M.N.l' is int64, which is no INT"),
        (
            "p.M",
            SHORT.replace("package p;", 'package p; import "a.proto";'),
            ONE_INT,
            "the imported file 'a.proto' is missing",
        ),
        ("p.M", "message M {", ONE_INT, "schema.proto"),
    ],
)
def test_schemas_that_do_not_fit(
    codecs: Any, name: str, schema: str, columns: tuple[Field, ...], reason: str
) -> None:
    for kind in ("decoder", "encoder"):
        with pytest.raises(Py4JJavaError) as found:
            getattr(codecs, kind)(
                "protobuf", columns, {"message-class-name": name, "schema": schema}
            )
        assert "SchemaFault" in str(found.value.java_exception)
        assert reason in str(found.value.java_exception)


def test_timestamps(codecs: Any) -> None:
    schema = (
        'syntax = "proto3"; import "google/protobuf/timestamp.proto";'
        " message M { google.protobuf.Timestamp at = 1; repeated string r = 2; }"
    )
    named = {"message-class-name": "M", "schema": schema, "write-null-string-literal": "none"}
    columns = (Field("at", t.timestamp_ltz(6)), Field("r", t.array(t.STRING)))
    rows = codecs.decoder("json", columns, {})
    row = rows.decode(b'{"at":"1969-12-31 23:59:59.25Z","r":["a",null]}')
    written = bytes(codecs.encoder("protobuf", columns, named).encode(row))
    assert written == bytes.fromhex("0a1008ffffffffffffffffff011080e59a77 120161 12046e6f6e65")
    again = codecs.decoder("protobuf", columns, named).decode(written)
    assert json.loads(bytes(codecs.encoder("json", columns, {}).encode(again))) == {
        "at": "1969-12-31 23:59:59.25Z",
        "r": ["a", "none"],
    }
