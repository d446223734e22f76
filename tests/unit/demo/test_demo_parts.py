"""The demo's parts that need neither Kafka nor Spark."""

from __future__ import annotations

import threading
import time
from itertools import islice

import pytest

from streamtable.demo.display import by_views, counted, result_line
from streamtable.demo.page_views import Tally, page_views
from streamtable.demo.stage import beside

ROWS = {
    (region,): {"user_region": region, "pv": pv, "uv": uv}
    for region, pv, uv in (("Africa", 20, 7), ("Asia", 1_200, 340), ("Europe", 20, 9))
}


def test_same_seed_same_views() -> None:
    assert list(islice(page_views(5), 100)) == list(islice(page_views(5), 100))
    assert list(islice(page_views(5), 100)) != list(islice(page_views(6), 100))


def test_a_user_has_one_region() -> None:
    regions: dict[int, set[str]] = {}
    for view in islice(page_views(1), 5_000):
        regions.setdefault(view.user_id, set()).add(view.user_region)
    assert {len(found) for found in regions.values()} == {1}


def test_tally_counts_views_and_users() -> None:
    tally = Tally()
    views = list(islice(page_views(1), 1_000))
    for view in views:
        tally.add(view)
    rows = tally.rows()
    assert sum(row["pv"] for row in rows.values()) == tally.total == 1_000
    assert sum(row["uv"] for row in rows.values()) == len({view.user_id for view in views})


def test_most_views_first_then_by_name() -> None:
    assert [row["user_region"] for row in by_views(ROWS)] == ["Asia", "Africa", "Europe"]
    assert result_line(ROWS) == "Asia 1,200/340  Africa 20/7  Europe 20/9"
    assert counted(ROWS) == 1_240


def test_background_work_ends_with_the_block() -> None:
    ended = threading.Event()

    def work(stop: threading.Event) -> None:
        stop.wait()
        ended.set()

    with beside(work):
        assert not ended.is_set()
    assert ended.is_set()


def test_failing_work_ends_the_block() -> None:
    def work(_stop: threading.Event) -> None:
        message = "the work failed"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="the work failed"), beside(work):
        time.sleep(30)
