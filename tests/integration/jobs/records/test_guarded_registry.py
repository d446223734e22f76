"""Jobs over a real schema registry behind a proxy that requires mutual TLS and credentials."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.formats.registry_double import RegistryDouble
from tests.integration.formats.test_avro_confluent import made_store

from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker
    from streamtable.devbroker.registry import Registry

SCRIPT = """
CREATE TABLE views (id BIGINT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE kept (id BIGINT, name STRING) WITH (
  'connector' = 'kafka', 'topic' = '${source}-out', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'avro-confluent',
  'avro-confluent.url' = '${url}',
  'avro-confluent.ssl.truststore.location' = '${store}',
  'avro-confluent.ssl.truststore.password' = 'geheim',
  'avro-confluent.ssl.keystore.location' = '${store}',
  'avro-confluent.ssl.keystore.password' = 'geheim',
  ${credentials}
);
CREATE TABLE names (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-names',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
"""
WRITE = "INSERT INTO kept SELECT id, name FROM views;"
READ = "INSERT INTO names SELECT id, name FROM kept;"
BASIC = (
    "'avro-confluent.basic-auth.credentials-source' = 'USER_INFO',"
    " 'avro-confluent.basic-auth.user-info' = 'me:${password}'"
)
BEARER = (
    "'avro-confluent.bearer-auth.credentials-source' = 'STATIC_TOKEN',"
    " 'avro-confluent.bearer-auth.token' = '${password}'"
)
OAUTH = (
    "'avro-confluent.bearer-auth.credentials-source' = 'OAUTHBEARER',"
    " 'avro-confluent.properties.bearer.auth.issuer.endpoint.url' = '${url}/token',"
    " 'avro-confluent.properties.bearer.auth.client.id' = 'me',"
    " 'avro-confluent.properties.bearer.auth.client.secret' = '${password}'"
)
USER = "Basic " + base64.b64encode(b"me:offen").decode()


class Door(RegistryDouble):
    """Proxy that forwards requests with the allowed credentials, and gives known users a token."""

    def __init__(self, context: ssl.SSLContext, registry: str, allowed: str) -> None:
        super().__init__(context)
        self._registry = registry
        self._allowed = allowed

    def _answer(self, method: str, path: str, headers: dict[str, str], body: str) -> Any:
        self.asked.append((method, path, headers))
        who = headers.get("Authorization", "")
        if path == "/token":
            return (200, {"access_token": "offen"}) if who == USER else (401, {})
        if who != self._allowed:
            return 401, {"message": "who are you?"}
        request = urllib.request.Request(  # noqa: S310
            self._registry + path,
            body.encode() if method == "POST" else None,
            {"Content-Type": headers.get("Content-Type", "application/json")},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as found:  # noqa: S310
                return found.status, json.load(found)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.mark.parametrize(
    ("credentials", "allowed"),
    [(BASIC, USER), (BEARER, "Bearer offen"), (OAUTH, "Bearer offen")],
    ids=["basic", "bearer", "oauth"],
)
def test_a_job_authenticates_to_a_registry_behind_mutual_tls(
    spark: SparkSession,
    broker: Broker,
    registry: Registry,
    topic: Topics,
    tmp_path: Path,
    *,
    credentials: str,
    allowed: str,
) -> None:
    source = topic("views")
    rows = [{"id": 1, "name": "a"}, {"id": 2, "name": None}]
    produce_json(broker.bootstrap_servers, source, rows)
    store, context = made_store(tmp_path)
    context.verify_mode = ssl.CERT_REQUIRED
    with Door(context, registry.url, allowed) as door:
        names = {"source": source, "servers": broker.bootstrap_servers, "store": store}
        names |= {"url": door.url}

        def run(insert: str, password: str, checkpoint: str) -> BoundedRun:
            script = SCRIPT.replace("${credentials}", credentials) + insert
            job = BoundedRun(spark, script, tmp_path / checkpoint, names | {"password": password})
            job()
            return job

        with pytest.raises(StreamtableError) as refused:
            run(WRITE, "falsch", "refused")
        assert refused.value.condition in (
            Condition.SCHEMA_REGISTRY_FAILED,
            Condition.SCHEMA_REGISTRY_UNREACHABLE,
        )
        assert "HTTP 401" in str(refused.value)
        assert "falsch" not in str(refused.value)
        run(WRITE, "offen", "written")
        found = run(READ, "offen", "read").rows("names")
        assert list(found.values()) == rows
        assert f"/subjects/{source}-out-value/versions" in {path for _, path, _ in door.asked}
