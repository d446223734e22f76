"""Workloads: scripts that Flink and streamtable both run, with their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from benchmarks.workloads import records
from benchmarks.workloads.records import Record


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


def _sink(name: str, columns: str, options: str = "") -> str:
    return f"""CREATE TABLE {name} ({columns}) WITH (
  'connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = '${{servers}}',
  'format' = 'json'{options});
"""


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
_EVENT_TIME = (
    "ms BIGINT, `at` AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR `at` AS `at` - INTERVAL '1' SECOND"
)
_CLICKS = _kafka("clicks", f"user_id BIGINT, {_EVENT_TIME}", "clicks")
_BIDS = _kafka("bids", "id BIGINT, auction BIGINT, price BIGINT, `at` BIGINT", "bids")


def _filtered(options: str) -> str:
    return (
        _VIEWS
        + _sink("filtered", "user_id BIGINT, region STRING", options)
        + "INSERT INTO filtered SELECT user_id, UPPER(user_region) FROM pageviews"
        " WHERE page_id < 500;"
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
            records.page_views,
            _VIEW,
        ),
        Workload(
            "upsert-counts",
            "COUNT(*), SUM(x) per user over an upsert topic: 1 M keys, 5 M changes, 5 % deletes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            records.orders,
        ),
        Workload(
            "state-small",
            "upsert-counts with a tenth of the state: 100,000 keys, 500,000 changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(records.orders, keys=100_000),
        ),
        Workload(
            "state-large",
            "upsert-counts with five times the state: 5 M keys, 25 M changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(records.orders, keys=5_000_000),
        ),
        Workload(
            "state-huge",
            "upsert-counts with twenty times the state: 20 M keys, 100 M changes",
            ("orders",),
            ("per_user",),
            _COUNTS,
            partial(records.orders, keys=20_000_000),
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
            records.two_sides,
        ),
        Workload(
            "stateless",
            "filter and projection, json to json: 5 M views",
            ("views",),
            ("filtered",),
            _filtered(""),
            records.page_views,
            _VIEW,
        ),
        Workload(
            "exactly-once",
            "the same into an exactly-once sink",
            ("views",),
            ("filtered",),
            _filtered(_EXACTLY_ONCE),
            records.page_views,
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
            records.three_streams,
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
            records.bids,
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
            records.bids,
        ),
        Workload(
            "windows",
            "COUNT(*) per user and window of 10 s: 100,000 users, 25 windows, 5 M clicks",
            ("clicks",),
            ("clicked",),
            _CLICKS
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
            records.clicks,
        ),
        Workload(
            "over",
            "COUNT(*) of a user's last 10 s for each click: 100,000 users, 5 M clicks",
            ("clicks",),
            ("counted",),
            _CLICKS
            + _sink("counted", "user_id BIGINT, ms BIGINT, n BIGINT")
            + """INSERT INTO counted SELECT user_id, ms, COUNT(*) OVER (
  PARTITION BY user_id ORDER BY `at`
  RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) FROM clicks;""",
            records.clicks,
        ),
        Workload(
            "interval-join",
            "orders and their payments within 10 s: 2 M orders, 2 M payments",
            ("orders", "payments"),
            ("paid",),
            _kafka("orders", f"id BIGINT, {_EVENT_TIME}", "orders")
            + _kafka("payments", f"order_id BIGINT, {_EVENT_TIME}", "payments")
            + _sink("paid", "id BIGINT, ordered BIGINT, paid BIGINT")
            + """INSERT INTO paid SELECT o.id, o.ms, p.ms FROM orders AS o JOIN payments AS p
ON o.id = p.order_id AND p.`at` BETWEEN o.`at` AND o.`at` + INTERVAL '10' SECOND;""",
            records.payments,
        ),
        Workload(
            "temporal-join",
            "orders with the rate of their time: 10,000 currencies, 3 M orders, 300,000 rates",
            ("orders", "rates"),
            ("converted",),
            _kafka("orders", f"id BIGINT, currency BIGINT, amount BIGINT, {_EVENT_TIME}", "orders")
            + _upsert(
                "rates",
                f"currency BIGINT, rate BIGINT, {_EVENT_TIME}, PRIMARY KEY (currency) NOT ENFORCED",
                "rates",
                source=True,
            )
            + _sink("converted", "id BIGINT, amount BIGINT")
            + """INSERT INTO converted SELECT o.id, o.amount * r.rate FROM orders AS o
LEFT JOIN rates FOR SYSTEM_TIME AS OF o.`at` AS r ON o.currency = r.currency;""",
            records.conversions,
        ),
    )
}

#: The workloads of a run that names none. state-huge took half an hour without Flink's part, 12
#: minutes of it to fill its topic (29 November 2026).
WHOLE_RUN = [name for name in WORKLOADS if name != "state-huge"]
