"""Producer of page views: all at once, or at a constant rate until a stop."""

from __future__ import annotations

import threading
import time
from collections import deque
from itertools import islice
from typing import Any

from confluent_kafka import Producer

from streamtable.core.errors import Condition, StreamtableError
from streamtable.demo.page_views import Tally, page_views

_TICK_S = 0.01
_FLUSH_S = 30.0


class ViewProducer:
    """Producer that sends page views to a topic and counts them.

    Attributes:
        tally: counts of the views sent so far.
        done: set when all requested views have reached the broker.
    """

    def __init__(self, servers: str, topic: str, seed: int | None) -> None:
        self.tally = Tally()
        self.done = threading.Event()
        self._servers = servers
        self._topic = topic
        self._views = page_views(seed)
        self._refused: list[Any] = []
        #: (total of views sent, monotonic time), oldest first; `sent_at` drops passed entries.
        self._sent: deque[tuple[int, float]] = deque()
        # Delivery reports contain all errors; the client's own log would repeat them.
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, "log_level": 0})

    def send_all(self, events: int) -> None:
        """Send this number of views as fast as possible; return when the broker has all of them.

        Raises:
            StreamtableError: BROKER_FAILED if the broker rejects a record.
        """
        self._send(events)
        self._finish()

    def send_at(self, rate: int, events: int | None, stop: threading.Event) -> None:
        """Send views at a constant rate.

        Args:
            rate: views per second.
            events: total number of views; None is unlimited.
            stop: event that ends the sending early.

        Raises:
            StreamtableError: BROKER_FAILED if the broker rejects a record.
        """
        begun = time.monotonic()
        while events is None or self.tally.total < events:
            due = int((time.monotonic() - begun) * rate) + 1
            if events is not None:
                due = min(due, events)
            # Send at most the views of one second at once, so that a stop takes effect soon.
            self._send(min(due - self.tally.total, rate))
            self._sent.append((self.tally.total, time.monotonic()))
            if stop.wait(_TICK_S):
                break
        self._finish()

    def sent_at(self, number: int) -> float | None:
        """Return the monotonic send time of a view by its number; numbers must not decrease."""
        while self._sent and self._sent[0][0] < number:
            self._sent.popleft()
        return self._sent[0][1] if self._sent else None

    def _send(self, events: int) -> None:
        for view in islice(self._views, events):
            self._produce(view.record())
            self.tally.add(view)
        self._producer.poll(0)
        self._check()

    def _produce(self, record: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._topic, record, on_delivery=self._on_delivery)
            except BufferError:  # the client's queue is full: wait until it has sent some records
                self._producer.poll(0.1)
            else:
                return

    def _on_delivery(self, error: Any, _message: Any) -> None:
        if error is not None:
            self._refused.append(error)

    def _finish(self) -> None:
        if self._producer.flush(_FLUSH_S):
            self._refused.append(f"no answer within {_FLUSH_S:.0f} s")
        self._check()
        self.done.set()

    def _check(self) -> None:
        if self._refused:
            raise StreamtableError(
                Condition.BROKER_FAILED,
                system="Kafka",
                servers=self._servers,
                reason=self._refused[0],
            )
