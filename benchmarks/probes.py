"""Latencies of a running job, from outside: records at an even rate, and when results of them come.

A record has the moment in it when it was sent; the job hands the newest one of a result on.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Self

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.topics import PARTITIONS
from benchmarks.workloads import Record

#: Two inputs and the result.
TOPICS = ("t", "sides", "o")
KEYS = 100
#: At each rate, before latencies count.
WARM_UP_S = 5.0
START_S = 180.0
#: Records that are due within such a time are sent together, in seconds.
_NAP_S = 0.0005


class Results(threading.Thread):
    """Reads the result topic, as a context; keeps (sent, latency), in epoch and milliseconds.

    A record's result is the first that knows of it: one that takes an older row back on the way to
    the newer one shows a moment that was seen before, and is left out.
    """

    def __init__(self, servers: str) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.seen: list[tuple[float, float]] = []
        self._newest: dict[bytes, float] = {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "latency",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition("o", p, 0) for p in range(PARTITIONS)])

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.join()

    def run(self) -> None:
        """The thread."""
        while not self.done.is_set():
            message = self._consumer.poll(0.1)
            now = time.time_ns() / 1e6
            if message is None or message.error() is not None:
                continue
            value = message.value()
            if value is not None:
                sent = json.loads(value)["sent"] / 1e3
                if self._is_new(message.key(), sent):
                    self.seen.append((sent, now - sent))
        self._consumer.close()

    def _is_new(self, key: bytes | None, sent: float) -> bool:
        if key is None:
            return True
        before = self._newest.get(key, 0.0)
        self._newest[key] = max(before, sent)
        return sent > before


def sender(servers: str) -> Producer:
    """Sends at once, and with a request what has come while the one before was under way.

    A request for each record would take more of the machine than the job does that is measured.
    """
    settings = {"linger.ms": 0, "max.in.flight": 1, "log_level": 0}
    return Producer({"bootstrap.servers": servers, **settings})


def until_running(producer: Producer, results: Results) -> None:
    """Probes until a result comes."""
    deadline = time.monotonic() + START_S
    while not results.seen:
        if time.monotonic() > deadline:
            message = f"no result within {START_S:.0f} s"
            raise RuntimeError(message)
        send(producer, "t", 0)
        producer.flush()
        time.sleep(0.2)


def at(rate: int, seconds: float, producer: Producer, results: Results) -> list[float]:
    """Latencies in milliseconds while records come at a rate, after a warm-up."""
    begun = time.monotonic()
    counts_from = time.time_ns() / 1e6 + WARM_UP_S * 1e3
    sent = 0
    while (elapsed := time.monotonic() - begun) < seconds + WARM_UP_S:
        while sent < elapsed * rate:
            send(producer, "t", sent % KEYS)
            sent += 1
        producer.poll(0)
        time.sleep(max(_NAP_S, begun + sent / rate - time.monotonic()))
    producer.flush()
    time.sleep(2)
    return [latency for at, latency in list(results.seen) if at >= counts_from]


def send(producer: Producer, topic: str, key: int) -> None:
    """Produces a record of a key, as soon as there is room for it."""
    name, encoded, value = record(topic, key)
    while True:
        try:
            return producer.produce(name, key=encoded, value=value)
        except BufferError:
            producer.poll(0.01)


def record(topic: str, key: int) -> Record:
    """A record of a key with the moment, in microseconds."""
    value = {"id": key, "sent": time.time_ns() // 1000}
    return topic, json.dumps({"id": key}).encode(), json.dumps(value).encode()
