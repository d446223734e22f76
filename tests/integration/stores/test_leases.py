"""Leases on checkpoints in other file systems: one holder, and no write without the lease."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError
from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.stores.servers import Store

_SHORT = timedelta(seconds=3)


def _opener(spark: SparkSession, lease: timedelta = _SHORT) -> RemoteCheckpoints:
    return RemoteCheckpoints(Bridge(spark), lease, threading.Event(), lambda _: None)


def test_a_second_holder_is_refused_until_the_lease_is_released(
    spark: SparkSession, store: Store
) -> None:
    opener = _opener(spark)
    watched = opener.folder(store.root)
    is_held = watched.holder_watch()
    assert not is_held()
    folder, lock = opener.take(store.root)
    (folder / "a.json").write_text("one", encoding="utf-8")
    assert is_held()
    with pytest.raises(StreamtableError) as refused:
        opener.take(store.root)
    assert refused.value.condition is Condition.CHECKPOINT_HELD
    assert "expires in" in str(refused.value.hint)
    lock.close()
    assert not is_held()
    with pytest.raises(StreamtableError, match=r"CHECKPOINT_LOST"):
        (folder / "a.json").write_text("two", encoding="utf-8")
    (watched / "b.json").write_beside("of a process that does not hold it")

    again, second = opener.take(store.root)
    assert (again / "a.json").read_text("utf-8") == "one"
    assert sorted(f.name for f in again.iterdir() if f.name[0] != ".") == [
        "a.json",
        "b.json",
        "lease",
    ]
    second.close()


def test_a_paused_holder_writes_nothing_after_losing_its_lease(
    spark: SparkSession, store: Store
) -> None:
    """The threads of a JVM cannot be paused, so the first holder here never renews its lease."""
    bridge = Bridge(spark)
    opener = _opener(spark)
    folder = opener.folder(store.root)
    request = bridge.java.checkpoint.LeaseRequest(folder._store, "elsewhere", 17, 3_000)
    assert request.attempt() is None
    paused = request.lease()
    _stop_renewals(bridge)
    told: list[str] = []
    waiting = RemoteCheckpoints(bridge, _SHORT, threading.Event(), told.append)
    begun = time.monotonic()
    _, lock = waiting.take(store.root)
    assert 1 < time.monotonic() - begun < 12
    assert len(told) <= 1
    with pytest.raises(JavaError, match=r"CHECKPOINT_LOST .* holds it since"):
        paused.check()
    lock.check()
    lock.close()


def _stop_renewals(bridge: Bridge) -> None:
    threads: Any = bridge.java_class("java.lang.Thread")
    for thread in threads.getAllStackTraces().keySet():
        if thread.getName() == "streamtable-lease":
            thread.interrupt()


def test_only_one_of_two_writers_creates_a_log_file(spark: SparkSession, store: Store) -> None:
    bridge = Bridge(spark)
    _opener(spark).folder(store.root)  # loads the classes
    path_of = bridge.java_class("org.apache.hadoop.fs.Path")
    hadoop = bridge.java_session.sessionState().newHadoopConf()
    files = bridge.java.checkpoint.CheckpointFiles(path_of(store.root), hadoop)
    files.mkdirs(path_of(store.root))
    path = path_of(f"{store.root}/0")
    first, second = files.createAtomic(path, False), files.createAtomic(path, False)
    first.write(b"first")
    second.write(b"second")
    first.close()
    with pytest.raises(JavaError, match="FileAlreadyExistsException"):
        second.close()
    abandoned = files.createAtomic(path, True)
    abandoned.write(b"third")
    abandoned.cancel()
    assert files.open(path).readAllBytes() == b"first"
    replacing = files.createAtomic(path, True)
    replacing.write(b"fourth")
    replacing.close()
    assert files.open(path).readAllBytes() == b"fourth"


def test_missing_rights_are_refused_before_anything_is_created(
    spark: SparkSession, store: Store
) -> None:
    opener = _opener(spark)
    with pytest.raises(StreamtableError) as refused:
        opener.take(store.closed)
    assert refused.value.condition is Condition.CHECKPOINT_UNREADABLE
    assert store.closed in str(refused.value)
    assert refused.value.hint is not None
    assert refused.value.hint.startswith(("give the user", "allow s3:GetObject"))
