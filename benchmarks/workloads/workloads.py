"""Workloads: scripts that Flink and streamtable both run, and their records."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

#: (topic, key, value) of a record to produce; a value of None is a tombstone.
Record = tuple[str, bytes | None, bytes | None]


@dataclass(frozen=True)
class Workload:
    """A job over a backlog.

    Attributes:
        sources: topic -> whether it is compacted.
        sinks: topics that the job writes.
        script: SQL script; `${servers}` and `${end}`, the option that ends Flink's sources, are
            replaced.
        records: creates the records for a scale; 1.0 is the scale of the published results.
        schema: schema of the values of its single source, if Spark itself is measured, too.
        undetermined: columns of JSON values that depend on the order in which the partitions of
            the source are read, for example because an ORDER BY has ties.
    """

    name: str
    about: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    script: str
    records: Callable[[float], Iterator[Record]] = field(repr=False)
    schema: str | None = None
    undetermined: frozenset[str] = frozenset()


def _kafka(name: str, columns: str, topic: str) -> str:
    return f"""CREATE TABLE {name} ({columns}) WITH (
  'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '${{servers}}',
  'scan.startup.mode' = 'earliest-offset', ${{end}} 'format' = 'json');
"""


def _upsert(name: str, columns: str, topic: str, *, source: bool, fmt: str = "json") -> str:
    end = "${end} " if source else ""
    return f"""CREATE TABLE {name} ({columns}) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}',
  'properties.bootstrap.servers' = '${{servers}}',
  {end}'key.format' = '{fmt}', 'value.format' = '{fmt}');
"""


def _json(**values: object) -> bytes:
    return json.dumps(values).encode()


def _page_views(scale: float) -> Iterator[Record]:
    source = random.Random(1)
    regions = [f"region-{i:02}" for i in range(50)]
    for i in range(int(5_000_000 * scale)):
        value = (
            f'{{"user_id": {source.randrange(200_000)}, "page_id": {source.randrange(1_000)},'
            f' "viewtime": "2026-01-01 {i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}",'
            f' "user_region": "{regions[source.randrange(50)]}"}}'
        )
        yield "views", None, value.encode()


def _orders(scale: float, keys: int = 1_000_000) -> Iterator[Record]:
    """Yield five versions of each key, one in twenty a delete; 100,000 users."""
    source = random.Random(2)
    many = int(keys * scale)
    for _ in range(5):
        for _ in range(many):
            key = source.randrange(many)
            value = None
            if source.random() >= 0.05:
                value = _json(id=key, user_id=source.randrange(100_000), x=source.randrange(1_000))
            yield "orders", _json(id=key), value


def _two_sides(scale: float) -> Iterator[Record]:
    source = random.Random(3)
    keys = int(500_000 * scale)
    for i in range(int(2_000_000 * scale)):
        key = source.randrange(keys)
        side = ("lefts", "rights")[i % 2]
        yield side, _json(id=key), _json(id=key, v=source.randrange(10**6))


def _three_streams(scale: float) -> Iterator[Record]:
    source = random.Random(5)
    keys = int(500_000 * scale)
    for i in range(int(3_000_000 * scale)):
        name = ("as", "bs", "cs")[i % 3]
        yield name, None, _json(id=source.randrange(keys), v=source.randrange(10**6))


def _bids(scale: float) -> Iterator[Record]:
    source = random.Random(6)
    many = int(5_000_000 * scale)
    for i in range(many):
        value = _json(
            id=i // 2,
            auction=source.randrange(many // 200 or 1),
            price=source.randrange(10**6),
            at=i,
        )
        yield "bids", None, value


def _clicks(scale: float) -> Iterator[Record]:
    """Yield 20,000 clicks per second of event time."""
    source = random.Random(7)
    for i in range(int(5_000_000 * scale)):
        yield (
            "clicks",
            None,
            _json(user_id=source.randrange(100_000), ms=1_790_000_000_000 + i // 20),
        )


_VIEWS = _kafka(
    "pageviews",
    "user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP(3), user_region STRING",
    "views",
)
#: Fields of a page view, for Spark.
_VIEW = "user_id BIGINT, page_id BIGINT, viewtime TIMESTAMP, user_region STRING"
_ORDERS = _upsert(
    "orders",
    "id BIGINT, user_id BIGINT, x BIGINT, PRIMARY KEY (id) NOT ENFORCED",
    "orders",
    source=True,
)
_COUNTS = (
    _ORDERS
    + _upsert(
        "per_user",
        "user_id BIGINT, n BIGINT, x BIGINT, PRIMARY KEY (user_id) NOT ENFORCED",
        "per_user",
        source=False,
    )
    + "INSERT INTO per_user SELECT user_id, COUNT(*), SUM(x) FROM orders GROUP BY user_id;"
)
#: Flink's default timeout of an hour is longer than brokers allow.
_EXACTLY_ONCE = """, 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'benchmark',
  'properties.transaction.timeout.ms' = '600000'"""
_SIDE = "id BIGINT, v BIGINT, PRIMARY KEY (id) NOT ENFORCED"
_BIDS = _kafka("bids", "id BIGINT, auction BIGINT, price BIGINT, `at` BIGINT", "bids")


def _filtered(options: str) -> str:
    return (
        _VIEWS
        + """CREATE TABLE filtered (user_id BIGINT, region STRING) WITH (
  'connector' = 'kafka', 'topic' = 'filtered', 'properties.bootstrap.servers' = '${servers}',
  'format' = 'json'"""
        + options
        + """);
