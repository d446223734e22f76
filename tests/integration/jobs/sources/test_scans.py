"""Start positions of scans, the parts of a record that they read, and several scans of a topic."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from tests.integration.jobs.sources.test_source_options import commit, delete_before, send
from tests.integration.jobs.support import PATIENCE_S

from streamtable.testing.histories import Change
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_changes, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

OUT = """
CREATE TABLE o (scan STRING, id INT) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
"""
TABLE = """
CREATE TABLE {name} (id INT) WITH (
  'connector' = 'kafka', 'topic' = '${{source}}', 'properties.bootstrap.servers' = '${{servers}}',
  'format' = 'json'{options}
);
"""

#: Scan -> its options, and the ids that the first run reads. Partition 0 has the ids 0 to 4, and
#: partition 1 has 10 to 14. The group has committed offset 2 of partition 0. The time of a record
#: is 1,000 ms plus its id.
BEGINNINGS: dict[str, tuple[dict[str, str], list[int]]] = {
    "earliest": ({"scan.startup.mode": "earliest-offset"}, [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]),
    "latest": ({"scan.startup.mode": "latest-offset"}, []),
    "moment": (
        {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1003"},
        [3, 4, 10, 11, 12, 13, 14],
    ),
    "specific": (
        {
            "scan.startup.mode": "specific-offsets",
            "scan.startup.specific-offsets": "partition:0,offset:4;partition:1,offset:3",
        },
        [4, 13, 14],
    ),
    "specific_and_group": (
        {
            "scan.startup.mode": "specific-offsets",
            "scan.startup.specific-offsets": "partition:1,offset:4",
            "properties.group.id": "${group}",
        },
        [2, 3, 4, 14],
    ),
    "of_group": (
        {"scan.startup.mode": "group-offsets", "properties.group.id": "${group}"},
        [2, 3, 4],
    ),
    "of_new_group": (
        {"scan.startup.mode": "group-offsets", "properties.group.id": "${group}-new"},
        [],
    ),
    "reset": (
        {
            "scan.startup.mode": "group-offsets",
            "properties.group.id": "${group}",
            "properties.auto.offset.reset": "earliest",
        },
        [2, 3, 4, 10, 11, 12, 13, 14],
    ),
}


def _ids(broker: Broker, topic: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for record in records(broker.bootstrap_servers, topic):
        row = json.loads(record.value())
        found[row["scan"]].append(row["id"])
    return {scan: sorted(ids) for scan, ids in found.items()}


def test_start_positions_of_scans(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """Eight scans of a topic in one query; a second run continues where the first run ended."""
    source = topic("s", partitions=2, config={"retention.ms": "-1"})
    names = {"source": source, "out": topic("out"), "group": f"g-{source}"}
    names["servers"] = broker.bootstrap_servers
    send(broker, source, range(5), partition=0, timestamp=1_000)
    send(broker, source, range(10, 15), partition=1, timestamp=1_000)
    commit(broker, names["group"], source, {0: 2})
    script = OUT
    for name, (options, _) in BEGINNINGS.items():
        given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
        script += TABLE.format(name=name, options=given)
    selects = (f"SELECT '{name}', id FROM {name}" for name in BEGINNINGS)
    script += f"INSERT INTO o {' UNION ALL '.join(selects)};"
    job = BoundedRun(spark, script, tmp_path / "c", names)
    job()
    expected = {name: ids for name, (_, ids) in BEGINNINGS.items() if ids}
    assert _ids(broker, names["out"]) == expected
    send(broker, source, range(5, 6), partition=0)
    send(broker, source, range(15, 16), partition=1)
    job()
    later = {name: sorted([*ids, 5, 15]) for name, (_, ids) in BEGINNINGS.items()}
    assert _ids(broker, names["out"]) == later


_GROUP = {"scan.startup.mode": "group-offsets", "properties.group.id": "${group}"}
_SPECIFIC = {"scan.startup.mode": "specific-offsets", "properties.group.id": "${group}"}

#: Scan -> its options, the ids that the first run reads, and the notice. The topic has offsets 4 to
#: 9, and the first offset of each scan is not among them. The group has committed 2, the group with
#: `-end` 10, and the group with `-ahead` 11.
OUTSIDE: dict[str, tuple[dict[str, str], range, str]] = {
    "earliest": (
        {**_GROUP, "properties.auto.offset.reset": "earliest"},
        range(4, 10),
        "starts at offset 4, and offsets 2 to 3 are skipped",
    ),
    "latest": (_GROUP, range(0), "starts at offset 10, and offsets 2 to 9 are skipped"),
    "ahead": (
        {**_GROUP, "properties.group.id": "${group}-ahead"},
        range(0),
        "starts at offset 10, because offset 11 is beyond its end 10",
    ),
    "at_the_end": (
        {
            **_GROUP,
            "properties.group.id": "${group}-end",
            "properties.auto.offset.reset": "none",
        },
        range(0),
        "",
    ),
    "specific": (
        {**_SPECIFIC, "scan.startup.specific-offsets": "partition:0,offset:3"},
        range(4, 10),
        "starts at offset 4, and offsets 3 to 3 are skipped",
    ),
    "specific_ahead": (
        {**_SPECIFIC, "scan.startup.specific-offsets": "partition:0,offset:12"},
        range(4, 10),
        "starts at offset 4, because offset 12 is beyond its end 10",
    ),
}


def test_scans_that_start_at_offsets_out_of_range(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A scan starts by the reset strategy of its consumer, as in Flink.

    A notice names the skipped offsets.
    """
    source = topic("s")
    names = {"source": source, "out": topic("out"), "group": f"g-{source}"}
    names["servers"] = broker.bootstrap_servers
    send(broker, source, range(10))
    delete_before(broker, source, 4)
    for suffix, offset in (("", 2), ("-end", 10), ("-ahead", 11)):
        commit(broker, names["group"] + suffix, source, {0: offset})
    script = OUT
    for name, (options, _, _) in OUTSIDE.items():
        given = "".join(f", '{key}' = '{value}'" for key, value in options.items())
        script += TABLE.format(name=name, options=given)
    selects = (f"SELECT '{name}', id FROM {name}" for name in OUTSIDE)
    script += f"INSERT INTO o {' UNION ALL '.join(selects)};"
    job = BoundedRun(spark, script, tmp_path / "c", names)
    job()
    expected = {name: [*ids] for name, (_, ids, _) in OUTSIDE.items() if ids}
    assert _ids(broker, names["out"]) == expected
    found = {line.split(":")[0]: line for line in job.notices if "do not have these" in line}
    assert found.keys() == {name for name, (_, _, line) in OUTSIDE.items() if line}
    for name, line in found.items():
        assert f": partition 0 of '{source}' {OUTSIDE[name][2]}" in line
    send(broker, source, range(10, 11))
    job.notices.clear()
    job()
    later = {name: [*ids, 10] for name, (_, ids, _) in OUTSIDE.items()}
    assert _ids(broker, names["out"]) == later
    assert not [line for line in job.notices if "do not have these" in line]


