"""Tests of avro-confluent: registry failures, logins, TLS, schemas that differ, broken bytes."""

from __future__ import annotations

import base64
import io
import json
import ssl
import subprocess
import time
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from py4j.protocol import Py4JJavaError
from tests.integration.formats.registry_double import RegistryDouble

from streamtable.connector_api.inferred import WithoutColumns
from streamtable.connectors.kafka.factory import infer
from streamtable.connectors.kafka.schemas.client import SchemaRegistry
from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.avro.avro_confluent import AVRO_CONFLUENT
from streamtable.jvm.faults import codec_fault
from streamtable.jvm.install.tools import java_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COLUMNS = (Field("id", t.BIGINT.with_nullable(False)), Field("name", t.STRING))
WRITER = json.dumps(
    {
        "type": "record",
        "name": "User",
        "fields": [
            {"name": "name", "type": ["null", "string"]},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "id", "type": "int"},
        ],
    }
)


@pytest.fixture
def double() -> Iterator[RegistryDouble]:
    with RegistryDouble() as running:
        yield running


def record(schema_id: int, schema: str, row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), row)
    return b"\0" + schema_id.to_bytes(4, "big") + out.getvalue()


def as_json(codecs: Any, row: Any, columns: tuple[Field, ...] = COLUMNS) -> Any:
    return json.loads(bytes(codecs.encoder("json", columns, {}).encode(row)))


def decode_fault(decoder: Any, value: bytes) -> str:
    with pytest.raises(Py4JJavaError) as caught:
        decoder.decode(value)
    assert caught.value.java_exception.getClass().getSimpleName() == "DecodeException"
    return str(caught.value.java_exception.getMessage())


def made_fault(codecs: Any, options: dict[str, str]) -> StreamtableError:
    """Return the error of a job whose sink's encoder cannot be made."""
    with pytest.raises(Py4JJavaError) as caught:
        codecs.encoder("avro-confluent", COLUMNS, {"subject": "s", **options})
    found = codec_fault(caught.value)
    assert found
    return found


USER = {"id": 7, "name": "a", "tags": ["x", "y"]}


def test_a_schema_is_fetched_once(codecs: Any, double: RegistryDouble) -> None:
    known = double.add(WRITER)
    for _ in range(2):  # decoders of two tasks
        decoder = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url})
        for _ in range(3):
            row = decoder.decode(record(known, WRITER, USER))
            assert as_json(codecs, row) == {"id": 7, "name": "a"}
    assert [path for _, path, _ in double.asked] == [f"/schemas/ids/{known}"]


def test_written_records_start_with_the_schema_id(codecs: Any, double: RegistryDouble) -> None:
    options = {"url": double.url, "subject": "with / and blank"}
    encoder = codecs.encoder("avro-confluent", COLUMNS, options)
    row = codecs.decoder("json", COLUMNS, {}).decode(b'{"id":7,"name":"a"}')
    written = bytes(encoder.encode(row))
    assert written == b"\0\0\0\0\1\x0e\x02\x02a"
    assert double.asked[0][:2] == ("POST", "/subjects/with%20%2F%20and%20blank/versions")
    assert json.loads(double.schemas[1]["schema"])["namespace"] == "org.apache.flink.avro.generated"
    again = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url}).decode(written)
    assert as_json(codecs, again) == {"id": 7, "name": "a"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", "0 bytes are too few for a magic byte and a schema id"),
        (b"\0\0\0\1", "4 bytes are too few"),
        (b'{"id":1}', "the magic byte is 0x7b, not 0x00"),
        (b"\0\0\0\0\x63\x02", "schema id 99: the schema registry at http"),
        (b"\0\0\0\0\1", "field 'name': the record ends too early"),
        (b"\0\0\0\0\1\0\0\x02\x02", "1 bytes too many after the record"),
        (b"\0\0\0\0\1\4", "field 'name': branch 2 of a union of 2"),
        (b"\0\0\0\0\1\0\x7e", "field 'tags': 63 items announced"),
    ],
    ids=str,
)
def test_broken_records(codecs: Any, double: RegistryDouble, value: bytes, reason: str) -> None:
    double.add(WRITER)
    decoder = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url})
    assert reason in decode_fault(decoder, value)


