"""Two topics that rows go on coming to, and what four queries over them must answer.

Events carry a time of which none comes later, in its partition, than the watermark allows. So none
may be left out, however the partitions are read: a partition that is new begins behind the latest
event there is.
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

#: Milliseconds that an event may come late, and of a window.
LATE_MS, WINDOW_MS = 2_000, 10_000
#: One event of so many is joined.
JOINED = 20
_KEYS = 12
_FIRST_MS = 10_000
_PAUSE_S = 0.2
_EVENTS = 6
#: How often a price comes with them: each changes a row of every event of its key.
_A_PRICE = 0.2
_SEND_S = 180


@dataclass(frozen=True)
class Event:
    """A row of `events`; its moment in milliseconds is never one at which a window ends."""

    id: int
    k: int
    v: int
    ms: int
    partition: int

    @property
    def value(self) -> bytes:
        """As the topic holds it."""
        row = {"id": self.id, "k": self.k, "v": self.v, "ts": moment(self.ms)}
        return json.dumps(row).encode()


class Inputs:
    """The topics' rows so far, and more of them as long as they are not held.

    Args:
        servers: of the topics.
        events: name of the topic of events.
        prices: name of the upsert topic of prices.
        seed: of the rows.
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
        """More rows all the time, also while brokers come and go.

        Raises:
            AssertionError: the brokers did not take one of them.
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
        """Nothing comes meanwhile but what the block itself feeds."""
        with self._lock:
            yield

    def feed(self, events: int, prices: int) -> None:
        """So many more rows, all acknowledged."""
        with self._lock:
            self._send([self._event(self._partition()) for _ in range(events)])
            self._send_prices(self._dice.randrange(_KEYS) for _ in range(prices))

    def has_partitions(self, count: int) -> None:
        """Tells how many partitions `events` has; each new one gets its first rows."""
        with self._lock:
            self._producer = self._new_producer()
            new = range(len(self._clocks), count)
            latest = max(self._clocks.values(), default=_FIRST_MS)
            self._clocks |= dict.fromkeys(new, latest)
            self._send([self._event(p) for p in new for _ in range(3)])

    def send_prices_again(self) -> None:
        """The price of each key once more."""
        with self._lock:
            self._producer = self._new_producer()
            for k, price in self._prices.items():
                self._deliver_price(k, price)
            self._flush()

    def is_anew(self, *, events: bool, partitions: int) -> None:
        """Tells that a topic was deleted and created again.

        Args:
            events: whether it is that of the events, or that of the prices.
            partitions: those that it has now.
        """
        with self._lock:
            self._producer = self._new_producer()
            if not events:
                self._prices = {}
                self._send_prices(self._dice.sample(range(_KEYS), 3))
                return
            self._events = []
            # All go on behind the latest event, as those of partitions that are new.
            self._clocks = dict.fromkeys(range(partitions), max(self._clocks.values()))
            self._send([self._event(p) for p in range(partitions) for _ in range(3)])

    @property
    def partitions(self) -> int:
        """How many `events` has."""
        return len(self._clocks)

    @property
    def events(self) -> int:
        """How many there are."""
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
        """One event of so many with the price of its key; NULL for none."""
        return {
            (e.id,): {"id": e.id, "k": e.k, "price": self._prices.get(e.k)}
            for e in self._events
            if e.id % JOINED == 0
        }

    def windows(self, *, ended: bool) -> set[tuple[int, int, int, int]]:
        """Start, key, count and sum of each window that the watermark has passed, or of all."""
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
        """Any, so that some are far ahead of others; often the last, so that windows end."""
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
        """One that knows nothing of former partitions, or topics of the same name."""
        return Producer(
            {
                "bootstrap.servers": self._servers,
                "linger.ms": 5,
                "partitioner": "murmur2_random",
                # Each record once, also where a broker dies between taking it and saying so.
                "enable.idempotence": True,
                "message.timeout.ms": _SEND_S * 1_000,
                "log_level": 0,
            }
        )
