"""The producer of page views: all at once, or at an even rate until it is stopped."""

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
    """Sends page views to a topic and counts them.

    Attributes:
        tally: what was sent so far.
        done: set once everything that was asked for has reached the broker.
    """

    def __init__(self, servers: str, topic: str, seed: int | None) -> None:
        self.tally = Tally()
        self.done = threading.Event()
        self._servers = servers
        self._topic = topic
        self._views = page_views(seed)
        self._refused: list[Any] = []
        #: (views sent by then, monotonic time), oldest first; `sent_at` drops what it has passed.
        self._sent: deque[tuple[int, float]] = deque()
        # What goes wrong comes back with each record; the client's own log would repeat it.
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 5, "log_level": 0})

    def send_all(self, events: int) -> None:
        """Sends so many views as fast as they are taken; returns when the broker has them all.

        Raises:
            StreamtableError: BROKER_FAILED, when it does not take one.
        """
        self._send(events)
        self._finish()

    def send_at(self, rate: int, events: int | None, stop: threading.Event) -> None:
        """Sends views at an even rate.

        Args:
            rate: views a second.
            events: how many in all; None is no end.
            stop: ends it early.

        Raises:
            StreamtableError: BROKER_FAILED, when the broker does not take one.
        """
        begun = time.monotonic()
        while events is None or self.tally.total < events:
            due = int((time.monotonic() - begun) * rate) + 1
            if events is not None:
                due = min(due, events)
            # No more than a second's worth at once, so that a stop is soon heard.
            self._send(min(due - self.tally.total, rate))
            self._sent.append((self.tally.total, time.monotonic()))
            if stop.wait(_TICK_S):
                break
        self._finish()

    def sent_at(self, number: int) -> float | None:
        """When the view of that number was sent, monotonic; numbers asked for must not fall."""
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
            except BufferError:  # the client's queue is full: let some of it go out
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
                Condition.BROKER_FAILED, servers=self._servers, reason=self._refused[0]
            )
