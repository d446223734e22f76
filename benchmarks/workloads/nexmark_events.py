"""Events of Nexmark's generator: persons, auctions and bids, 1 to 3 to 46, 10,000 per second.

The distributions are those of Nexmark's defaults: every second bid is on a hot auction, three of
four bids come from a hot bidder and three of four auctions from a hot seller, 100 auctions are in
flight, 1,000 persons are active, and the average sizes are 200, 500 and 100 bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

from benchmarks.workloads.records import Record

TOPIC = "events"
_START = datetime(2026, 1, 1)
_PER_MILLISECOND = 10
_TURN, _PERSONS, _AUCTIONS = 50, 1, 3
_FIRST_ID = 1_000
_ACTIVE_PERSONS, _IN_FLIGHT, _LEAD = 1_000, 100, 10
_HOT = 100
_HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_CITIES = ("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond")
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_PERSON_EXTRA, _AUCTION_EXTRA, _BID_EXTRA = 100, 380, 12
#: Texts from which the padding of events is cut.
_PADDING = "abcdefghijklmnopqrstuvwxyz" * 40


def events(count: int) -> Iterator[Record]:
    """Yield the first events, the same in every run."""
    dice = random.Random(7)
    for number in range(count):
        turn, place = divmod(number, _TURN)
        at = _text(number // _PER_MILLISECOND)
        person = turn
        auction = turn * _AUCTIONS + min(max(place - _PERSONS, 0), _AUCTIONS - 1)
        if place < _PERSONS:
            value = _person(dice, person, at)
        elif place < _PERSONS + _AUCTIONS:
            value = _auction(dice, auction, person, number, at)
        else:
            value = _bid(dice, auction, person, at)
        yield TOPIC, None, value.encode()


def _person(dice: random.Random, person: int, at: str) -> str:
    return (
        f'{{"event_type": 0, "person": {{"id": {person + _FIRST_ID}, "name": "person {person}",'
        f' "email": "p{person}@example.com", "card": "{dice.randrange(10**16):016}",'
        f' "city": "{dice.choice(_CITIES)}", "state": "{dice.choice(_STATES)}",'
        f' "date_time": "{at}", "extra": "{_extra(dice, _PERSON_EXTRA)}"}},'
        ' "auction": null, "bid": null}'
    )


def _auction(dice: random.Random, auction: int, person: int, number: int, at: str) -> str:
    seller = person // _HOT * _HOT if dice.randrange(4) else _active(dice, person)
    first = _price(dice)
    horizon = _IN_FLIGHT * _TURN // _AUCTIONS // _PER_MILLISECOND
    expires = _text(number // _PER_MILLISECOND + 1 + dice.randrange(2 * horizon))
    return (
        f'{{"event_type": 1, "person": null, "auction": {{"id": {auction + _FIRST_ID},'
        f' "item": "item {auction}", "initial_bid": {first}, "reserve": {first + _price(dice)},'
        f' "date_time": "{at}", "expires": "{expires}", "seller": {seller + _FIRST_ID},'
        f' "category": {dice.randrange(10, 15)}, "extra": "{_extra(dice, _AUCTION_EXTRA)}"}},'
        ' "bid": null}'
    )


def _bid(dice: random.Random, auction: int, person: int, at: str) -> str:
    if dice.randrange(2):
        auction = auction // _HOT * _HOT
    else:
        first = max(auction - _IN_FLIGHT, 0)
        auction = first + dice.randrange(auction - first + 1 + _LEAD)
    bidder = person // _HOT * _HOT + 1 if dice.randrange(4) else _active(dice, person)
    hot = dice.randrange(2)
    channel = dice.choice(_HOT_CHANNELS) if hot else f"channel-{dice.randrange(10_000)}"
    return (
        '{"event_type": 2, "person": null, "auction": null, "bid": {'
        f'"auction": {auction + _FIRST_ID}, "bidder": {bidder + _FIRST_ID},'
        f' "price": {_price(dice)}, "channel": "{channel}",'
        f' "url": "https://www.nexmark.com/{channel}/item.htm?query=1&channel_id={len(channel)}",'
        f' "date_time": "{at}", "extra": "{_extra(dice, _BID_EXTRA)}"}}}}'
    )


def _active(dice: random.Random, person: int) -> int:
    active = min(person + 1, _ACTIVE_PERSONS)
    return person + 1 - active + dice.randrange(active + _LEAD)


def _price(dice: random.Random) -> int:
    return round(10 ** (dice.random() * 6) * 100)


def _extra(dice: random.Random, average: int) -> str:
    start = dice.randrange(26)
    return _PADDING[start : start + dice.randrange(average * 4 // 5, average * 6 // 5)]


def _text(millisecond: int) -> str:
    at = _START + timedelta(milliseconds=millisecond)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
