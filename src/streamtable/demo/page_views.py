"""Reproducible page views of a website, and the expected counts."""

from __future__ import annotations

import json
import random
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

#: Region -> share of its users, in percent.
_REGIONS = {
    "Asia": 38,
    "Europe": 24,
    "North America": 17,
    "South America": 10,
    "Africa": 8,
    "Oceania": 3,
}
_NAMES = tuple(_REGIONS)
_BOUNDS = tuple(accumulate(_REGIONS.values()))
_USERS = 50_000
_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class PageView:
    """View of one page by one user; a user lives in one region."""

    user_id: int
    page_id: int
    user_region: str

    def record(self) -> bytes:
        """Return the value of the record: JSON, with the current UTC time as an SQL timestamp."""
        return json.dumps(
            {
                "user_id": self.user_id,
                "page_id": self.page_id,
                "viewtime": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}",
                "user_region": self.user_region,
            }
        ).encode()


def page_views(seed: int | None) -> Iterator[PageView]:
    """Yield an endless sequence of views; the same seed gives the same users, pages and regions.

    Most views belong to a few users and pages, so that uv grows more and more slowly than pv.
    """
    source = random.Random(seed)  # noqa: S311 - reproducible on purpose
    while True:
        user = int(_USERS * source.random() ** 3)
        page = int(_PAGES * source.random() ** 2)
        yield PageView(user, page, _NAMES[bisect(_BOUNDS, user * 37 % 100)])


class Tally:
    """Independent count of the result that the job must compute."""

    def __init__(self) -> None:
        self.total = 0
        self._views: Counter[str] = Counter()
        self._users: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, view: PageView) -> None:
        """Count one view."""
        self.total += 1
        self._views[view.user_region] += 1
        self._users[view.user_region].add(view.user_id)

    def rows(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """Return the expected rows of the table `pageviews_per_region`, by key."""
        return {
            (region,): {"user_region": region, "pv": pv, "uv": len(self._users[region])}
            for region, pv in self._views.items()
        }
