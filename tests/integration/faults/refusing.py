"""A broker that is not ready yet: it refuses the first records of a producer."""

from __future__ import annotations

import selectors
import socket
import struct
import threading
from contextlib import suppress
from typing import Self

from streamtable.devbroker.broker import free_port

_HOST = "127.0.0.1"
_PRODUCE = 0
_NOT_LEADER = 6

#: The flexible versions of produce requests that have names of topics, not ids.
_VERSIONS = range(9, 13)

#: Seconds that a refusal waits for a second request in flight, which may never come.
_NEXT_S = 1.0


class RefusingBroker:
    """Forward messages between clients and a broker, but refuse the first records of a partition.

    A broker that starts again refuses with NOT_LEADER_OR_FOLLOWER until it leads its partitions.
    The proxy sends the refusal once the producer has sent another request, which the broker then
    accepts: the race of a restart, every time.

    Attributes:
        refused: topic and partition of the refused records.
    """

    def __init__(self, port: int, topic: str) -> None:
        self.refused: set[tuple[str, int]] = set()
        self._topic = topic
        self._broker = port
        self._listening = socket.create_server((_HOST, free_port()))
        self.port: int = self._listening.getsockname()[1]
        self._open: list[socket.socket] = []

    @property
    def servers(self) -> str:
        """The address for `properties.bootstrap.servers`."""
        return f"{_HOST}:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listening, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                broker = socket.create_connection((_HOST, self._broker))
                self._open += [client, broker]
                for ours, theirs, work in (
                    (client, broker, self._requests),
                    (broker, client, self._answers),
                ):
                    threading.Thread(
                        target=_ends_both, args=(work, ours, theirs), daemon=True
                    ).start()

    def _requests(self, client: socket.socket, broker: socket.socket) -> None:
        while frame := _frame(client):
            key, version, number = struct.unpack_from(">hhi", frame)
            sent = _partitions(frame) if key == _PRODUCE and version in _VERSIONS else {}
            new = {(t, p) for t, ps in sent.items() for p in ps if t == self._topic} - self.refused
            if not new:
                broker.sendall(struct.pack(">i", len(frame)) + frame)
                continue
            self.refused |= new
            with selectors.DefaultSelector() as another:
                another.register(client, selectors.EVENT_READ)
                another.select(_NEXT_S)
            answer = _refusal(number, version, sent)
            client.sendall(struct.pack(">i", len(answer)) + answer)

    def _answers(self, broker: socket.socket, client: socket.socket) -> None:
        """Forward answers, and replace the broker's address with the address of the proxy."""
        theirs, ours = (
            _HOST.encode() + struct.pack(">i", port) for port in (self._broker, self.port)
        )
        while frame := _frame(broker):
            client.sendall(struct.pack(">i", len(frame)) + frame.replace(theirs, ours))


def _ends_both(work: object, ours: socket.socket, theirs: socket.socket) -> None:
    assert callable(work)
    with suppress(OSError):
        work(ours, theirs)
    for each in (ours, theirs):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _frame(source: socket.socket) -> bytes:
    """Return the next message without its length, or an empty one at the end."""
    size = _exactly(source, 4)
    return _exactly(source, struct.unpack(">i", size)[0]) if size else b""


def _exactly(source: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = source.recv(size - len(found))
        if not piece:
            return b""
        found += piece
    return found


class _Reader:
    """Reader of Kafka's compact encoding."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at

    def skip(self, size: int) -> None:
        self._at += size

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def compact(self) -> bytes:
        """Return bytes or a text; empty for null."""
        return self.take(max(0, self.varint() - 1))

    def tags(self) -> None:
        for _ in range(self.varint()):
            self.varint()
            self.skip(self.varint())


def _partitions(frame: bytes) -> dict[str, list[int]]:
    """Return topic -> partitions for which a request of `_VERSIONS` has records."""
    client = struct.unpack_from(">h", frame, 8)[0]
    reader = _Reader(frame, 10 + max(0, client))
    reader.tags()
    reader.compact()  # the transactional id
    reader.skip(2 + 4)  # acks, timeout
    found: dict[str, list[int]] = {}
    for _ in range(reader.varint() - 1):
        topic = reader.compact().decode()
        for _ in range(reader.varint() - 1):
            found.setdefault(topic, []).append(struct.unpack(">i", reader.take(4))[0])
            reader.compact()  # the records
            reader.tags()
        reader.tags()
    return found


def _refusal(number: int, version: int, sent: dict[str, list[int]]) -> bytes:
    """Return the answer to a request that the broker leads none of its partitions."""
    leader = b"\x00"  # no tags; those of version 10 and later would name the leader
    assert version in _VERSIONS
    topics = b"".join(
        _compact(topic.encode())
        + bytes([len(partitions) + 1])
        + b"".join(
            struct.pack(">ihqqq", p, _NOT_LEADER, -1, -1, -1) + b"\x01\x00" + leader
            for p in partitions
        )
        + b"\x00"
        for topic, partitions in sent.items()
    )
    return struct.pack(">i", number) + b"\x00" + bytes([len(sent) + 1]) + topics + bytes(5)


def _compact(text: bytes) -> bytes:
    return bytes([len(text) + 1]) + text
