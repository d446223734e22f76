"""Decode the keys and values of topics, in each format, into Python values."""

from __future__ import annotations

import io
import json
from datetime import datetime
from decimal import Decimal

import fastavro
import pytest
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.connectors.kafka.inspect.decode import decoder_of
from streamtable.connectors.kafka.options.sides import Side
from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.avro.schema import avro_schema
from streamtable.formats.registry import FORMATS


def side(name, columns, prefix="", **given):
    found = FORMATS[name]
    options = {key.replace("_", "-"): Given(text) for key, text in given.items()}
    settings = found.options.read(options, "t")
    return Side(format=found, settings=settings, columns=columns, prefix=prefix)


COLUMNS = (
    Field("k_n", t.INT),
    Field("k_s", t.STRING),
    Field("k_b", t.BOOLEAN),
    Field("k_d", t.decimal(10, 2)),
)


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b'1,"a,""b\n",true,1.50', {}, (1, 'a,"b\n', True, Decimal("1.50"))),
        (b",,,", {}, (None, "", None, None)),
        (b"1;n/a;x;2", {"field_delimiter": ";", "null_literal": "n/a"}, (1, None, False, 2)),
        (b'1,"a,true,2', {"disable_quote_character": "true"}, (1, '"a', True, 2)),
    ],
    ids=["quoted", "empty", "null", "no quotes"],
)
def test_csv(data, options, expected):
    decode = decoder_of(side("csv", COLUMNS, prefix="k_", **options))
    assert tuple(decode(data).values()) == expected
    assert list(decode(data)) == [column.name for column in COLUMNS]


def test_an_empty_csv_record():
    assert decoder_of(side("csv", (Field("s", t.STRING),)))(b"") == {"s": ""}


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (t.BIGINT, b"\0\0\0\0\0\0\1\2", 258),
        (t.BOOLEAN, b"\1", True),
        (t.DOUBLE, b"\x3f\xf8\0\0\0\0\0\0", 1.5),
        (t.STRING, "\u00e9".encode(), "\u00e9"),
        (t.BYTES, b"\xff", b"\xff"),
    ],
    ids=str,
)
def test_raw(kind, data, expected):
    assert decoder_of(side("raw", (Field("c", kind),)))(data) == {"c": expected}


def test_raw_little_endian():
    decode = decoder_of(side("raw", (Field("c", t.INT),), endianness="little-endian"))
    assert decode(b"\1\0\0\0") == {"c": 1}


@pytest.mark.parametrize(
    ("name", "given", "data"),
    [
        ("canal-json", {}, b'{"k":7}'),
        ("debezium-json", {}, b'{"k":7}'),
        ("debezium-json", {"schema-include": "true"}, b'{"schema":{},"payload":{"k":7}}'),
        ("maxwell-json", {}, b'{"database":"d","table":"t","pk.k":7}'),
        ("ogg-json", {}, b'{"k":7}'),
        ("avro", {"encoding": "json"}, b'{"k":{"long":7}}'),
        ("avro", {}, b"\2\x0e"),
    ],
    ids=str,
)
def test_keys(name, given, data):
    found = FORMATS[name]
    settings = found.options.read({key: Given(text) for key, text in given.items()}, "t")
    key = Side(format=found, settings=settings, columns=(Field("p_k", t.BIGINT),), prefix="p_")
    assert decoder_of(key)(data) == {"p_k": 7}


def test_timestamps_of_avro():
    settings = FORMATS["avro"].options.read({"timestamp_mapping.legacy": Given("false")}, "t")
    columns = (Field("c", t.timestamp(6)),)
    found = Side(format=FORMATS["avro"], settings=settings, columns=columns)
    data = io.BytesIO()
    schema = avro_schema(found.fields, legacy_timestamps=False)
    moment = datetime(2024, 1, 2, 3, 4, 5, 678901)
    fastavro.schemaless_writer(data, fastavro.parse_schema(schema), {"c": moment})
    assert decoder_of(found)(data.getvalue()) == {"c": moment}


COLUMNS_OF_AVRO = (Field("id", t.BIGINT), Field("name", t.STRING))


def registered(double, **given):
    texts = {key: Given(text) for key, text in {"url": double.url, **given}.items()}
    found = FORMATS["avro-confluent"]
    settings = found.options.read(texts, "t")
    return decoder_of(Side(format=found, settings=settings, columns=COLUMNS_OF_AVRO))


def test_records_of_any_registered_schema():
    inner = {"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}
    fields = [{"name": "r", "type": "In"}, {"name": "id", "type": "int"}]
    outer = {"type": "record", "name": "Out", "fields": fields}
    with RegistryDouble() as double:
        known = [{"name": "In", "subject": "in", "version": 1}]
        double.schemas[3] = {"schema": json.dumps(outer), "references": known}
        double.subjects["/subjects/in/versions/1"] = {"schema": json.dumps(inner)}
        token = {"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "abc"}
        decode = registered(double, **token)
        for _ in range(2):
            assert decode(b"\0\0\0\0\3\2\x0e") == {"id": 7, "name": None}
        assert [path for _, path, _ in double.asked] == [
            "/schemas/ids/3",
            "/subjects/in/versions/1",
        ]
        assert double.asked[0][2]["Authorization"] == "Bearer abc"
        with pytest.raises(StreamtableError) as caught:
            decode(b"\0\0\0\0\4\2")
        assert caught.value.condition is Condition.SCHEMA_REGISTRY_FAILED
        assert "no such schema (HTTP 404)" in str(caught.value)
        with pytest.raises(StreamtableError, match="the magic byte is 0x7b"):
            decode(b'{"id":1}')


def test_a_token_of_an_issuer():
    with RegistryDouble() as double:
        double.subjects["/token"] = {"access_token": "xyz"}
        double.add(json.dumps({"type": "record", "name": "R", "fields": []}))
        issuer = {
            "bearer-auth.credentials-source": "OAUTHBEARER",
            "properties.bearer.auth.issuer.endpoint.url": f"{double.url}/token",
            "properties.bearer.auth.client.id": "me",
            "properties.bearer.auth.client.secret": "geheim",
        }
        assert registered(double, **issuer)(b"\0\0\0\0\1") == {"id": None, "name": None}
        assert double.asked[1][2]["Authorization"] == "Bearer xyz"


def test_an_unreachable_registry():
    with RegistryDouble() as double:
        url = double.url.replace("//", "//me:geheim@")
    with pytest.raises(StreamtableError) as caught:
        registered(double, url=url)(b"\0\0\0\0\1")
    assert caught.value.condition is Condition.SCHEMA_REGISTRY_UNREACHABLE
    assert "geheim" not in str(caught.value)


def test_options_that_need_the_java_client_are_refused():
    with RegistryDouble() as double, pytest.raises(StreamtableError) as caught:
        registered(double, **{"ssl.keystore.location": "/k", "ssl.keystore.password": "geheim"})
    assert caught.value.condition is Condition.NOT_YET
