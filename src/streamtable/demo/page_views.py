"""Page views as a website has them, reproducible by their seed, and what they must add up to."""

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

#: Region -> its share of the users, in percent.
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
    """One user looks at one page; a user lives in one region."""

    user_id: int
    page_id: int
    user_region: str

    def record(self) -> bytes:
        """The record's value: json, the time of view is now, in UTC, as SQL writes timestamps."""
        return json.dumps(
            {
                "user_id": self.user_id,
                "page_id": self.page_id,
                "viewtime": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f}",
                "user_region": self.user_region,
            }
        ).encode()


def page_views(seed: int | None) -> Iterator[PageView]:
    """Views without end; the same seed gives the same users, pages and regions.

    A few users and pages draw most of the views, so that uv grows ever more slowly than pv.
    """
    source = random.Random(seed)  # noqa: S311 - reproducible on purpose
    while True:
        user = int(_USERS * source.random() ** 3)
        page = int(_PAGES * source.random() ** 2)
        yield PageView(user, page, _NAMES[bisect(_BOUNDS, user * 37 % 100)])


class Tally:
    """Counts by itself what the job is to find."""

    def __init__(self) -> None:
        self.total = 0
        self._views: Counter[str] = Counter()
        self._users: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, view: PageView) -> None:
        """Counts one view."""
        self.total += 1
        self._views[view.user_region] += 1
        self._users[view.user_region].add(view.user_id)

    def rows(self) -> dict[tuple[Any, ...], dict[str, Any]]:
        """What the table `pageviews_per_region` must hold, by its key."""
        return {
            (region,): {"user_region": region, "pv": pv, "uv": len(self._users[region])}
            for region, pv in self._views.items()
        }
