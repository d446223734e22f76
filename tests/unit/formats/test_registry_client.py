"""Client options of a schema registry: credentials, `properties.*`, and refused options."""

from __future__ import annotations

import pytest

from streamtable.connectors.kafka.factory import OPTIONS as KAFKA
from streamtable.connectors.kafka.options.sides import read_options
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given, Settings, is_secret
from streamtable.formats.registry import FORMATS
from streamtable.formats.schema_registry.client import connection
from streamtable.formats.schema_registry.options import SUBJECT

URL = {"url": "http://host:8081"}
USER = {"basic-auth.credentials-source": "USER_INFO", "basic-auth.user-info": "a:geheim"}
TOKEN = {"bearer-auth.credentials-source": "STATIC_TOKEN", "bearer-auth.token": "geheim"}
ISSUER = {
    "properties.bearer.auth.issuer.endpoint.url": "http://issuer/token",
    "properties.bearer.auth.client.id": "me",
    "properties.bearer.auth.client.secret": "geheim",
}
JAAS = 'org.example.LoginModule required username="a" password=\'x\' password="ge\\"heim";'
CLIENT = 'M required clientId="me" clientSecret="geheim" scope="all";'
TOKEN_URL = {"properties.sasl.oauthbearer.token.endpoint.url": "http://issuer/token"}


def settings(given: dict[str, str]) -> Settings:
    texts = {key: Given(text) for key, text in given.items()}
    return FORMATS["avro-confluent"].options.read(texts, "t")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (USER, USER),
        (TOKEN, TOKEN),
        ({"basic-auth.credentials-source": "URL"}, {"basic-auth.credentials-source": "URL"}),
        (
            {
                "properties.basic.auth.credentials.source": "USER_INFO",
                "properties.schema.registry.basic.auth.user.info": "a:geheim",
            },
            USER,
        ),
        ({"properties.bearer.auth.credentials.source": "STATIC_TOKEN", **TOKEN}, TOKEN),
        ({**USER, "properties.basic.auth.user.info": "another:one"}, USER),
        (
            {"basic-auth.credentials-source": "SASL_INHERIT", "properties.sasl.jaas.config": JAAS},
            {
                "basic-auth.credentials-source": "SASL_INHERIT",
                "basic-auth.user-info": 'a:ge"heim',
            },
        ),
        (
            {"bearer-auth.credentials-source": "OAUTHBEARER", **ISSUER},
            {"bearer-auth.credentials-source": "OAUTHBEARER", **ISSUER},
        ),
        (
            {
                "bearer-auth.credentials-source": "SASL_OAUTHBEARER_INHERIT",
                **TOKEN_URL,
                "properties.sasl.jaas.config": CLIENT,
            },
            {
                "bearer-auth.credentials-source": "SASL_OAUTHBEARER_INHERIT",
                **ISSUER,
                "properties.bearer.auth.scope": "all",
            },
        ),
        (
            {"properties": "proxy.host:localhost, proxy.port:3128"},
            {"properties.proxy.host": "localhost", "properties.proxy.port": "3128"},
        ),
        (
            {
                "properties": "{http.read.timeout.ms: '7',"
                " schema.registry.ssl.key.password: 'a''b'}",
                "properties.http.read.timeout.ms": "8",
            },
            {
                "properties.http.read.timeout.ms": "8",
                "properties.schema.registry.ssl.key.password": "a'b",
            },
        ),
        (
            {"properties.schema.registry.ssl.truststore.location": "/t"},
            {"ssl.truststore.location": "/t"},
        ),
    ],
    ids=str,
)
def test_settings_of_the_client(given: dict[str, str], expected: dict[str, str]) -> None:
    assert connection(settings({**URL, **given})) == {**URL, **expected}


def test_deprecated_keys_of_flink() -> None:
    found = settings({"schema-registry.url": "http://a", "schema-registry.subject": "s"})
    assert connection(found) == {"url": "http://a"}
    both = settings({"schema-registry.url": "http://a", "url": "http://b"})
    assert connection(both) == {"url": "http://b"}


