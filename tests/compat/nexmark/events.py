"""Events of an auction house, as Nexmark describes them: persons, auctions, bids, 1 to 3 to 46.

The history is the same in every run. It has two parts. Within a part, the times of events are out
of order by less than the watermark's delay. The second part also has late events: every window of
a late event, sessions too, is complete after the first part. There are few prices and times, so
that bids tie. Events of one auction share a partition.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

#: Partitions of the topic.
PARTITIONS = 4
#: Delay of the watermark and disorder of events, in milliseconds.
DELAY_MS = 4_000
_DISORDER_MS = 3_500
_START = datetime(2026, 1, 1, 23, 57)  # the history passes midnight
_STEP_MS = 120
_EVENTS = (1_100, 900)
_LATE_MS = 110_000
_WITH_LATE = range(_EVENTS[0] + 50, _EVENTS[0] + 400)
_STATES = ("OR", "ID", "CA", "NY")
_CITIES = ("Phoenix", "Boise", "Portland", "Bend")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple", "channel-7", "channel-12")
_PEOPLE = 40
_AUCTIONS = 30

Event = dict[str, Any]


def history() -> tuple[list[tuple[int, Event]], list[tuple[int, Event]]]:
    """Return both parts: each event with its partition, in the order of their arrival."""
    dice = random.Random(20)
    events = _events(dice)
    first = [next(events) for _ in range(_EVENTS[0])]
    second = [next(events) for _ in range(_EVENTS[1])]
    return first, second


def _events(dice: random.Random) -> Iterator[tuple[int, Event]]:
    people = auctions = 0
    for i in range(sum(_EVENTS)):
        late = _LATE_MS if i in _WITH_LATE and dice.random() < 0.06 else 0
        moment = i * _STEP_MS - dice.randrange(_DISORDER_MS) - late
        at = _text(moment)
        event: Event = {"event_type": 2, "person": None, "auction": None, "bid": None}
        turn = i % 50
        if turn == 0 or people == 0:
            people += 1
            event |= {"event_type": 0, "person": _person(dice, people % _PEOPLE, at)}
            yield people % PARTITIONS, event
        elif turn < 4:
            auctions += 1
            auction = _auction(dice, auctions % _AUCTIONS, people, moment, at)
            event |= {"event_type": 1, "auction": auction}
            yield auction["id"] % PARTITIONS, event
        else:
            bid = _bid(dice, at)
            event |= {"bid": bid}
            yield bid["auction"] % PARTITIONS, event


def _person(dice: random.Random, id_: int, at: str) -> Event:
    return {
        "id": id_,
        "name": f"person {id_}",
        "email": f"p{id_}@example.com",
        "card": f"{dice.randrange(10**4):04}",
        "city": dice.choice(_CITIES),
        "state": dice.choice(_STATES),
        "date_time": at,
        "extra": "x" * dice.randrange(4),
    }


def _auction(dice: random.Random, id_: int, people: int, moment: int, at: str) -> Event:
    return {
        "id": id_,
        "item": f"item {id_}",
        "initial_bid": dice.randrange(1, 20),
        "reserve": dice.randrange(10, 60),
        "date_time": at,
        "expires": _text(moment + dice.randrange(5_000, 60_000)),
        "seller": dice.randrange(max(people, 1)) % _PEOPLE,
        "category": dice.randrange(8, 14),
        "extra": "y" * dice.randrange(4),
    }


def _bid(dice: random.Random, at: str) -> Event:
    channel = dice.choice(_CHANNELS)
    known = "" if dice.random() < 0.5 else f"&channel_id={dice.randrange(20)}"
    return {
        # Some bids are on auctions that do not exist, or that come later.
        "auction": dice.randrange(_AUCTIONS + 3),
        "bidder": dice.randrange(_PEOPLE),
        "price": dice.choice((10, 20, 50, 99, 120, 1_000, 1_500_000, 12_000_000)),
        "channel": channel,
        "url": f"https://auction.example/{dice.randrange(5)}/{channel}/item.htm?query=1{known}",
        "date_time": at,
        "extra": "".join(dice.choices("abc", k=dice.randrange(8))),
    }


def _text(moment: int) -> str:
    at = _START + timedelta(milliseconds=moment // 500 * 500)  # so that times tie
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
