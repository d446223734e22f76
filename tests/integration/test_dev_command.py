"""`streamtable dev` as users run it: as a program, in several processes."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamtable.core.process import Process
from streamtable.devbroker import dev
from streamtable.devbroker.broker import is_free

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.kafka

PROGRAM = "from streamtable.cli.main import main; main()"


def streamtable(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )


@pytest.fixture
def home(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path)
    dev.down(tmp_path)


def test_up_status_down(home: str) -> None:
    up = streamtable("dev", "up", "--json", "--dir", home)
    assert up.returncode == 0, up.stderr
    addresses = json.loads(up.stdout)
    assert up.stdout.count("\n") == 1
    assert addresses.keys() == {"bootstrap_servers", "schema_registry_url"}
    servers = addresses["bootstrap_servers"]
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic("kept", 1)])["kept"].result(30)

    assert streamtable("dev", "up", "--json", "--dir", home).stdout == up.stdout
    elsewhere = streamtable("dev", "up", "--port", "1", "--dir", home)
    assert elsewhere.returncode == 1
    assert elsewhere.stderr.startswith("error: DEV_BROKER_RUNNING: ")

    status = streamtable("dev", "status", "--json", "--dir", home)
    assert status.returncode == 0
    found = json.loads(status.stdout)
    assert (found["running"], found["bootstrap_servers"]) == (True, servers)

    running = dev.status(Path(home))
    assert running
    assert streamtable("dev", "down", "--dir", home).returncode == 0
    assert not running.process.alive
    assert is_free(running.port)
    assert not (Path(home) / "dev" / "state.json").exists()
    assert streamtable("dev", "status", "--dir", home).returncode == 3

    again = streamtable("dev", "up", "--json", "--dir", home)
    assert again.stdout == up.stdout
    assert "kept" in AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10).topics
    assert streamtable("dev", "down", "--delete-data", "--dir", home).returncode == 0
    assert not (Path(home) / "dev" / "broker").exists()


def test_down_kills_no_other_process_with_a_recycled_pid(tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with stranger:
        state = {
            "process": {"pid": stranger.pid, "started": "long ago"},
            "port": 9092,
            "directory": str(tmp_path),
        }
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "state.json").write_text(json.dumps(state))
        assert dev.status(tmp_path) is None
        assert dev.down(tmp_path) is None
        assert stranger.poll() is None
        stranger.kill()


def test_schema_registry_keeps_its_schemas(home: str) -> None:
    assert streamtable("dev", "up", "--dir", home).returncode == 0
    up = streamtable("dev", "up", "--schema-registry", "--json", "--dir", home)
    assert up.returncode == 0, up.stderr
    url = json.loads(up.stdout)["schema_registry_url"]
    assert url.endswith("/apis/ccompat/v7")
    schema = {"type": "record", "name": "r", "fields": [{"name": "a", "type": "long"}]}
    first = ask(url, "/subjects/s/versions", schema)
    assert "id" in first
    changed = {**schema, "fields": [{"name": "a", "type": "string"}]}
    assert ask(url, "/subjects/s/versions", changed)["error_code"] == 409

    status = streamtable("dev", "status", "--dir", home)
    assert f"a schema registry runs at {url}" in status.stdout
    running = dev.status(Path(home))
    assert running
    assert running.registry
    down = streamtable("dev", "down", "--dir", home)
    assert down.stdout.endswith(" and the schema registry\n")
    assert not running.registry.process.alive

    again = streamtable("dev", "up", "--schema-registry", "--json", "--dir", home)
    assert again.stdout == up.stdout
    assert ask(url, "/subjects/s/versions", schema) == first


def test_a_registry_whose_broker_died_is_stopped(tmp_path: Path) -> None:
    left = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with left:
        process = Process.of(left.pid)
        assert process
        state = {
            "process": {"pid": left.pid, "started": "long ago"},
            "port": 9092,
            "directory": str(tmp_path),
            "registry": {"process": asdict(process), "port": 8081},
        }
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev" / "state.json").write_text(json.dumps(state))
        assert dev.down(tmp_path) is None
        assert left.wait(10) != 0


def ask(url: str, path: str, schema: dict[str, object]) -> dict[str, object]:
    body = json.dumps({"schema": json.dumps(schema)}).encode()
    headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
    request = urllib.request.Request(url + path, body, headers)  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            found = json.load(answer)
    except urllib.error.HTTPError as refused:
        found = json.load(refused)
    assert isinstance(found, dict)
    return found
