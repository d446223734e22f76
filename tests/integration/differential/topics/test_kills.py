"""Jobs with a query of each kind write the whole answer despite `kill -9` at random moments."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.differential.topics.on_kafka import KafkaJob, histories
from tests.integration.event_time.support import moment, punctual
from tests.integration.jobs.support import Cli, write

from streamtable.testing.histories import pieces, random_cuts
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

_KILLS = 3
_MODES = ("micro-batch", "real-time", "auto")

_SOURCES = """
CREATE TABLE events (
  ts TIMESTAMP(3), k INT, v INT, id BIGINT METADATA FROM 'offset' VIRTUAL, p AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE versions (
  k INT, price INT, at TIMESTAMP(3), WATERMARK FOR at AS at, PRIMARY KEY (k) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${versions}',
  'properties.bootstrap.servers' = '${servers}', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE VIEW named AS SELECT * FROM (VALUES (1, 10), (2, 20), (40, 30)) AS v (n, m);
"""
_SINK = """
CREATE TABLE {name} (id BIGINT, n BIGINT, m BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${{source}}-${{out}}-{name}',
  'properties.bootstrap.servers' = '${{servers}}', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO {name} {query};
"""
_SINK_OF_WINDOWS = _SINK.replace(
    "id BIGINT, n BIGINT, m BIGINT, PRIMARY KEY (id)",
    "k INT, a TIMESTAMP(3), b TIMESTAMP(3), n BIGINT, m BIGINT, PRIMARY KEY (k, a, b)",
)
_ID = "TIMESTAMPDIFF(SECOND, TIMESTAMP '2026-03-01 00:00:00', window_start) * 10 + k"
_TUMBLE = "TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
_HOP = "TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND, INTERVAL '6' SECOND))"
_SESSION = "TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '2' SECOND))"
_OVER = "SELECT id, COUNT(*) OVER w, SUM(v) OVER w FROM events WINDOW w AS (PARTITION BY k {})"
_MATCH = (
    "SELECT a, b, n FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY {} MEASURES"
    " FIRST(id) AS a, LAST(id) AS b, COUNT(*) AS n AFTER MATCH SKIP TO NEXT ROW"
    " PATTERN (A B+? C) {} DEFINE B AS B.v <> A.v, C AS C.v > LAST(B.v))"
)
_COUNTS = (
    f"(SELECT k, window_start, window_end, COUNT(*) AS n FROM {_TUMBLE}"
    " GROUP BY k, window_start, window_end)"
)
_SAME_WINDOW = "x.window_start = y.window_start AND x.window_end = y.window_end"
_FIRST = (
    "SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY {}) AS rn"
    " FROM {}) WHERE rn = 1"
)
QUERIES = {
    "tumbled": (
        f"SELECT {_ID}, COUNT(*), SUM(v) FROM {_TUMBLE} GROUP BY window_start, window_end, k"
    ),
    "hopped": f"SELECT {_ID}, COUNT(*), SUM(v) FROM {_HOP} GROUP BY window_start, window_end, k",
    "sessions": (
        f"SELECT {_ID}, COUNT(*), SUM(v) FROM {_SESSION} GROUP BY window_start, window_end, k"
    ),
    "best": _FIRST.format("window_start, window_end", "v DESC, id", _TUMBLE),
    "near": (
        "SELECT x.id * 1000 + y.id, x.v, y.v FROM events AS x JOIN events AS y ON x.k = y.k"
        " AND x.ts BETWEEN y.ts - INTERVAL '1' SECOND AND y.ts"
    ),
    "so_far": _OVER.format("ORDER BY ts"),
    "of_three": _OVER.format("ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
    "as_they_come": _OVER.format("ORDER BY p"),
    "firsts": _FIRST.format("k, v", "ts", "events"),
    "first_to_come": _FIRST.format("k, v", "p", "events"),
    "matched": _MATCH.format("ts, id", "WITHIN INTERVAL '30' SECOND"),
    "matched_as_they_come": _MATCH.format("p", ""),
    "priced": (
        "SELECT e.id, u.price, e.k FROM events AS e LEFT JOIN versions"
        " FOR SYSTEM_TIME AS OF e.ts AS u ON e.k = u.k"
    ),
    "repriced": (
        "SELECT a.k, u.price, a.price FROM versions AS a LEFT JOIN versions"
        " FOR SYSTEM_TIME AS OF a.at AS u ON MOD(a.k + 1, 3) = u.k"
    ),
    "looked_up": (
        "SELECT g.k, g.n, d.m FROM (SELECT k, COUNT(*) AS n, PROCTIME() AS p FROM events GROUP BY"
        " k) AS g LEFT JOIN named FOR SYSTEM_TIME AS OF g.p AS d ON g.n = d.n"
    ),
}
#: Joins with stateful inputs; the keys of their sinks include the bounds of windows.
OF_WINDOWS = {
    "of_one_window": (
        f"SELECT x.k, x.window_start, x.window_end, x.n, y.s FROM {_COUNTS} AS x LEFT JOIN"
        f" (SELECT k, window_start, window_end, SUM(v) AS s FROM {_TUMBLE} WHERE v > 2"
        f" GROUP BY k, window_start, window_end) AS y ON {_SAME_WINDOW} AND x.k = y.k"
    ),
    "busiest": (
        f"SELECT x.k, x.window_start, x.window_end, x.n, y.m FROM {_COUNTS} AS x JOIN"
        f" (SELECT window_start, window_end, MAX(n) AS m FROM {_COUNTS}"
        f" GROUP BY window_start, window_end) AS y ON {_SAME_WINDOW} AND x.n >= y.m"
    ),
    "priced_counts": (
        "SELECT x.k, x.window_start, x.window_end, x.n, u.price FROM (SELECT k, window_start,"
        f" window_end, window_time, COUNT(*) AS n FROM {_TUMBLE} GROUP BY k, window_start,"
        " window_end, window_time) AS x LEFT JOIN versions FOR SYSTEM_TIME AS OF x.window_time"
        " AS u ON x.k = u.k"
    ),
}
#: Queries with rows that wait for the watermark; real-time mode runs this many on two cores.
WAITING = ("tumbled", "sessions", "best", "near", "priced")
_CASES = [
    pytest.param(seed, modes, queries, id=f"{seed}-{'/'.join(modes)}")
    for seed, modes, queries in (
        *((seed, _MODES[:1], (*QUERIES, *OF_WINDOWS)) for seed in range(501, 504)),
        *((507, (mode,), WAITING) for mode in _MODES[1:]),
        *((510, (mode,), ("matched", "matched_as_they_come")) for mode in _MODES[1:]),
        *((511, (mode,), tuple(OF_WINDOWS)) for mode in _MODES[1:]),
        (512, _MODES[1:], tuple(OF_WINDOWS)),
        (508, _MODES, WAITING),
        (509, _MODES, ("hopped", *WAITING[1:])),
    )
]


@pytest.mark.soak
@pytest.mark.parametrize(("seed", "modes", "queries"), _CASES)
def test_killed_jobs_with_append_only_input(
    seed: int,
    modes: Sequence[str],
    queries: Sequence[str],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
) -> None:
    """A killed job writes the same rows as a run over all records at once."""
    checkpoint = str(tmp_path / "killed")
    check_kills(seed, modes, queries, spark, broker, topic, tmp_path, checkpoint)


def check_kills(
    seed: int,
    modes: Sequence[str],
    queries: Sequence[str],
    spark: SparkSession,
    broker: Broker,
    topic: Topics,
    tmp_path: Path,
    checkpoint: str,
    arguments: Sequence[str] = (),
) -> None:
    """Compare a job that is killed often with an uninterrupted job.

    Args:
        seed: the seed of the rows and of the times of the kills.
        modes: the modes of the runs, in turn.
        queries: names in `QUERIES` and `OF_WINDOWS`.
        spark: runs the rest of the killed job, and the other job.
        broker: the broker of the topics.
        topic: creates the topics.
        tmp_path: the folder for the script and the checkpoint of the other job.
        checkpoint: the checkpoint of the killed job.
        arguments: further arguments of the killed processes.
    """
    names = {
        "source": topic("events", partitions=1),
        "versions": topic("versions", partitions=1),
        "servers": broker.bootstrap_servers,
    }
    script = _SOURCES + "".join(map(_insert, queries))
    jobs = [
        BoundedRun(spark, script, place, {**names, "out": out})
        for out, place in (("killed", checkpoint), ("whole", tmp_path / "whole"))
    ]
    rows = _rows(seed)
    file = write(tmp_path / "killed.sql", script)
    _kill_often(seed, file, jobs[0], modes, lambda i: _send(names, rows[i]), arguments)
    for job in jobs:
        job()
    for name in queries:
        found, whole = (job.rows(name) for job in jobs)
        assert found == whole, f"{name}, seed {seed}"
        assert len(whole) > 2, name


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(504, 507))
def test_killed_jobs_with_updates_and_deletes(
    seed: int, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    """A killed job ends with Spark's batch answers."""
    job = KafkaJob(spark, broker.bootstrap_servers, topic, tmp_path)
    cut = histories(seed, cuts=_KILLS + 1)

    def feed(piece: int) -> None:
        for name, changes in cut.items():
            job.feed(name, changes[piece])

    killed = BoundedRun(spark, job.script, tmp_path / "checkpoint")
    _kill_often(seed, write(tmp_path / "job.sql", job.script), killed, _MODES[:1], feed)
    job.run(1_000)
    assert not job.wrong(job.answers()), f"seed {seed}"


def _insert(name: str) -> str:
    sink, queries = (_SINK, QUERIES) if name in QUERIES else (_SINK_OF_WINDOWS, OF_WINDOWS)
    return sink.format(name=name, query=queries[name])


#: Records of both topics that are sent together: events as values, versions with their keys.
_Piece = tuple[Sequence[Mapping[str, Any]], Sequence[tuple[bytes, bytes]]]


def _rows(seed: int) -> list[_Piece]:
    """Return one more piece than there are kills."""
    events = [
        {"ts": moment(event.ms or 0), "k": event.k, "v": event.v}
        for event in punctual(seed, 240, {0: 1_000})
    ]
    versions = [
        (
            json.dumps({"k": i % 3}).encode(),
            json.dumps({"k": i % 3, "price": i, "at": moment(i * 20_000)}).encode(),
        )
        for i in range(60)
    ]
    cut = (pieces(rows, random_cuts(seed, len(rows), _KILLS + 1)) for rows in (events, versions))
    return list(zip(*cut, strict=True))


def _send(names: Mapping[str, str], piece: _Piece) -> None:
    produce_json(names["servers"], names["source"], piece[0])
    produce(names["servers"], names["versions"], piece[1])


def _kill_often(
    seed: int,
    script: str,
    job: BoundedRun,
    modes: Sequence[str],
    feed: Callable[[int], None],
    further: Sequence[str] = (),
) -> None:
    """Run the script as a process on the job's checkpoint, and kill the process while it works.

    Args:
        seed: the seed of the times of the kills.
        script: the file of the job.
        job: the job with the checkpoint.
        modes: the modes of the runs, in turn.
        feed: writes one piece of the input; the piece after the last kill remains unread.
        further: further arguments of the processes.
    """
    dice = random.Random(seed)
    arguments = ["run", script, "--checkpoint", str(job.checkpoint), *further]
    for setting in (
        "execution.micro-batch.max-records=12",
        "execution.checkpointing.interval=5 s",
        "parallelism.default=1",
    ):
        arguments += ["--set", setting]
    for name, value in job.variables.items():
        arguments += ["--var", f"{name}={value}"]
    for run in range(_KILLS):
        mode = modes[run % len(modes)]
        master = ["--master", "local[2]"] if mode == "micro-batch" else []
        process = Cli.start(*arguments, *master, "--set", f"execution.mode={mode}")
        process.wait_for("running")
        feed(run)
        time.sleep(2 + dice.random() * 8)
        assert process.process.poll() is None, process.end()
        process.kill()
    feed(_KILLS)
