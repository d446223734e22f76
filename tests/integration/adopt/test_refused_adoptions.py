"""Adoptions that cannot work are refused with the reason, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.adopt.support import Adopter
from tests.integration.upgrade.support import COPY, SUMS, events

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.adopt.adoption import Adoption

_BY_CLOCK = (
    "INSERT INTO sums SELECT g, COUNT(*) OVER (PARTITION BY g ORDER BY p), 1"
    " FROM (SELECT g, PROCTIME() AS p FROM t);"
)

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.fixture
def jobs(spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path) -> Adopter:
    found = Adopter(spark, broker.bootstrap_servers, topic("adopt", partitions=2), tmp_path)
    found.send(events(0, 20))
    return found


def _refusal(jobs: Adopter, *inserts: str, **options: Any) -> str:
    with pytest.raises(StreamtableError) as refused:
        jobs.adopt(*inserts, **options)
    assert refused.value.condition is Condition.TOPICS_NOT_ADOPTED
    assert not (jobs.checkpoint / "upgrade.json").exists()
    assert not (jobs.checkpoint / "streamtable.json").exists()
    return str(refused.value)


def test_queries_that_cannot_be_adopted(jobs: Adopter) -> None:
    source = jobs.source
    assert "copies keeps every record, so the offsets up to which" in _refusal(jobs, SUMS, COPY)
    assert f"sums-2 writes to topic '{source}-sums', too, and the results of" in _refusal(
        jobs, SUMS, _BY_CLOCK
    )
    tables = jobs.tables
    earliest = "'scan.startup.mode' = 'earliest-offset'"
    jobs.tables = tables.replace(earliest, "'scan.startup.mode' = 'latest-offset'")
    assert "'scan.startup.mode' of t is latest-offset" in _refusal(jobs, SUMS)
    jobs.tables = tables.replace(f"{earliest},", "")
    assert "'scan.startup.mode' of t is group-offsets" in _refusal(jobs, SUMS)
    jobs.tables = tables.replace(earliest, f"{earliest}, 'scan.bounded.mode' = 'latest-offset'")
    assert "t is bounded" in _refusal(jobs, SUMS)
    later = "'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' ="
    jobs.tables = tables + (
        f"CREATE TABLE late WITH ({later} 'partition:0,offset:1;partition:1,offset:0') LIKE t"
        " (OVERWRITING OPTIONS);"
    )
    both = SUMS.replace("FROM t", "FROM (SELECT * FROM t UNION ALL SELECT * FROM late)")
    assert (
        f"late: the query reads partition 0 of topic '{source}' twice, from offset 0 and from"
        " offset 1" in _refusal(jobs, both)
    )
    jobs.tables = "SET 'table.exec.state.ttl' = '1 h';" + tables
    assert "expires by the clock" in _refusal(jobs, SUMS)
    jobs.tables = tables

    admin = AdminClient({"bootstrap.servers": jobs.servers})
    partition = TopicPartition(source, 0, 2)
    admin.delete_records([partition])[partition].result(30)
    assert (
        f"t: partition 0 of topic '{source}' has no records before offset 2 any more, and the other"
        " engine may have read from offset 0" in _refusal(jobs, SUMS)
    )
    # Offsets in the script are those at which the other engine began.
    named = "'partition:0,offset:2;partition:1,offset:0'"
    jobs.tables = tables.replace(
        earliest,
        "'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = " + named,
    )
    assert any("reads 18 records" in line for line in jobs.adopt(SUMS, plan=True))


def test_missing_or_invalid_end_offsets(jobs: Adopter) -> None:
    source = jobs.source
    one = {source: {0: 3}}
    assert f"partition 1 of topic '{source}' has no end offset" in _refusal(jobs, SUMS, at=one)
    far = {source: {0: 3, 1: 99}}
    assert "and its end offset is 99" in _refusal(jobs, SUMS, at=far)
    more = {source: {0: 3, 1: 3, 2: 3}}
    assert f"topic '{source}' has no partition 2" in _refusal(jobs, SUMS, at=more)
    jobs.commit("flink", {0: 3})
    assert f"group 'flink' has no committed offset for partition 1 of topic '{source}'" in _refusal(
        jobs, SUMS, group="flink"
    )
    with pytest.raises(StreamtableError, match="a topic that the script reads"):
        jobs.adopt(SUMS, at={"others": {0: 1}})


def test_a_writing_engine_or_a_used_checkpoint_is_refused(
    jobs: Adopter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adoption is refused if the other engine still writes or the checkpoint has a job."""
    jobs.other.run(SUMS)
    real = Adoption._target

    def written(self: Adoption, shadow: Any) -> Any:
        jobs.plant("sums", 0, '{"g":0,"n":8,"s":8}')
        return real(self, shadow)

    with monkeypatch.context() as patch:
        patch.setattr(Adoption, "_target", written)
        with pytest.raises(StreamtableError, match="the other engine still runs"):
            jobs.adopt(SUMS)
    jobs.checkpoint = jobs.other.checkpoint
    with pytest.raises(StreamtableError, match="has a job already"):
        jobs.adopt(SUMS)