RECORDS = """
CREATE TABLE whole (
  k_id INT, v STRING,
  t STRING NOT NULL METADATA FROM 'topic' VIRTUAL, p INT METADATA FROM 'partition' VIRTUAL,
  h MAP<STRING, BYTES> METADATA FROM 'headers' VIRTUAL, at BIGINT METADATA FROM 'offset' VIRTUAL,
  ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  kind STRING METADATA FROM 'timestamp-type' VIRTUAL
) WITH (
  'connector' = 'kafka', 'topic' = '${one};${two}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'key.format' = 'json', 'key.fields' = 'k_id',
  'key.fields-prefix' = 'k_', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'
);
CREATE TABLE texts (line STRING) WITH (
  'connector' = 'kafka', 'topic' = '${one}', 'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'raw'
);
CREATE TABLE o (
  k_id INT, v STRING, t STRING, p INT, h STRING, at BIGINT, ts STRING, kind STRING
) WITH (
  'connector' = 'kafka', 'topic' = '${out}', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'
);
INSERT INTO o
SELECT k_id, v, t, p, CAST(h['a'] AS STRING), at, CAST(ts AS STRING), kind FROM whole
UNION ALL SELECT k_id, 'again', t, p, NULL, at, NULL, NULL FROM whole WHERE k_id = 1
UNION ALL SELECT NULL, line, NULL, NULL, NULL, NULL, NULL, NULL FROM texts;
"""


