"""Ends of a sink at a commit of its query.

The ends belong to the newest commit only if no later batch is planned before the request ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS
from streamtable.runtime.proof.commits import Commit, has_planned_batch, settled_commits

_ENDS = {"out/0": 7}


class _Query:
    """The logs of a query, as Spark writes them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("offsets", "commits", "sources/0", "sinks"):
            (folder / name).mkdir(parents=True)
        (folder / "sources/0/0").write_bytes(b'\0v1\n{"in":{"0":3}}')

    def plan(self, batch: int, watermark_ms: int = 5) -> None:
        told = json.dumps({"batchWatermarkMs": watermark_ms, "batchTimestampMs": 1000})
        (self.folder / f"offsets/{batch}").write_text(f'v1\n{told}\n{{"in":{{"0":9}}}}\n-')

    def commit(self, batch: int) -> None:
        (self.folder / f"commits/{batch}").write_text("v1\n{}")

    def settled(
        self,
        *,
        recorded: Mapping[int, Mapping[str, int]] | None = None,
        in_batches: bool = True,
        lives: bool = True,
        after_request: int | None = None,
        patience_s: float = 0.05,
    ) -> Commit | None:
        def ends() -> Mapping[str, int]:
            if after_request is not None:
                self.plan(after_request)
            return _ENDS

        known = recorded or {}
        found = settled_commits(
            [self.folder], known.get, ends, lambda: in_batches, lambda: lives, patience_s
        )
        return None if found is None else found[0]


@pytest.fixture
def query(tmp_path: Path) -> _Query:
    return _Query(tmp_path)


def test_the_newest_commit_with_its_positions(query: _Query) -> None:
    query.plan(0)
    query.commit(0)
    found = query.settled()
    assert found == Commit(0, 1000, 5, [('{"in":{"0":3}}', '{"in":{"0":9}}'), (None, None)], _ENDS)


def test_a_query_without_a_commit(query: _Query) -> None:
    query.plan(0)
    assert query.settled() is None


def test_no_commit_is_settled_while_a_batch_is_planned(query: _Query) -> None:
    query.plan(0)
    query.commit(0)
    query.plan(1)
    assert has_planned_batch(query.folder)
    assert query.settled() is None
    query.commit(1)
    found = query.settled()
    assert found is not None
    assert found.batch == 1


def test_a_job_that_has_ended_is_not_waited_for(query: _Query) -> None:
    query.plan(0)
    query.commit(0)
    assert query.settled(lives=False, patience_s=3_600) is not None
    query.plan(1)
    assert query.settled(lives=False, patience_s=3_600) is None


def test_a_batch_that_is_planned_during_the_request(query: _Query) -> None:
    query.plan(0)
    query.commit(0)
    assert query.settled(after_request=1) is None


def test_real_time_mode_writes_before_it_plans(query: _Query) -> None:
    query.plan(0)
    query.commit(0)
    assert query.settled(in_batches=False) is None
    found = query.settled(in_batches=False, recorded={0: {"out/0": 4}})
    assert found is not None
    assert found.ends == {"out/0": 4}


def test_the_end_of_the_input_passes_all_windows(query: _Query) -> None:
    query.plan(0, END_WATERMARK_MS)
    query.commit(0)
    found = query.settled()
    assert found is not None
    assert found.watermark_ms is None


def test_all_queries_of_a_sink_must_have_committed(query: _Query, tmp_path: Path) -> None:
    """The ends that one query has recorded say nothing about the commit of another query."""
    other = _Query(tmp_path / "other")
    for each in (query, other):
        each.plan(0)
        each.commit(0)

    def found() -> list[int] | None:
        commits = settled_commits(
            [query.folder, other.folder],
            {0: _ENDS}.get,
            lambda: _ENDS,
            lambda: True,
            lambda: True,
            0.05,
        )
        return None if commits is None else [commit.batch for commit in commits]

    assert found() == [0, 0]
    other.plan(1)
    assert found() is None
    other.commit(1)
    assert found() == [0, 1]
