"""Secrets do not show in output, logs, plans, errors, checkpoints, or Spark's UI and events."""

from __future__ import annotations

import json
import os
import urllib.request
import uuid
from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic
from tests.integration.jobs.support import Cli, run, write
from tests.integration.security.support import (
    PASSWORD,
    STORE_PASSWORD,
    Certificates,
    Properties,
    SecuredBroker,
    options,
)

from streamtable.devbroker.broker import free_port
from streamtable.testing.topics import produce


def _script(prefix: str, login: Properties, keys: Properties) -> str:
    return f"""
CREATE TABLE s (k INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '{prefix}-in', {options(login)},
  'properties.group.id' = '{prefix}-group', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'json', 'scan.dead-letter.topic' = '{prefix}-dead'
);
CREATE TABLE o (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{prefix}-out', {options(keys)},
  'key.format' = 'json', 'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{prefix}-tx'
);
INSERT INTO o SELECT k, COUNT(*) FROM s GROUP BY k;
"""


def _pages(port: int) -> list[str]:
    """Return pages of Spark's UI and answers of its REST API."""
    base = f"http://127.0.0.1:{port}"

    def page(path: str) -> str:
        with urllib.request.urlopen(base + path, timeout=60) as answer:  # noqa: S310 - our own
            return str(answer.read().decode())

    applications = page("/api/v1/applications")
    application = json.loads(applications)[0]["id"]
    api = f"/api/v1/applications/{application}"
    people = ("/environment/", "/SQL/", "/StreamingQuery/", "/SQL/execution/?id=0")
    programs = (f"{api}/environment", f"{api}/sql?details=true&planDescription=true")
    return [applications, *map(page, (*people, *programs))]


def _holding(secrets: list[str], texts: dict[str, str]) -> list[str]:
    return [name for name, text in texts.items() if any(secret in text for secret in secrets)]


def test_secrets_are_not_shown(
    secured: SecuredBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prefix = f"secret-{uuid.uuid4().hex[:8]}"
    for user in ("User:scram", "User:CN=client"):
        secured.allow_all(user, prefix)
    secured.admin.create_topics([NewTopic(f"{prefix}-in", 1)])[f"{prefix}-in"].result(30)
    rows = [(None, b'{"k":1,"v":1}'), (None, b"{")]
    produce(secured.broker.bootstrap_servers, f"{prefix}-in", rows)
    given = tmp_path / "given"
    given.mkdir()
    (given / "password").write_text(PASSWORD + "\n")
    monkeypatch.setenv("STREAMTABLE_SECRETS", str(given))
    monkeypatch.setenv("STORE_PASSWORD", STORE_PASSWORD)
    named = "${secret_values.password}"
    login = secured.client("SCRAM-SHA-512", password=named)
    keys = secured.client("SSL")
    keys |= {k: "${env:STORE_PASSWORD}" for k, v in keys.items() if v == STORE_PASSWORD}
    job = write(tmp_path / "job.sql", _script(prefix, login, keys))
    texts = {}
    code, texts["plan"], texts["plan's errors"] = run("explain", job)
    assert code == 0, texts

    port = free_port()
    seen = tmp_path / "seen"
    (seen / "events").mkdir(parents=True)
    running = Cli.start(
        *("--debug", "run", job, "--checkpoint", str(seen / "checkpoint")),
        *("--set", "spark.ui.enabled=true", "--set", f"spark.ui.port={port}"),
        *("--set", "spark.eventLog.enabled=true", "--set", "spark.eventLog.compress=false"),
        *("--set", f"spark.eventLog.dir={(seen / 'events').as_uri()}"),
        *("--set", "execution.mode=micro-batch"),
    )
    try:
        running.until((seen / "checkpoint/o/commits/0").exists, 240)
        texts |= {f"page {n}": text for n, text in enumerate(_pages(port))}
        running.terminate()
        code, texts["output"], texts["log"] = running.end()
    finally:
        if running.process.poll() is None:
            running.kill()
    assert code == 0, texts["log"][-2_000:]
    assert "MicroBatchExecution" in texts["log"]

    wrong = {**login, "sasl.mechanism": "PLAIN"}
    other = write(tmp_path / "wrong.sql", _script(prefix, wrong, keys))
    code, texts["refusal"], texts["its reason"] = run("run", other)
    assert code != 0
    assert "login to Kafka" in texts["its reason"]

    files = [Path(at, name) for at, _, names in os.walk(seen) for name in names]
    assert any(file.is_relative_to(seen / "events") for file in files)
    texts |= {str(file): file.read_bytes().decode("latin-1") for file in files}
    assert _holding([PASSWORD, STORE_PASSWORD], texts) == []
    # Check that the search works: it finds user names, which are no secrets.
    assert _holding(["CN=client", f"{prefix}-out"], texts) != []


def test_private_keys_in_the_script_are_secrets(secured: SecuredBroker, tmp_path: Path) -> None:
    """PEM needs no file: an option may hold the key itself, which does not show."""
    key = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg"
    assert isinstance(secured.certificates, Certificates)
    client = {**secured.client("SASL_SSL"), "ssl.keystore.type": "PEM", "ssl.keystore.key": key}
    job = write(tmp_path / "job.sql", _script("pem", client, client))
    code, out, err = run("explain", job)
    assert (code, _holding([key, PASSWORD], {"out": out, "err": err})) == (0, [])
