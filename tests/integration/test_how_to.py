"""The programs of the how-to pages run unchanged. Only broker and topics are those of the suite."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer

from streamtable.testing.topics import records

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_PAGES = Path(__file__).parents[2] / "docs" / "how-to"
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _programs(page: str, names: dict[str, str]) -> list[str]:
    text = (_PAGES / page).read_text(encoding="utf-8")
    for name, value in names.items():
        assert f'"{name}"' in text
        text = text.replace(f'"{name}"', f'"{value}"')
    return _PYTHON.findall(text)


def _send(broker: Broker, topic: str, *sent: tuple[bytes, bytes | None, Any]) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for key, value, headers in sent:
        producer.produce(topic, value, key, headers=headers)
    assert producer.flush(30) == 0


def test_dead_letters_are_written_again(broker: Broker, topic: Topics) -> None:
    source, dead = topic(), topic(partitions=2)
    (program,) = _programs(
        "dead-letters.md",
        {"127.0.0.1:9092": broker.bootstrap_servers, "orders": source, "orders-dead": dead},
    )

    def letter(key: bytes, value: bytes | None, *place: str) -> tuple[bytes, bytes | None, Any]:
        names = (f"streamtable.source.{name}" for name in ("topic", "partition", "offset"))
        return key, value, list(zip(names, place, strict=True))

    first = letter(b"k", b"{'order_id': 1}", source, "0", "7")
    tombstone = letter(b"unreadable", None, "another topic", "0", "7")
    _send(broker, dead, first, first, tombstone)
    exec(program, {})  # noqa: S102 - a program of our own page
    found = {(r.key(), r.value()) for r in records(broker.bootstrap_servers, source)}
    assert found == {(b"k", b'{"order_id": 1}'), (b"unreadable", None)}
    assert sum(1 for _ in records(broker.bootstrap_servers, source)) == 2


def test_obsolete_keys_are_deleted(broker: Broker, topic: Topics) -> None:
    name = topic(partitions=3)
    before, after = _programs(
        "repair-keys.md", {"127.0.0.1:9092": broker.bootstrap_servers, "totals": name}
    )
    _send(broker, name, *((f"k{i}".encode(), b"old", None) for i in range(9)), (b"k8", None, None))
    names: dict[str, Any] = {}
    exec(before, names)  # noqa: S102 - a program of our own page
    _send(broker, name, *((f"k{i}".encode(), b"new", None) for i in range(4)))
    exec(after, names)  # noqa: S102 - a program of our own page
    folded = {r.key(): r.value() for r in records(broker.bootstrap_servers, name)}
    assert {key for key, value in folded.items() if value} == {b"k0", b"k1", b"k2", b"k3"}
    assert sum(1 for _ in records(broker.bootstrap_servers, name)) == 9 + 1 + 4 + 4
