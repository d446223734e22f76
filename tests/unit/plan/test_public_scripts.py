"""Public scripts of Flink SQL: accepted as in Flink, or refused with a clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.errors import Faults, StreamtableError
from streamtable.session import Session

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
_RATES = """
CREATE TABLE rates (c STRING, r INT, ts TIMESTAMP(3) METADATA FROM 'timestamp',
  WATERMARK FOR ts AS ts, PRIMARY KEY (c) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'r', 'properties.bootstrap.servers' = 'l:1',
  'key.format' = 'json', 'value.format' = 'json');
"""
ACCEPTED = {
    "a string compared with numbers": (
        "SELECT * FROM users WHERE region < 5 AND 2.5 <= region AND region BETWEEN 1 AND 3"
    ),
    "a star of temporal joins": f"""{_RATES}
        SELECT p.page_id, a.r, b.r FROM pageviews AS p
        JOIN rates FOR SYSTEM_TIME AS OF p.viewtime AS a ON p.user_region = a.c
        LEFT JOIN rates FOR SYSTEM_TIME AS OF p.viewtime AS b ON UPPER(p.user_region) = b.c""",
    "a hint without quotes": (
        "SELECT /*+ STATE_TTL(e = '2h', u = '1d'), BROADCAST(u) */ e.id"
        " FROM events AS e JOIN users AS u ON e.id = u.id"
    ),
    "an order by an event time": "SELECT * FROM pageviews ORDER BY viewtime",
    "an order in a subquery": "SELECT id FROM (SELECT * FROM users ORDER BY score)",
    "nine digits": """
        CREATE TABLE t (a TIMESTAMP(9), b TIMESTAMP_LTZ(9),
          c TIMESTAMP_LTZ(9) METADATA FROM 'timestamp') WITH ('connector' = 'kafka',
          'topic' = 't', 'properties.bootstrap.servers' = 'l:1', 'format' = 'json');
        SELECT CAST('2020-01-01 00:00:00.123456789' AS TIMESTAMP(9)) FROM t
        WHERE a > TIMESTAMP '2020-01-01 00:00:00.123456789'""",
    "a batch job": "SET 'execution.runtime-mode' = 'batch'; SELECT 1",
    "names without quotes in SET": "SET execution.checkpointing.interval = 10 s; SET",
    "a join in parentheses": (
        "SELECT u.id FROM users AS u LEFT JOIN (events AS e JOIN users_copy AS c ON e.id = c.id)"
        " ON u.id = c.id"
    ),
    "placeholders of a documentation page": """
        CREATE TABLE t (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
          'topic' = '<yourTopicName>', 'properties.bootstrap.servers' = '<host:port>',
          'key.format' = 'avro', 'value.format' = 'avro');
        CREATE TABLE s (a INT) WITH ('connector' = 'kafka', 'topic' = 's',
          'properties.bootstrap.servers' = '...', 'format' = 'json');
        INSERT INTO t SELECT a FROM s GROUP BY a""",
    "comments that begin with //": "// a line\nSELECT id // an end\nFROM users",
}


@pytest.mark.parametrize("script", ACCEPTED.values(), ids=list(ACCEPTED))
def test_accepted(script: str) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    session.load(script, "job.sql")


#: Setting of Flink without effect here -> reason in the notice.
WITHOUT_EFFECT = {
    "pipeline.operator-chaining.enabled": "plans are those of streamtable and Spark",
    "table.dml-sync": "all INSERTs of a script run as one job",
    "table.exec.mini-batch.enabled": "a micro-batch combines its changes",
    "table.exec.mini-batch.size": "a micro-batch combines its changes",
    "state.backend.type": "state is kept in RocksDB",
    "execution.checkpointing.mode": "state is always exactly-once",
    "restart-strategy.type": "a failed job ends",
    "pipeline.max-parallelism": "the first run of a checkpoint fixes",
}


@pytest.mark.parametrize(("key", "reason"), WITHOUT_EFFECT.items(), ids=list(WITHOUT_EFFECT))
def test_settings_without_effect(key: str, reason: str) -> None:
    session = Session()
    session.load(f"SET '{key}' = '1';", "job.sql")
    (notice,) = session.notices()
    assert f": setting '{key}' has no effect here: {reason}" in notice


_FILES = """CREATE TABLE t (a INT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'filesystem',
  'path' = '/d', 'format' = 'json', '{}' = '{}')"""
_ROLLS = "has no effect here: a micro-batch closes its files"
_BY_TIME = "has no effect without 'sink.partition-commit.trigger' = 'partition-time'"
_COMMITS = "has no effect without 'sink.partition-commit.policy.kind'"
#: Accepted declaration -> notice about it.
NOTICES = {
    "ADD JAR '/lib/udf.jar'": "ADD JAR '/lib/udf.jar' has no effect here: there is no such file",
    """CREATE TABLE t (a INT, b INT) PARTITIONED BY (a) WITH ('connector' = 'datagen');
       INSERT INTO t_sink SELECT a FROM t""": "PARTITIONED BY of t has no effect on a scan of",
    """CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
       'properties.bootstrap.servers' = 'b:1', 'sink.transactional-id-prefix' = 'p')""": (
        "option 'sink.transactional-id-prefix' has no effect without"
        " 'sink.delivery-guarantee' = 'exactly-once'"
    ),
    **{
        f"""CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't;u', 'format' = 'json',
       'properties.bootstrap.servers' = 'b', '{key}' = '{value}', '{mode}' = 'latest-offset')""": (
            f"option '{key}' has no effect without '{mode}' = '{wanted}'"
        )
        for key, value, mode, wanted in (
            ("scan.startup.timestamp-millis", "1", "scan.startup.mode", "timestamp"),
            ("scan.startup.specific-offsets", "x", "scan.startup.mode", "specific-offsets"),
            ("scan.bounded.timestamp-millis", "1", "scan.bounded.mode", "timestamp"),
            ("scan.bounded.specific-offsets", "x", "scan.bounded.mode", "specific-offsets"),
        )
    },
    **{
        f"""CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',
       'properties.bootstrap.servers' = 'b:1', 'properties.{key}' = '{value}')""": (
            f"option 'properties.{key}' has no effect here: {reason}"
        )
        for key, value, reason in (
            ("partition.discovery.interval.ms", "10", "'scan.topic-partition-discovery.interval'"),
            ("register.consumer.metrics", "false", "metrics of Kafka's clients"),
            ("register.producer.metrics", "false", "metrics of Kafka's clients"),
            ("flink.disable-metrics", "true", "metrics of Kafka's clients"),
        )
    },
    _FILES.format("sink.rolling-policy.file-size", "128 MB"): _ROLLS,
    _FILES.format("sink.rolling-policy.rollover-interval", "1 min"): _ROLLS,
    _FILES.format("sink.partition-commit.trigger", "partition-time"): _COMMITS,
    _FILES.format("sink.partition-commit.delay", "1 h"): _COMMITS,
    _FILES.format("partition.time-extractor.timestamp-pattern", "$dt 00:00:00"): _BY_TIME,
}


@pytest.mark.parametrize(("script", "wanted"), NOTICES.items(), ids=list(NOTICES))
def test_notices(script: str, wanted: str) -> None:
    session = Session()
    session.load("CREATE TABLE t_sink (a INT) WITH ('connector' = 'print');", "tables.sql")
    session.load(script, "job.sql")
    (notice,) = session.notices()
    assert notice.startswith("job.sql:")
    assert wanted in notice


#: Script -> text of each of its errors.
MESSAGES = {
    "SET 'a.b' = '1'; SELECT nope FROM users; SET 'c.d' = '2'; SELECT x FROM events;": (
        "setting 'a.b' does not exist",
        "column 'nope' does not exist",
        "setting 'c.d' does not exist",
        "column 'x' does not exist",
    ),
    "SET 'execution.type' = 'batch'": ("Flink calls it 'execution.runtime-mode'",),
    "SET 'execution.result-mode' = 'table'": ("Flink calls it 'sql-client.execution.result-mode'",),
    "SELECT * FROM users ORDER BY score": ("no order but that of an event time, ascending",),
    "CREATE TABLE t (id INT, a ARRAY<INT, PRIMARY KEY (id) NOT ENFORCED)": (
        "expected '>' to end ARRAY<...>",
    ),
    "CREATE TABLE t (a ROW<x INT, PRIMARY KEY (a) NOT ENFORCED)": ("the '>' that ends the type",),
    "SELECT * FROM (users JOIN events": ("expected ON or USING, found the end of the statement",),
    "SELECT * FROM (SELECT * FROM users": ("expected ')' to end the query",),
    "SELECT * FROM events, LATERAL TABLE(split_words(note)) AS t (w)": (
        "function SPLIT_WORDS does not exist",
    ),
}


@pytest.mark.parametrize(("script", "wanted"), MESSAGES.items(), ids=list(MESSAGES))
def test_messages(script: str, wanted: tuple[str, ...]) -> None:
    session = Session()
    session.load(TABLES, "tables.sql")
    with pytest.raises(StreamtableError) as refused:
        session.load(script, "job.sql")
    found = refused.value.faults if isinstance(refused.value, Faults) else [refused.value]
    assert len(found) == len(wanted)
    for error, part in zip(found, wanted, strict=True):
        assert part in str(error)
