"""An upgrade compares all keys before the job stops, and later only keys that changed since."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.upgrade.support import Jobs

from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.manifest.file import read_manifest
from streamtable.runtime.checkpoint.storage.lock import taken
from streamtable.runtime.upgrade.opening import UpgradeOpening
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.rebuild import Rebuild
from streamtable.session import Session, fixed_settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: Both queries insert and delete groups, at different times.
_OLD = "INSERT INTO sums SELECT g, COUNT(*), SUM(v) FROM t GROUP BY g HAVING MOD(COUNT(*), 3) > 0;"
_NEW = _OLD.replace("GROUP BY", "WHERE v > 0 GROUP BY")


def _events(counts: dict[int, int], start: int) -> list[dict[str, int]]:
    groups = [g for g, count in counts.items() for _ in range(count)]
    return [{"id": start + i, "g": g, "v": (start + i) % 7} for i, g in enumerate(groups)]


def _answer(rows: list[dict[str, int]], least: int) -> dict[int, dict[str, Any]]:
    groups: dict[int, list[int]] = {}
    for row in rows:
        if row["v"] >= least:
            groups.setdefault(row["g"], []).append(row["v"])
    return {g: {"g": g, "n": len(v), "s": sum(v)} for g, v in groups.items() if len(v) % 3 > 0}


def _create_anew(broker: Broker, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(30)
    while topic in admin.list_topics(timeout=30).topics:
        time.sleep(0.1)
    admin.create_topics([NewTopic(topic, 1)])[topic].result(30)


@pytest.mark.parametrize(
    ("guarantee", "recreated"),
    [
        ("exactly-once", False),
        pytest.param("at-least-once", False, marks=pytest.mark.soak),
        pytest.param("at-least-once", True, marks=pytest.mark.soak),
    ],
)
def test_only_changed_keys_are_compared_again(
    guarantee: str,
    recreated: bool,
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    source = topic("early", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", guarantee)
    sent = _events({g: 1 + g % 8 for g in range(40)}, 0)
    jobs.send(sent)
    jobs.run(_OLD)
    session = Session(settings=fixed_settings({}))
    session.load(jobs.script(_NEW), "new.sql", jobs.names)
    path, said = tmp_path / "c", list[str]()
    options = UpgradeOptions(str(path), stop_job=True)
    manifest = read_manifest(path, str(path))
    assert manifest is not None
    with ExitStack() as stack:
        settings = session.settings.current()
        opening = UpgradeOpening(stack, settings, options, said.append, spark=spark)
        queries = assign(query_names(session.plans), manifest)
        rebuild = Rebuild(
            path,
            options,
            queries,
            manifest,
            opening.context,
            said.append,
            said.append,
            opening.stop,
        )
        mark = rebuild.decided()
        assert mark is not None
        rebuild.catch_up(mark)
        assert (path / "sums@2" / "upgrade" / "early" / "covered.json").exists()
        if recreated:
            _create_anew(broker, f"{jobs.names['out']}-sums")
        # Meanwhile the job continues: groups of either query are updated, inserted and deleted.
        more = _events({g: 1 + g % 5 for g in range(20, 60)}, len(sent))
        jobs.send(more)
        jobs.run(_OLD)
        old = jobs.folded("sums")
        assert recreated or old == _answer([*sent, *more], 0)
        written = len(jobs.written("sums"))
        rebuild.move_ends(mark)
        _, lock = taken(str(path), None)
        stack.callback(lock.close)
        rebuild.finish(mark, lock)
    new = _answer([*sent, *more], 1)
    assert jobs.folded("sums") == new
    differing = [g for g in {**old, **new} if old.get(g) != new.get(g)]
    assert len(jobs.written("sums")) == written + len(differing), said
    gone = sum(g not in new for g in differing)
    changes = f"{len(differing) - gone} get another or a first row and {gone} are deleted"
    assert f"of {len(old)} keys in {jobs.names['out']}-sums, {changes}" in " ".join(said)
    assert not (path / "sums@2" / "upgrade" / "early").exists()
