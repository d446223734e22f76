"""The broker is a real Kafka: compaction, transactions, kept data, and a stop when requested."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.devbroker import broker as broker_module
from streamtable.devbroker.broker import Broker
from streamtable.testing.topics import records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Topics

pytestmark = pytest.mark.kafka

Record = tuple[bytes | None, bytes | None]


def produce(servers: str, topic: str, records: list[Record]) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 0})
    for key, value in records:
        producer.produce(topic, value, key)
    assert producer.flush(30) == 0


def read(servers: str, topic: str, isolation: str = "read_committed") -> list[Record]:
    """Return all records of a one-partition topic, from its start to its end."""
    found = records(servers, topic, isolation)
    return [(record.key(), record.value()) for record in found]


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 90
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def test_compaction_leaves_the_last_value_of_each_key(broker: Broker, topic: Topics) -> None:
    name = topic(
        "compacted",
        config={
            "cleanup.policy": "compact",
            "segment.ms": "100",
            "min.cleanable.dirty.ratio": "0.01",
            "delete.retention.ms": "0",
        },
    )
    servers = broker.bootstrap_servers
    produce(servers, name, [(b"k%d" % (i % 3), b"%d" % i) for i in range(300)])

    def compacted() -> bool:
        # The newest segment is never cleaned. A new record makes Kafka roll the segment.
        produce(servers, name, [(b"tick", b"")])
        return len([r for r in read(servers, name) if r[0] != b"tick"]) == 3

    assert eventually(compacted)
    left = [r for r in read(servers, name) if r[0] != b"tick"]
    assert left == [(b"k0", b"297"), (b"k1", b"298"), (b"k2", b"299")]


def test_aborted_transactions_are_not_read(broker: Broker, topic: Topics) -> None:
    servers, name = broker.bootstrap_servers, topic("transactions")
    producer = Producer({"bootstrap.servers": servers, "transactional.id": name})
    producer.init_transactions(30)
    for value, commit in ((b"kept", True), (b"dropped", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.produce(name, value)
        producer.flush(30)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)

    assert read(servers, name) == [(None, b"kept"), (None, b"kept too")]
    assert len(read(servers, name, "read_uncommitted")) == 3


def test_topics_are_not_created_automatically(broker: Broker) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.list_topics("never-created", timeout=10)
    assert "never-created" not in admin.list_topics(timeout=10).topics


def test_kill_and_restart_keep_address_and_data(tmp_path: Path) -> None:
    with Broker(tmp_path) as own:
        servers, first = own.bootstrap_servers, own.pid
        admin = AdminClient({"bootstrap.servers": servers})
        admin.create_topics([NewTopic("kept", 1)])["kept"].result(30)
        produce(servers, "kept", [(b"k", b"v")])
        own.kill()
        own.restart()
        assert own.bootstrap_servers == servers
        assert own.pid not in (None, first)
        assert read(servers, "kept") == [(b"k", b"v")]


def test_broker_dies_with_a_killed_owner(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys\n"
        "from streamtable.devbroker.broker import Broker\n"
        "with Broker(pathlib.Path(sys.argv[1])) as broker:\n"
        "    print(broker.pid, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout
        orphan = Process.of(int(owner.stdout.readline()))
        assert orphan
        owner.kill()
    assert eventually(lambda: not orphan.alive)


def test_ctrl_c_does_not_reach_the_broker(broker: Broker) -> None:
    assert broker.pid
    assert os.getsid(broker.pid) != os.getsid(0)
    assert os.getpgid(broker.pid) != os.getpgid(0)


def test_a_taken_port_is_replaced_by_a_free_port(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = [(broker.port, 31_999)]
    choose = broker_module._free_ports
    monkeypatch.setattr(
        broker_module,
        "_free_ports",
        lambda port, others: choices.pop() if choices else choose(port, others),
    )
    with Broker(tmp_path) as other:
        assert not choices
        assert other.port != broker.port


def test_a_requested_port_that_is_taken_is_an_error(broker: Broker, tmp_path: Path) -> None:
    with pytest.raises(StreamtableError, match=str(broker.port)) as caught:
        Broker(tmp_path, port=broker.port).start()
    assert caught.value.condition is Condition.DEV_BROKER_FAILED


def test_failure_shows_the_error_of_kafka(tmp_path: Path) -> None:
    wrong = Broker(tmp_path, config={"num.partitions": "many"})
    with pytest.raises(StreamtableError, match=r"many for configuration num\.partitions") as caught:
        wrong.start()
    assert caught.value.condition is Condition.DEV_BROKER_FAILED
    assert wrong.pid is None


def test_the_broker_stops_on_sigterm(tmp_path: Path) -> None:
    with Broker(tmp_path) as own:
        process = own.process
        assert process
        os.kill(process.pid, signal.SIGTERM)
        assert eventually(lambda: not process.alive)
        assert own.pid is None