def test_several_scans_of_a_topic(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A query reads a table of two topics twice, and one of the topics also in another table."""
    keep = {"retention.ms": "-1"}
    one = topic("a", partitions=2, config=keep)
    two = topic("b", config={**keep, "message.timestamp.type": "LogAppendTime"})
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for name, partition, id_ in ((one, 1, 1), (two, 0, 2)):
        producer.produce(
            name,
            f'{{"v":"v{id_}"}}',
            f'{{"id":{id_}}}',
            partition=partition,
            timestamp=86_400_000 + id_,
            headers=[("a", b"first"), ("b", b""), ("a", b"last")],
        )
    assert producer.flush(30) == 0
    names = {"one": one, "two": two, "out": topic("out"), "servers": broker.bootstrap_servers}
    BoundedRun(spark, RECORDS, tmp_path / "c", names)()
    found: list[dict[str, Any]] = [
        json.loads(r.value()) for r in records(broker.bootstrap_servers, names["out"])
    ]
    by_value = {row["v"]: row for row in found}
    assert len(found) == len(by_value) == 4
    first = {"k_id": 1, "v": "v1", "t": one, "p": 1, "h": "last", "at": 0}
    assert by_value["v1"] == {**first, "ts": "1970-01-02 00:00:00.001", "kind": "CreateTime"}
    other = by_value["v2"]
    assert other["kind"] == "LogAppendTime"
    assert other["ts"] > "2000"
    assert (other["k_id"], other["t"], other["p"], other["at"]) == (2, two, 0, 0)
    nothing = {"h": None, "ts": None, "kind": None}
    assert by_value["again"] == {**first, "v": "again", **nothing}
    assert by_value['{"v":"v1"}'] == dict.fromkeys(first, None) | {"v": '{"v":"v1"}', **nothing}


COUNTED = """
CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE o (v INT, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-out',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT v, COUNT(*) FROM t GROUP BY v;
"""
QUICKLY_COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "0",
}


def _compact(servers: str, topic: str, keys: int) -> None:
    """Wait until compaction leaves one record for each of `keys` keys.

    Kafka never compacts the newest records, so each attempt adds a record of key -1.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        produce_changes(servers, topic, "k", [Change(-1, {"v": -1})])
        found = [r for r in records(servers, topic) if json.loads(r.key())["k"] >= 0]
        if len(found) == keys:
            return
        assert time.monotonic() < deadline, f"{len(found)} records are left"
        time.sleep(0.2)


def test_offsets_removed_by_compaction(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A batch may find no records, and may begin at an offset that compaction has removed."""
    source, servers = topic("c", config=QUICKLY_COMPACTED), broker.bootstrap_servers
    job = BoundedRun(spark, COUNTED, tmp_path / "c", {"source": source, "servers": servers})
    changes = [Change(i % 5, {"v": i // 50}) for i in range(100)]
    produce_changes(servers, source, "k", changes)
    _compact(servers, source, 5)
    job({"execution.micro-batch.max-records": "40"})
    assert job.rows("o") == {(v,): {"v": v, "n": n} for v, n in ((-1, 1), (1, 5))}
    # Compaction removes the next offset that the job reads before the job runs again.
    produce_changes(servers, source, "k", [Change(0, {"v": 7}), Change(0, {"v": 8})])
    _compact(servers, source, 5)
    job()
    counts = {-1: 1, 1: 4, 8: 1}
    assert job.rows("o") == {(v,): {"v": v, "n": n} for v, n in counts.items()}
    assert not any("lost" in line for line in job.notices), job.notices