def test_incompatible_writer_schemas(codecs: Any, double: RegistryDouble) -> None:
    lacking = json.dumps({"type": "record", "name": "r", "fields": []})
    other = WRITER.replace('"int"', '"string"')
    double.add(lacking)
    double.add(other)
    double.schemas[3] = {"schema": "message M {}", "schemaType": "PROTOBUF"}
    decoder = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url})
    assert decode_fault(decoder, b"\0\0\0\0\1") == (
        "schema id 1: field 'id': not in the writer's schema, and NOT NULL"
    )
    assert "schema id 2: field 'id': written as string, which is no BIGINT" in decode_fault(
        decoder, b"\0\0\0\0\2"
    )
    assert "the schema is of the type PROTOBUF" in decode_fault(decoder, b"\0\0\0\0\3")


def test_an_invalid_default_of_the_writer_is_ignored(codecs: Any, double: RegistryDouble) -> None:
    """A reader ignores such a default of the writer. Old registries accepted such schemas."""
    field = {"name": "x", "type": "string", "default": None}
    double.add(json.dumps({"type": "record", "name": "r", "fields": [field]}))
    columns = (Field("x", t.STRING),)
    decoder = codecs.decoder("avro-confluent", columns, {"url": double.url})
    row = decoder.decode(b"\0\0\0\0\1\x02a")
    assert as_json(codecs, row, columns) == {"x": "a"}


def test_an_invalid_default_with_inferred_columns(codecs: Any, double: RegistryDouble) -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "n", "type": "int"}]}
    inner["fields"][0]["default"] = "none"
    fields = [{"name": "i", "type": "Inner"}, {"name": "x", "type": "string", "default": None}]
    reference = {"name": "Inner", "subject": "inner", "version": 1}
    double.subjects["/subjects/inner/versions/1"] = {"schema": json.dumps(inner)}
    double.subjects["/subjects/t-value/versions/latest"] = {
        "schema": json.dumps({"type": "record", "name": "r", "fields": fields}),
        "references": [reference],
    }
    options = {"connector": "kafka", "topic": "t", "properties.bootstrap.servers": "localhost:1"}
    options |= {"format": "avro-confluent", "avro-confluent.url": double.url}
    found = infer(WithoutColumns("t", (), {k: Given(v) for k, v in options.items()}, None))
    assert found
    (schema,) = found.options.values()
    given = {"schema": schema, "url": Given(double.url), "subject": Given("t-value")}
    settings = AVRO_CONFLUENT.options.read(given, "t")
    declared = AVRO_CONFLUENT.encoder(found.fields, settings)
    java = codecs.spark._jvm.io.streamtable.codec.Codecs
    java.checkSchema(declared.java_class, {**declared.parameters, **declared.secrets})
    encoder = codecs.made("encoder", declared)
    decoder = codecs.made("decoder", AVRO_CONFLUENT.decoder(found.fields, settings))
    record = b"\0\0\0\0\1\x0e\x02a"
    row = decoder.decode(record)
    assert as_json(codecs, row, found.fields) == {"i": {"n": 7}, "x": "a"}
    assert bytes(encoder.encode(row)) == record
    double.add(json.dumps({"type": "record", "name": "r", "fields": fields[:1]}))
    reason = "field 'x': not in the writer's schema, and its default is not valid"
    double.schemas[2]["references"] = [reference]
    assert reason in decode_fault(decoder, b"\0\0\0\0\2\x0e")
    with pytest.raises(Py4JJavaError) as refused:
        codecs.decoder("avro-confluent", found.fields, {"url": double.url, "schema": schema.text})
    fault = codec_fault(refused.value)
    assert fault
    assert fault.condition is Condition.SCHEMA_UNUSABLE
    assert "Invalid default for field n" in str(fault)


