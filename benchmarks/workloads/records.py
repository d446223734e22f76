"""Records of the workloads, for a scale; 1.0 is the scale of the published results."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Iterator

#: (topic, key, value) of a record to produce; a value of None is a tombstone.
Record = tuple[str, bytes | None, bytes | None]


def _json(**values: object) -> bytes:
    return json.dumps(values).encode()


def page_views(scale: float) -> Iterator[Record]:
    """Yield views of 1,000 pages by 200,000 users in 50 regions."""
    source = random.Random(1)
    regions = [f"region-{i:02}" for i in range(50)]
    for i in range(int(5_000_000 * scale)):
        value = (
            f'{{"user_id": {source.randrange(200_000)}, "page_id": {source.randrange(1_000)},'
            f' "viewtime": "2026-01-01 {i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}",'
            f' "user_region": "{regions[source.randrange(50)]}"}}'
        )
        yield "views", None, value.encode()


def orders(scale: float, keys: int = 1_000_000) -> Iterator[Record]:
    """Yield five versions of each key, one in twenty a delete; 100,000 users."""
    source = random.Random(2)
    many = int(keys * scale)
    for _ in range(5):
        for _ in range(many):
            key = source.randrange(many)
            value = None
            if source.random() >= 0.05:
                value = _json(id=key, user_id=source.randrange(100_000), x=source.randrange(1_000))
            yield "orders", _json(id=key), value


def two_sides(scale: float) -> Iterator[Record]:
    """Yield values of both sides in turn, with keys that repeat."""
    source = random.Random(3)
    keys = int(500_000 * scale)
    for i in range(int(2_000_000 * scale)):
        key = source.randrange(keys)
        side = ("lefts", "rights")[i % 2]
        yield side, _json(id=key), _json(id=key, v=source.randrange(10**6))


def three_streams(scale: float) -> Iterator[Record]:
    """Yield values of three topics in turn, with keys that repeat."""
    source = random.Random(5)
    keys = int(500_000 * scale)
    for i in range(int(3_000_000 * scale)):
        name = ("as", "bs", "cs")[i % 3]
        yield name, None, _json(id=source.randrange(keys), v=source.randrange(10**6))


def bids(scale: float) -> Iterator[Record]:
    """Yield two bids in a row for each id, and about 200 for each auction."""
    source = random.Random(6)
    many = int(5_000_000 * scale)
    for i in range(many):
        value = _json(
            id=i // 2,
            auction=source.randrange(many // 200 or 1),
            price=source.randrange(10**6),
            at=i,
        )
        yield "bids", None, value


def clicks(scale: float) -> Iterator[Record]:
    """Yield 20,000 clicks per second of event time."""
    source = random.Random(7)
    for i in range(int(5_000_000 * scale)):
        yield (
            "clicks",
            None,
            _json(user_id=source.randrange(100_000), ms=1_790_000_000_000 + i // 20),
        )


def payments(scale: float) -> Iterator[Record]:
    """Yield 10,000 orders per second of event time, and a payment of each within twelve seconds."""
    source = random.Random(8)
    many = int(2_000_000 * scale)
    due: list[tuple[int, int]] = []
    for i in range(many):
        ms = 1_790_000_000_000 + i // 10
        yield "orders", None, _json(id=i, ms=ms)
        heapq.heappush(due, (ms + source.randrange(12_000), i))
        while due and due[0][0] <= ms:
            paid, order = heapq.heappop(due)
            yield "payments", None, _json(order_id=order, ms=paid)
    for paid, order in sorted(due):
        yield "payments", None, _json(order_id=order, ms=paid)


def conversions(scale: float) -> Iterator[Record]:
    """Yield 20,000 orders per second of event time, and after ten orders a rate of a currency."""
    source = random.Random(9)
    for i in range(int(3_000_000 * scale)):
        ms = 1_790_000_000_000 + i // 20
        currency = source.randrange(10_000)
        yield "orders", None, _json(id=i, currency=currency, amount=source.randrange(100), ms=ms)
        if i % 10 == 0:
            currency = source.randrange(10_000)
            rate = _json(currency=currency, rate=source.randrange(1_000), ms=ms)
            yield "rates", _json(currency=currency), rate
