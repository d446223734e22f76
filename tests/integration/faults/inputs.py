"""Two topics with a continuous input, and the expected rows of four queries over them.

No event is later in its partition than the watermark allows, and a new partition begins at the time
of the latest event. So no query may drop an event, whatever the order of reading the partitions.
"""

from __future__ import annotations

import json
import random
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer
from tests.integration.event_time.support import moment

#: Milliseconds that an event may be late, and length of a window in milliseconds.
LATE_MS, WINDOW_MS = 2_000, 10_000
#: The query joins the events whose ids are multiples of this number.
JOINED = 20
_KEYS = 12
_FIRST_MS = 10_000
_PAUSE_S = 0.2
_EVENTS = 6
#: Probability that a price comes with events. A price updates the joined events of its key.
_A_PRICE = 0.2
_SEND_S = 180


@dataclass(frozen=True)
class Event:
    """A row of `events`. Its time in milliseconds is never the end of a window."""

    id: int
    k: int
    v: int
    ms: int
    partition: int

    @property
    def value(self) -> bytes:
        """The value of the record in the topic."""
        row = {"id": self.id, "k": self.k, "v": self.v, "ts": moment(self.ms)}
        return json.dumps(row).encode()


class Inputs:
    """Feed the topics, and keep their rows to compute the expected rows of the queries.

    Args:
        servers: bootstrap servers of the topics.
        events: name of the topic of events.
        prices: name of the upsert topic of prices.
        seed: seed of the random rows.
    """

    def __init__(self, servers: str, events: str, prices: str, seed: int) -> None:
        self._topics = (events, prices)
        self._servers = servers
        self._dice = random.Random(seed)
        self._lock = threading.RLock()
        self._events: list[Event] = []
        self._prices: dict[int, int] = {}
        self._clocks: dict[int, int] = {}
        self._id = 0
        self._producer = self._new_producer()

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Feed rows all the time, also while brokers stop and start.

        Raises:
            AssertionError: the brokers did not accept a row.
        """
        done = threading.Event()
        failed: list[BaseException] = []

        def feed() -> None:
            while not done.wait(_PAUSE_S):
                try:
                    self.feed(_EVENTS, 1 if self._dice.random() < _A_PRICE else 0)
                except AssertionError as error:
                    failed.append(error)
                    return

        thread = threading.Thread(target=feed)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            assert not failed, failed

    @contextmanager
    def held(self) -> Iterator[None]:
        """Pause the input, except for rows that the block itself feeds."""
        with self._lock:
            yield

    def feed(self, events: int, prices: int) -> None:
        """Send more rows, and wait until the brokers have acknowledged all of them."""
        with self._lock:
            self._send([self._event(self._partition()) for _ in range(events)])
            self._send_prices(self._dice.randrange(_KEYS) for _ in range(prices))

    def has_partitions(self, count: int) -> None:
        """Set the number of partitions of `events`, and send first rows to new partitions."""
        with self._lock:
            self._producer = self._new_producer()
            new = range(len(self._clocks), count)
            latest = max(self._clocks.values(), default=_FIRST_MS)
            self._clocks |= dict.fromkeys(new, latest)
            self._send([self._event(p) for p in new for _ in range(3)])

    def send_prices_again(self) -> None:
        """Send the price of each key again."""
        with self._lock:
            self._producer = self._new_producer()
            for k, price in self._prices.items():
                self._deliver_price(k, price)
            self._flush()

    def is_anew(self, *, events: bool, partitions: int) -> None:
        """Forget the rows of a topic that was deleted and created again, and send first rows.

        Args:
            events: whether the topic is that of the events, not that of the prices.
            partitions: number of partitions of the new topic.
        """
        with self._lock:
            self._producer = self._new_producer()
            if not events:
                self._prices = {}
                self._send_prices(self._dice.sample(range(_KEYS), 3))
                return
            self._events = []
            # All partitions continue at the time of the latest event, as new partitions do.
            self._clocks = dict.fromkeys(range(partitions), max(self._clocks.values()))
            self._send([self._event(p) for p in range(partitions) for _ in range(3)])

    @property
    def partitions(self) -> int:
        """The number of partitions of `events`."""
        return len(self._clocks)

    @property
    def events(self) -> int:
        """The number of events."""
        return len(self._events)

    def copied(self) -> set[tuple[int, ...]]:
        """SELECT id, k, v FROM events."""
        return {(e.id, e.k, e.v) for e in self._events}

    def totals(self) -> dict[tuple[int], Mapping[str, Any]]:
        """SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(id) AS hi FROM events GROUP BY k."""
        return {
            (k,): {"k": k, "n": len(es), "total": sum(e.v for e in es), "hi": es[-1].id}
            for k, es in self._by_key().items()
        }

    def joined(self) -> dict[tuple[int], Mapping[str, Any]]:
        """Return every `JOINED`th event with the price of its key; NULL without a price."""
        return {
            (e.id,): {"id": e.id, "k": e.k, "price": self._prices.get(e.k)}
            for e in self._events
            if e.id % JOINED == 0
        }

    def windows(self, *, ended: bool) -> set[tuple[int, int, int, int]]:
        """Return start, key, count and sum of all windows, or of those before the watermark."""
        found: dict[tuple[int, int], list[Event]] = defaultdict(list)
        for event in self._events:
            found[event.ms - event.ms % WINDOW_MS, event.k].append(event)
        watermark = self._watermark()
        return {
            (start, k, len(es), sum(e.v for e in es))
            for (start, k), es in found.items()
            if ended or start + WINDOW_MS <= watermark
        }

    def _watermark(self) -> int:
        latest = dict.fromkeys(self._clocks, 0)
        for event in self._events:
            if event.partition in latest:
                latest[event.partition] = max(latest[event.partition], event.ms)
        return min(latest.values()) - LATE_MS

    def _by_key(self) -> dict[int, list[Event]]:
        found: dict[int, list[Event]] = defaultdict(list)
        for event in self._events:
            found[event.k].append(event)
        return dict(found)

    def _partition(self) -> int:
        """Return a random partition, so that skew grows, or the slowest, so that windows end."""
        if self._dice.random() < 0.5:
            return min(self._clocks, key=lambda p: self._clocks[p])
        return self._dice.choice(list(self._clocks))

    def _event(self, partition: int) -> Event:
        clock = self._clocks[partition] + self._dice.choice([0, 100, 400, 900])
        self._clocks[partition] = clock
        ms = clock - clock % 100 - self._dice.randrange(0, LATE_MS, 100) + 50
        self._id += 1
        k, v = self._dice.randrange(_KEYS), self._dice.randrange(100)
        return Event(self._id, k, v, ms, partition)

    def _send(self, events: Iterable[Event]) -> None:
        for event in events:
            self._deliver(0, None, event.value, event.partition)
            self._events.append(event)
        self._flush()

    def _send_prices(self, keys: Iterable[int]) -> None:
        for k in keys:
            price = self._dice.randrange(1_000)
            if self._dice.random() < 0.2:
                self._prices.pop(k, None)
                self._deliver_price(k, None)
            else:
                self._prices[k] = price
                self._deliver_price(k, price)
        self._flush()

    def _deliver_price(self, k: int, price: int | None) -> None:
        key = json.dumps({"k": k}, separators=(",", ":")).encode()
        value = None if price is None else json.dumps({"k": k, "price": price}).encode()
        self._deliver(1, key, value)

    def _deliver(
        self, topic: int, key: bytes | None, value: bytes | None, partition: int = -1
    ) -> None:
        def done(error: object, _: object) -> None:
            assert error is None, error

        self._producer.produce(self._topics[topic], value, key, partition, on_delivery=done)

    def _flush(self) -> None:
        left = self._producer.flush(_SEND_S)
        assert left == 0, f"the brokers have not taken {left} rows in {_SEND_S} s"

    def _new_producer(self) -> Producer:
        """Return a producer without metadata of old partitions or old topics of the same name."""
        return Producer(
            {
                "bootstrap.servers": self._servers,
                "linger.ms": 5,
                "partitioner": "murmur2_random",
                # Write each record once, also if a broker dies before its acknowledgement.
                "enable.idempotence": True,
                "message.timeout.ms": _SEND_S * 1_000,
                "log_level": 0,
            }
        )