def test_times_are_read_in_the_unit_of_the_writer(codecs: Any, double: RegistryDouble) -> None:
    def schema(kind: str, unit: str) -> str:
        field = {"name": "x", "type": {"type": kind, "logicalType": unit}}
        return json.dumps({"type": "record", "name": "r", "fields": [field]})

    columns = (Field("x", t.time(6).with_nullable(False)),)
    options = {"url": double.url, "schema": schema("long", "time-micros")}
    decoder = codecs.decoder("avro-confluent", columns, options)
    for kind, unit in (("int", "time-millis"), ("long", "time-micros"), ("int", "none")):
        known = double.add(schema(kind, unit))
        row = decoder.decode(b"\0" + known.to_bytes(4, "big") + b"\xd0\x0f")  # 1,000
        expected = "00:00:01" if unit == "time-millis" else "00:00:00.001"
        assert as_json(codecs, row, columns) == {"x": expected}


def test_schema_references_are_resolved(codecs: Any, double: RegistryDouble) -> None:
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}
    outer = {"type": "record", "name": "Outer", "fields": [{"name": "r", "type": "Inner"}]}
    reference = {"name": "Inner", "subject": "inner", "version": 2}
    double.schemas[5] = {"schema": json.dumps(outer), "references": [reference]}
    double.subjects["/subjects/inner/versions/2"] = {"schema": json.dumps(inner)}
    columns = (Field("r", t.row(Field("x", t.INT))),)
    decoder = codecs.decoder("avro-confluent", columns, {"url": double.url})
    row = decoder.decode(b"\0\0\0\0\5\x0a")
    assert as_json(codecs, row, columns) == {"r": {"x": 5}}


def test_deep_records_in_unread_fields(codecs: Any, double: RegistryDouble) -> None:
    fields = [{"name": "next", "type": ["null", "Node"]}]
    node = {"type": "record", "name": "Node", "fields": fields}
    known = double.add(
        json.dumps({"type": "record", "name": "r", "fields": [{"name": "n", "type": node}]})
    )
    columns = (Field("x", t.INT),)
    decoder = codecs.decoder("avro-confluent", columns, {"url": double.url})
    head = b"\0" + known.to_bytes(4, "big")
    assert as_json(codecs, decoder.decode(head + b"\2" * 900 + b"\0"), columns) == {"x": None}
    reason = decode_fault(decoder, head + b"\2" * 5_000_000 + b"\0")
    assert reason == "field 'n': records nested more than 1000 deep"


def test_server_errors_of_the_registry_are_retried(codecs: Any, double: RegistryDouble) -> None:
    double.add(WRITER)
    double.failures += [(503, {}), (500, b"no json")]
    decoder = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url})
    assert decoder.decode(record(1, WRITER, USER)) is not None
    assert len(double.asked) == 3


def test_the_second_url_is_used_if_the_first_fails(codecs: Any, double: RegistryDouble) -> None:
    double.add(WRITER)
    urls = {"url": f"http://127.0.0.1:1,{double.url}/"}
    decoder = codecs.decoder("avro-confluent", COLUMNS, urls)
    assert decoder.decode(record(1, WRITER, USER)) is not None


def test_an_unreachable_registry(codecs: Any) -> None:
    options = {"url": "http://someone:geheim@127.0.0.1:1"}
    fault = made_fault(codecs, options)
    assert fault.condition is Condition.SCHEMA_REGISTRY_UNREACHABLE
    assert "http://127.0.0.1:1" in str(fault)
    decoder = codecs.decoder("avro-confluent", COLUMNS, options)
    reason = decode_fault(decoder, b"\0\0\0\0\1")
    assert reason.startswith(
        "schema id 1: no answer from the schema registry at http://127.0.0.1:1"
    )
    assert "geheim" not in reason + str(fault)