INSERT INTO filtered SELECT user_id, UPPER(user_region) FROM pageviews WHERE page_id < 500;"""
    )


WORKLOADS = {
    w.name: w
    for w in (
        Workload(
            "pageviews",
            "pv and uv per region, json to avro: 5 M views, 50 regions, 200,000 users",
            ("views",),
            ("per_region",),
            _VIEWS
            + _upsert(
                "per_region",
                "user_region STRING, pv BIGINT, uv BIGINT, PRIMARY KEY (user_region) NOT ENFORCED",
                "per_region",
                source=False,
                fmt="avro",
            )
            + "INSERT INTO per_region SELECT user_region, COUNT(*), COUNT(DISTINCT user_id)"
            " FROM pageviews GROUP BY user_region;",
            _page_views,
            _VIEW,
        ),
        Workload(
            "upsert-counts",
            "COUNT(*), SUM(x) per user over an upsert topic: 1 M keys, 5 M changes, 5 % deletes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            _orders,
        ),
        Workload(
            "state-small",
            "upsert-counts with a tenth of the state: 100,000 keys, 500,000 changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(_orders, keys=100_000),
        ),
        Workload(
            "state-large",
            "upsert-counts with five times the state: 5 M keys, 25 M changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(_orders, keys=5_000_000),
        ),
        Workload(
            "state-huge",
            "upsert-counts with twenty times the state: 20 M keys, 100 M changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(_orders, keys=20_000_000),
        ),
        Workload(
            "upsert-join",
            "upsert JOIN upsert on the primary key: 500,000 keys a side, 2 M changes",
            ("lefts", "rights"),
            ("joined",),
            _upsert("lefts", _SIDE, "lefts", source=True)
            + _upsert("rights", _SIDE, "rights", source=True)
            + _upsert(
                "joined",
                "id BIGINT, l BIGINT, r BIGINT, PRIMARY KEY (id) NOT ENFORCED",
                "joined",
                source=False,
            )
            + "INSERT INTO joined SELECT lefts.id, lefts.v, rights.v"
            " FROM lefts JOIN rights ON lefts.id = rights.id;",
            _two_sides,
        ),
        Workload(
            "stateless",
            "filter and projection, json to json: 5 M views",
            ("views",),
            ("filtered",),
            _filtered(""),
            _page_views,
            _VIEW,
        ),
        Workload(
            "exactly-once",
            "the same into an exactly-once sink",
            ("views",),
            ("filtered",),
            _filtered(_EXACTLY_ONCE),
            _page_views,
        ),
        Workload(
            "merge",
            "three streams merged by key into one upsert topic: 500,000 keys, 3 M records",
            ("as", "bs", "cs"),
            ("merged",),
            "".join(_kafka(f"t_{n}", "id BIGINT, v BIGINT", n) for n in ("as", "bs", "cs"))
            + _upsert(
                "merged",
                "id BIGINT, a BIGINT, b BIGINT, c BIGINT, PRIMARY KEY (id) NOT ENFORCED",
                "merged",
                source=False,
            )
            + """INSERT INTO merged SELECT id, MAX(a), MAX(b), MAX(c) FROM (
  SELECT id, v AS a, CAST(NULL AS BIGINT) AS b, CAST(NULL AS BIGINT) AS c FROM t_as
  UNION ALL SELECT id, CAST(NULL AS BIGINT), v, CAST(NULL AS BIGINT) FROM t_bs
  UNION ALL SELECT id, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), v FROM t_cs) AS u
GROUP BY id;""",
            _three_streams,
        ),
        Workload(
            "top-n",
            "the three highest of 200 bids per auction: 25,000 auctions, 5 M bids",
            ("bids",),
            ("best",),
            _BIDS
            + _upsert(
                "best",
                "auction BIGINT, place BIGINT, id BIGINT, price BIGINT,"
                " PRIMARY KEY (auction, place) NOT ENFORCED",
                "best",
                source=False,
            )
            + """INSERT INTO best SELECT auction, place, id, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC, id) AS place FROM bids
) AS r WHERE place <= 3;""",
            _bids,
        ),
        Workload(
            "deduplicate",
            "the first of two bids of an id: 2.5 M ids, 5 M bids",
            ("bids",),
            ("firsts",),
            _BIDS
            + _upsert(
                "firsts",
                "id BIGINT, auction BIGINT, price BIGINT, PRIMARY KEY (id) NOT ENFORCED",
                "firsts",
                source=False,
            )
            + """INSERT INTO firsts SELECT id, auction, price FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY `at`) AS place FROM bids
) AS r WHERE place = 1;""",
            _bids,
        ),
        Workload(
            "windows",
            "COUNT(*) per user and window of 10 s: 100,000 users, 25 windows, 5 M clicks",
            ("clicks",),
            ("clicked",),
            _kafka(
                "clicks",
                "user_id BIGINT, ms BIGINT, `at` AS TO_TIMESTAMP_LTZ(ms, 3),"
                " WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND",
                "clicks",
            )
            + _upsert(
                "clicked",
                "user_id BIGINT, started TIMESTAMP(3), n BIGINT,"
                " PRIMARY KEY (user_id, started) NOT ENFORCED",
                "clicked",
                source=False,
            )
            + """INSERT INTO clicked SELECT user_id, window_start, COUNT(*)
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(`at`), INTERVAL '10' SECOND))
GROUP BY user_id, window_start, window_end;""",
            _clicks,
        ),
    )
}

#: The workloads of a run that names none. state-huge took half an hour without Flink's part, 12
#: minutes of it to fill its topic (29 November 2026).
WHOLE_RUN = [name for name in WORKLOADS if name != "state-huge"]
