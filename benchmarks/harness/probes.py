"""Measure latencies of a running job from outside.

Records are sent at a constant rate, each with its send time. The job passes on the newest send time
of each result. A consumer measures when the results arrive. A result stands for all records of its
key up to this send time, so an engine that combines changes gains nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from typing import Self

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.harness.topics import PARTITIONS
from benchmarks.workloads.records import Record

#: Two input topics and the result topic.
TOPICS = ("t", "sides", "o")
KEYS = 100
#: Warm-up at each rate, before latencies are measured.
WARM_UP_S = 5.0
START_S = 180.0
#: Records that are due within this time, in seconds, are sent together.
_NAP_S = 0.0005


class Results(threading.Thread):
    """Read the result topic in a context; record (sent, latency) in epoch time and milliseconds.

    The result of a record is the first output of its key with its send time or a later one.

    Args:
        servers: the brokers.
        groups: the job's results have the numbers of the records modulo this number.
    """

    def __init__(self, servers: str, groups: int = KEYS) -> None:
        super().__init__(daemon=True)
        self.done = threading.Event()
        self.seen: list[tuple[float, float]] = []
        self._waiting: list[deque[int]] = [deque() for _ in range(groups)]
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
        """Run the thread."""
        while not self.done.is_set():
            message = self._consumer.poll(0.1)
            now = time.time_ns() / 1e6
            if message is None or message.error() is not None:
                continue
            value = message.value()
            if value is not None:
                row = json.loads(value)
                waiting = self._waiting[row["id"]]
                while waiting and waiting[0] <= row["sent"]:
                    sent = waiting.popleft() / 1e3
                    self.seen.append((sent, now - sent))
        self._consumer.close()

    def expect(self, key: int, sent: int) -> None:
        """Wait for the result of a record that is sent now; the time is in microseconds."""
        self._waiting[key % len(self._waiting)].append(sent)


def sender(servers: str) -> Producer:
    """Return a producer without linger; it batches records only while a request is in flight.

    With a request per record, the producer would use more of the machine than the measured job.
    """
    settings = {"linger.ms": 0, "max.in.flight": 1, "log_level": 0}
    return Producer({"bootstrap.servers": servers, **settings})


def until_running(producer: Producer, results: Results) -> None:
    """Send probes until a result arrives."""
    deadline = time.monotonic() + START_S
    while not results.seen:
        if time.monotonic() > deadline:
            message = f"no result within {START_S:.0f} s"
            raise RuntimeError(message)
        _probe(producer, 0, results)
        producer.flush()
        time.sleep(0.2)


def at(rate: int, seconds: float, producer: Producer, results: Results) -> list[float]:
    """Measure latencies in milliseconds at a rate, after a warm-up."""
    begun = time.monotonic()
    counts_from = time.time_ns() / 1e6 + WARM_UP_S * 1e3
    sent = 0
    while (elapsed := time.monotonic() - begun) < seconds + WARM_UP_S:
        while sent < elapsed * rate:
            _probe(producer, sent % KEYS, results)
            sent += 1
        producer.poll(0)
        time.sleep(max(_NAP_S, begun + sent / rate - time.monotonic()))
    producer.flush()
    time.sleep(2)
    return [latency for at, latency in list(results.seen) if at >= counts_from]


def _probe(producer: Producer, key: int, results: Results) -> None:
    sent = time.time_ns() // 1000
    results.expect(key, sent)
    _send(producer, record("t", key, sent))


def _send(producer: Producer, made: Record) -> None:
    """Produce a record; wait if the buffer is full."""
    name, encoded, value = made
    while True:
        try:
            return producer.produce(name, key=encoded, value=value)
        except BufferError:
            producer.poll(0.01)


def fill_sides(producer: Producer) -> None:
    """Give each key a row in the side table of the joins."""
    for key in range(KEYS):
        _send(producer, record("sides", key))
    producer.flush()


def record(topic: str, key: int, sent: int | None = None) -> Record:
    """Return a record with a key and a send time in microseconds, by default the current one."""
    value = {"id": key, "sent": time.time_ns() // 1000 if sent is None else sent}
    return topic, json.dumps({"id": key}).encode(), json.dumps(value).encode()