def test_refusals(codecs: Any, double: RegistryDouble) -> None:
    double.failures.append((409, {"error_code": 409, "message": "it is\n incompatible"}))
    fault = made_fault(codecs, {"url": double.url})
    assert fault.condition is Condition.SCHEMA_INCOMPATIBLE
    assert "subject 's' of the schema registry refuses the schema: it is incompatible" in str(fault)
    double.failures.append((401, b"<html>"))
    fault = made_fault(codecs, {"url": double.url})
    assert fault.condition is Condition.SCHEMA_REGISTRY_FAILED
    assert "refused: HTTP 401" in str(fault)
    double.failures.append((200, b"<html>"))
    assert "is the address that of its API?" in str(made_fault(codecs, {"url": double.url}))


BASIC = {"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "me:geheim"}
BEARER = {"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "geheim"}


@pytest.mark.parametrize(
    ("options", "user", "expected"),
    [
        (BASIC, "", "Basic " + base64.b64encode(b"me:geheim").decode()),
        (BEARER, "", "Bearer geheim"),
        (
            {"basic-auth.credentials-source": "URL"},
            "me:ge%20heim@",
            "Basic " + base64.b64encode(b"me:ge heim").decode(),
        ),
    ],
    ids=["user info", "token", "url"],
)
def test_credentials(
    codecs: Any, double: RegistryDouble, options: dict[str, str], user: str, expected: str
) -> None:
    url = double.url.replace("//", f"//{user}")
    codecs.encoder("avro-confluent", COLUMNS, {"subject": "s", "url": url, **options})
    assert double.asked[0][2]["Authorization"] == expected


OAUTH = {
    "bearer-auth.credentials-source": "OAUTHBEARER",
    "properties.bearer.auth.client.id": "me",
    "properties.bearer.auth.client.secret": "geheim",
    "properties.bearer.auth.scope": "read write",
    "properties.bearer.auth.logical.cluster": "lsrc-1",
    "properties.bearer.auth.identity.pool.id": "pool-1",
}


def test_a_token_of_an_issuer(codecs: Any, double: RegistryDouble) -> None:
    double.add(WRITER)
    double.subjects["/token"] = {"access_token": "abc", "expires_in": 600}
    issuer = {"properties.bearer.auth.issuer.endpoint.url": f"{double.url}/token"}
    options = {"url": double.url, **OAUTH, **issuer}
    decoder = codecs.decoder("avro-confluent", COLUMNS, options)
    assert decoder.decode(record(1, WRITER, USER)) is not None
    codecs.encoder("avro-confluent", COLUMNS, {"subject": "s", **options})
    asked = [(method, path) for method, path, _ in double.asked]
    assert asked == [
        ("POST", "/token"),  # once, for the decoder and the encoder
        ("GET", "/schemas/ids/1"),
        ("POST", "/subjects/s/versions"),
    ]
    token, *others = (headers for _, _, headers in double.asked)
    assert token["Authorization"] == "Basic " + base64.b64encode(b"me:geheim").decode()
    assert double.bodies[0] == "grant_type=client_credentials&scope=read+write"
    for headers in others:
        assert headers["Authorization"] == "Bearer abc"
        assert headers["target-sr-cluster"] == "lsrc-1"
        assert headers["Confluent-Identity-Pool-Id"] == "pool-1"


@pytest.mark.parametrize("life", [0, 1])
def test_a_token_that_expires_is_fetched_again(
    codecs: Any, double: RegistryDouble, life: int
) -> None:
    for _ in range(2):
        double.add(WRITER)
    double.subjects["/token"] = {"access_token": "abc", "expires_in": life}
    issuer = {"properties.bearer.auth.issuer.endpoint.url": f"{double.url}/token"}
    decoder = codecs.decoder("avro-confluent", COLUMNS, {"url": double.url, **OAUTH, **issuer})
    decoder.decode(record(1, WRITER, USER))
    time.sleep(life)
    decoder.decode(record(2, WRITER, USER))
    assert [path for _, path, _ in double.asked].count("/token") == 2


def test_an_issuer_that_gives_no_token(codecs: Any, double: RegistryDouble) -> None:
    issuer = {"properties.bearer.auth.issuer.endpoint.url": f"{double.url}/none"}
    fault = made_fault(codecs, {"url": double.url, **OAUTH, **issuer})
    assert fault.condition is Condition.SCHEMA_REGISTRY_UNREACHABLE
    assert "the token's issuer answers HTTP 404" in str(fault)
    assert "geheim" not in str(fault)


def test_through_a_proxy(codecs: Any, double: RegistryDouble) -> None:
    host, _, port = double.url.removeprefix("http://").partition(":")
    proxy = {"properties.proxy.host": host, "properties.proxy.port": port}
    url = {"url": "http://registry.invalid/api", "subject": "s"}
    codecs.encoder("avro-confluent", COLUMNS, {**url, **proxy})
    assert double.asked[0][1] == "http://registry.invalid/api/subjects/s/versions"


def made_store(folder: Path) -> tuple[str, ssl.SSLContext]:
    """Make a keystore with one key and its certificate, and a TLS context of a server with them."""
    store, certificate, key = (str(folder / name) for name in ("s.p12", "c.pem", "k.pem"))
    keytool = str(java_tool("java").resolve().parent / "keytool")
    shared = ["-keystore", store, "-storepass", "geheim", "-alias", "a"]
    name = ["-dname", "CN=localhost", "-ext", "SAN=IP:127.0.0.1", "-validity", "2"]
    subprocess.run(
        [keytool, "-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12", *name, *shared],
        check=True,
        capture_output=True,
    )
    for option, *to in (("-nokeys", "-out", certificate), ("-nocerts", "-out", key)):
        subprocess.run(
            ["openssl", "pkcs12", "-nodes", *("-passin", "pass:geheim", "-in", store, option, *to)],
            check=True,
            capture_output=True,
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    return store, context


def client(options: dict[str, str]) -> SchemaRegistry:
    given = {key: Given(text) for key, text in options.items()}
    return SchemaRegistry(AVRO_CONFLUENT.options.read(given, "t"))


def test_the_python_client_uses_the_truststore(tmp_path: Path) -> None:
    store, context = made_store(tmp_path)
    with RegistryDouble(context) as double:
        double.add(WRITER)
        options = {"url": double.url, "ssl.truststore.location": store}
        assert client({**options, "ssl.truststore.password": "geheim"}).parts(1)
        with pytest.raises(StreamtableError) as unread:
            client({**options, "ssl.truststore.password": "Falsch"})
        assert "the truststore cannot be read" in str(unread.value)
        assert "Falsch" not in str(unread.value)
        with pytest.raises(StreamtableError) as untrusted:
            client({"url": double.url}).parts(1)
        assert untrusted.value.condition is Condition.SCHEMA_REGISTRY_UNREACHABLE


def test_a_truststore_without_a_password(codecs: Any, tmp_path: Path) -> None:
    """The certificates are read and the store's integrity is not checked, as in Kafka's clients."""
    _, context = made_store(tmp_path)
    store = str(tmp_path / "trusted.jks")
    keytool = str(java_tool("java").resolve().parent / "keytool")
    certificate = ["-alias", "a", "-file", str(tmp_path / "c.pem")]
    kept = ["-keystore", store, "-storetype", "JKS", "-storepass", "geheim"]
    subprocess.run(
        [keytool, "-importcert", "-noprompt", *certificate, *kept], check=True, capture_output=True
    )
    with RegistryDouble(context) as double:
        double.add(WRITER)
        options = {"url": double.url, "ssl.truststore.location": store}
        codecs.encoder("avro-confluent", COLUMNS, {"subject": "s", **options})
        assert len(double.asked) == 1
        assert client(options).parts(1)


def test_a_truststore_whose_certificates_need_a_password(codecs: Any, tmp_path: Path) -> None:
    store, _ = made_store(tmp_path)
    options = {"subject": "s", "url": "https://127.0.0.1:1", "ssl.truststore.location": store}
    assert "no certificate that can be read; set its password" in str(made_fault(codecs, options))


@pytest.mark.parametrize("address", ["u:geheim@reg-:8081", "u:geheim@r:8081/a^b", "u:geheim@r..x"])
def test_an_address_that_java_cannot_use(codecs: Any, address: str) -> None:
    fault = made_fault(codecs, {"subject": "s", "url": f"http://{address}"})
    assert fault.condition is Condition.SCHEMA_REGISTRY_FAILED
    assert "Java cannot use its address" in str(fault)
    assert "geheim" not in str(fault)


def test_ssl(codecs: Any, tmp_path: Path) -> None:
    store, context = made_store(tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    stores = {
        "ssl.truststore.location": store,
        "ssl.truststore.password": "geheim",
        "ssl.keystore.location": store,
        "ssl.keystore.password": "geheim",
    }
    with RegistryDouble(context) as double:
        options = {"subject": "s", "url": double.url}
        codecs.encoder("avro-confluent", COLUMNS, {**options, **stores})
        assert len(double.asked) == 1
        assert made_fault(codecs, options).condition is Condition.SCHEMA_REGISTRY_UNREACHABLE
        as_property = {
            "properties.schema.registry.ssl.truststore.location": store,
            "properties.schema.registry.ssl.truststore.password": "geheim",
            "properties.schema.registry.ssl.truststore.type": "PKCS12",
            "ssl.keystore.location": store,
            "ssl.keystore.password": "geheim",
            "properties.schema.registry.ssl.key.password": "geheim",
        }
        codecs.encoder("avro-confluent", COLUMNS, {**options, **as_property})
        assert len(double.asked) == 2
        as_property["properties.schema.registry.ssl.truststore.type"] = "JKS"
        fault = made_fault(codecs, {**options, **as_property})
        assert "ssl.truststore is of the type PKCS12, not JKS" in str(fault).replace("pkcs", "PKCS")
        wrong = {**options, **stores, "ssl.keystore.password": "Falsch"}
        fault = made_fault(codecs, wrong)
        assert "its SSL options: " in str(fault)
        assert "Falsch" not in str(fault)


def test_a_schema_given_by_option(codecs: Any, double: RegistryDouble) -> None:
    schema = {
        "type": "record",
        "name": "Mine",
        "fields": [
            {"name": "kind", "type": {"type": "enum", "name": "K", "symbols": ["p", "q"]}},
            {"name": "hash", "type": {"type": "fixed", "name": "H", "size": 2}},
            {"name": "n", "type": ["long", "null"], "default": 5},
        ],
    }
    columns = (
        Field("kind", t.STRING.with_nullable(False)),
        Field("hash", t.DataType(t.Root.VARBINARY, nullable=False, precision=2)),
        Field("n", t.BIGINT),
    )
    options = {"url": double.url, "subject": "s", "schema": json.dumps(schema)}
    encoder = codecs.encoder("avro-confluent", columns, options)
    rows = codecs.decoder("json", columns, {})
    good = b'{"kind":"q","hash":"cXE=","n":null}'
    written = bytes(encoder.encode(rows.decode(good)))
    assert written == b"\0\0\0\0\1\x02qq\x02"
    decoder = codecs.decoder("avro-confluent", columns, options)
    assert as_json(codecs, decoder.decode(written), columns) == json.loads(good)
    known = double.add(json.dumps({**schema, "fields": schema["fields"][:2]}))
    found = decoder.decode(b"\0" + known.to_bytes(4, "big") + b"\0qq")
    assert as_json(codecs, found, columns)["n"] == 5
    for bad in (b'{"kind":"z","hash":"cXE="}', b'{"kind":"p","hash":"cQ=="}'):
        with pytest.raises(Py4JJavaError, match="RECORD_UNWRITABLE"):
            encoder.encode(rows.decode(bad))