@pytest.mark.parametrize(
    ("given", "condition", "said"),
    [
        ({"properties.schema.format": "x"}, Condition.UNKNOWN_OPTION, "properties.schema.format"),
        (
            {"properties.http.raed.timeout.ms": "1"},
            Condition.UNKNOWN_OPTION,
            "http.read.timeout.ms",
        ),
        ({"properties.http.read.timeout.ms": "soon"}, Condition.INVALID_OPTION, "'soon'"),
        ({"properties": "geheim"}, Condition.INVALID_OPTION, "option 'properties'"),
        ({"properties": "{a: 1, geheim"}, Condition.INVALID_OPTION, "option 'properties'"),
        ({"url": "http://schema_registry:8081"}, Condition.INVALID_OPTION, "a host of letters"),
        ({"url": "http://u:geheim^s@r:8081"}, Condition.INVALID_OPTION, "//****@r:8081"),
        ({"properties": "missing.cache.size:1"}, Condition.OPTION_NOT_SETTABLE, "does not cache"),
        ({"properties.proxy.host": "h"}, Condition.OPTION_CONFLICT, "'properties.proxy.port'"),
        (
            {"ssl.keystore.location": "/k"},
            Condition.OPTION_CONFLICT,
            "sets 'ssl.keystore.location' without 'ssl.keystore.password'",
        ),
        (
            {
                "properties.schema.registry.ssl.keystore.location": "/k",
                "properties.schema.registry.ssl.key.password": "geheim",
            },
            Condition.OPTION_CONFLICT,
            "without 'ssl.keystore.password'",
        ),
        (
            {"ssl.keystore.password": "geheim"},
            Condition.OPTION_CONFLICT,
            "without 'ssl.keystore.location'",
        ),
        (
            {"ssl.truststore.password": "geheim"},
            Condition.OPTION_CONFLICT,
            "without 'ssl.truststore.location'",
        ),
        (
            {"properties.bearer.auth.custom.provider.class": "X"},
            Condition.OPTION_NOT_SETTABLE,
            "class of Confluent's client",
        ),
        (
            {"properties.schema.registry.ssl.endpoint.identification.algorithm": ""},
            Condition.OPTION_NOT_SETTABLE,
            "against its host name",
        ),
        ({"basic-auth.user-info": "a:geheim"}, Condition.OPTION_CONFLICT, "has no effect"),
        (
            {"basic-auth.credentials-source": "USER_INFO"},
            Condition.OPTION_CONFLICT,
            "without 'basic-auth.user-info'",
        ),
        ({"basic-auth.credentials-source": "FILE"}, Condition.INVALID_OPTION, "SASL_INHERIT"),
        (
            {"basic-auth.credentials-source": "SASL_INHERIT"},
            Condition.OPTION_CONFLICT,
            "without 'properties.sasl.jaas.config'",
        ),
        (
            {
                "basic-auth.credentials-source": "SASL_INHERIT",
                "properties.sasl.jaas.config": 'M required username="geheim";',
            },
            Condition.INVALID_OPTION,
            "a login module with password",
        ),
        ({"bearer-auth.token": "geheim"}, Condition.OPTION_CONFLICT, "has no effect"),
        ({"bearer-auth.credentials-source": "X"}, Condition.INVALID_OPTION, "OAUTHBEARER"),
        (
            {"bearer-auth.credentials-source": "CUSTOM"},
            Condition.OPTION_NOT_SETTABLE,
            "class of Confluent's client",
        ),
        (
            {"bearer-auth.credentials-source": "OAUTHBEARER"},
            Condition.OPTION_CONFLICT,
            "without 'properties.bearer.auth.issuer.endpoint.url'",
        ),
        (
            {
                "bearer-auth.credentials-source": "SASL_OAUTHBEARER_INHERIT",
                "properties.sasl.jaas.config": CLIENT,
            },
            Condition.OPTION_CONFLICT,
            "without 'properties.sasl.oauthbearer.token.endpoint.url'",
        ),
        ({"basic-auth.credentials-source": "URL", **TOKEN}, Condition.OPTION_CONFLICT, "sets both"),
    ],
    ids=str,
)
def test_refused(given: dict[str, str], condition: Condition, said: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        settings({**URL, **given})
    assert caught.value.condition is condition
    assert said in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("key", [*USER, *TOKEN, "properties.basic.auth.user.info"])
def test_keys_of_secrets(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    ("subject", "expected"),
    [({}, "x-value"), ({"value.avro-confluent.schema-registry.subject": "mine"}, "mine")],
    ids=["by default", "given"],
)
def test_deprecated_keys_with_a_prefix(subject: dict[str, str], expected: str) -> None:
    given = {
        "connector": "kafka",
        "topic": "x",
        "properties.bootstrap.servers": "b:1",
        "value.format": "avro-confluent",
        "value.avro-confluent.schema-registry.url": "http://a",
        "value.avro-confluent.properties.http.read.timeout.ms": "7",
        **subject,
    }
    texts = {key: Given(text) for key, text in given.items()}
    value = read_options(KAFKA, "t", texts, None).value
    assert value.settings.get(SUBJECT) == expected
    assert connection(value.settings) == {
        "url": "http://a",
        "properties.http.read.timeout.ms": "7",
    }


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("url", "nowhere", "option 'value.avro-confluent.url' has the value 'nowhere'"),
        (
            "schema-registry.url",
            "nowhere",
            "option 'value.avro-confluent.schema-registry.url' has the value 'nowhere'",
        ),
        (
            "bearer-auth.token",
            "geheim",
            "without 'value.avro-confluent.bearer-auth.credentials-source' = 'STATIC_TOKEN'",
        ),
        (
            "properties.proxy.host",
            "h",
            "without 'value.avro-confluent.properties.proxy.port'",
        ),
    ],
)
def test_messages_name_the_keys_of_the_script(key: str, value: str, said: str) -> None:
    url = {} if key.endswith("url") else {"value.avro-confluent.url": "http://a"}
    given = {
        "connector": "kafka",
        "topic": "x",
        "properties.bootstrap.servers": "b:1",
        "value.format": "avro-confluent",
        **url,
        f"value.avro-confluent.{key}": value,
    }
    with pytest.raises(StreamtableError) as caught:
        read_options(KAFKA, "t", {name: Given(text) for name, text in given.items()}, None)
    assert said in str(caught.value)
