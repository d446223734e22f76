"""WITH options of a `jdbc` table; source: *Connector Options* of Flink's JDBC page."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Any

from streamtable.connectors.jdbc.rules import (
    all_or_none,
    bounds_in_order,
    cache_has_a_limit,
    caches_agree,
)
from streamtable.core.option_kinds import (
    BOOLEAN,
    DURATION,
    NOT_EMPTY,
    TEXT,
    choice,
    duration,
    integer,
    long_integer,
)
from streamtable.core.options import Option, OptionSet


class CacheType(Enum):
    """Cache of lookups."""

    NONE = "NONE"
    PARTIAL = "PARTIAL"
    FULL = "FULL"


class FilterPolicy(Enum):
    """Whether Flink evaluates filters in the database."""

    ALWAYS = "always"
    NEVER = "never"


class DeliveryGuarantee(Enum):
    """How often a row is written after a crash."""

    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


CONNECTOR = Option("connector", TEXT, required=True, doc="`jdbc`.")
URL = Option(
    "url",
    NOT_EMPTY,
    required=True,
    doc="The JDBC url: `jdbc:postgresql:`, `jdbc:mysql:`, `jdbc:mariadb:` or `jdbc:sqlite:`.",
)
TABLE_NAME = Option(
    "table-name", NOT_EMPTY, required=True, doc="The table in the database, also `schema.table`."
)
DRIVER = Option(
    "driver", NOT_EMPTY, doc="The class of the driver. Default: the usual driver of the url."
)
COMPATIBLE_MODE = Option(
    "compatible-mode",
    TEXT,
    not_yet="name the url of a supported database",
    doc="The dialect of a database that imitates another one.",
)
USERNAME = Option("username", TEXT, doc="The user. Requires `password`.")
PASSWORD = Option("password", TEXT, doc="The user's password.", secret=True)
RETRY_TIMEOUT = Option(
    "connection.max-retry-timeout",
    duration(timedelta(seconds=1), timedelta(seconds=2**31 - 1)),
    default=timedelta(seconds=60),
    doc="The longest wait for an answer when an open connection is checked.",
)
PARTITION_COLUMN = Option(
    "scan.partition.column", NOT_EMPTY, doc="A number column that divides a scan into tasks."
)
PARTITION_NUM = Option("scan.partition.num", integer(minimum=1), doc="Number of tasks of a scan.")
LOWER_BOUND = Option(
    "scan.partition.lower-bound",
    long_integer(),
    doc="The smallest value of the partition column that is read.",
)
UPPER_BOUND = Option(
    "scan.partition.upper-bound",
    long_integer(),
    doc="The largest value of the partition column that is read.",
)
FETCH_SIZE = Option(
    "scan.fetch-size",
    integer(minimum=0),
    default=0,
    doc="Rows that a scan fetches in one round trip; 0 is the driver's default.",
)
AUTO_COMMIT = Option(
    "scan.auto-commit",
    BOOLEAN,
    default=True,
    doc="Whether a scan runs in auto-commit mode. PostgreSQL's driver respects `scan.fetch-size`"
    " only with `false`.",
)
FILTER_POLICY = Option(
    "filter.handling.policy",
    choice(FilterPolicy),
    default=FilterPolicy.ALWAYS,
    doc="Whether Flink evaluates filters in the database. Spark evaluates them here, so both"
    " values give the same rows.",
)
CACHE = Option(
    "lookup.cache",
    choice(CacheType),
    default=CacheType.NONE,
    not_yet="'PARTIAL' stores the rows of looked-up keys; a DataFrame view holds a whole table",
    not_yet_value=CacheType.FULL,
    doc="Cache of looked-up rows in each task: `NONE` or `PARTIAL`.",
)
CACHE_MAX_ROWS = Option(
    "lookup.partial-cache.max-rows",
    long_integer(minimum=0),
    doc="Largest number of keys in the cache. The least recently used key is removed first.",
)
EXPIRE_WRITE = Option(
    "lookup.partial-cache.expire-after-write",
    DURATION,
    doc="Lifetime of a key in the cache after its rows were read.",
)
EXPIRE_ACCESS = Option(
    "lookup.partial-cache.expire-after-access",
    DURATION,
    doc="Lifetime of a key in the cache after its last use.",
)
CACHE_MISSING = Option(
    "lookup.partial-cache.cache-missing-key",
    BOOLEAN,
    default=True,
    fallback_keys=("lookup.partial-cache.caching-missing-key", "lookup.cache.caching-missing-key"),
    doc="Whether the cache stores keys without rows.",
)
OLD_MAX_ROWS = Option(
    "lookup.cache.max-rows",
    long_integer(minimum=-1),
    doc="Older form of `lookup.partial-cache.max-rows`; turns the cache on, with"
    " `lookup.cache.ttl`.",
)
OLD_TTL = Option(
    "lookup.cache.ttl",
    DURATION,
    doc="Older form of `lookup.partial-cache.expire-after-write`.",
)
LOOKUP_RETRIES = Option(
    "lookup.max-retries",
    integer(minimum=0),
    default=3,
    doc="How often a lookup that failed is repeated, over a new connection.",
)
FLUSH_ROWS = Option(
    "sink.buffer-flush.max-rows",
    integer(minimum=0),
    default=100,
    doc="Rows that a task buffers before it writes them; 0 turns this limit off.",
)
FLUSH_INTERVAL = Option(
    "sink.buffer-flush.interval",
    DURATION,
    default=timedelta(seconds=1),
    doc="Longest time that a row is buffered; 0 turns this limit off. A batch always ends with a"
    " flush.",
)
SINK_RETRIES = Option(
    "sink.max-retries",
    integer(minimum=0),
    default=3,
    doc="How often a flush that failed is repeated, over a new connection.",
)
PARALLELISM = Option(
    "sink.parallelism",
    integer(minimum=1),
    doc="Highest number of tasks that write. Default: the query's.",
)
DELIVERY = Option(
    "sink.delivery-guarantee",
    choice(DeliveryGuarantee),
    default=DeliveryGuarantee.AT_LEAST_ONCE,
    doc="`at-least-once`, or `exactly-once` in micro-batches: the rows of a task and the number of"
    " the batch are one transaction. Not an option of Flink.",
)

PARTITIONING: tuple[Option[Any], ...] = (PARTITION_COLUMN, PARTITION_NUM, LOWER_BOUND, UPPER_BOUND)
_OF_PARTIAL: tuple[Option[Any], ...] = (
    CACHE_MAX_ROWS,
    EXPIRE_WRITE,
    EXPIRE_ACCESS,
    CACHE_MISSING,
)
_OLD: tuple[Option[Any], ...] = (OLD_MAX_ROWS, OLD_TTL)

OPTIONS = OptionSet(
    "connector 'jdbc'",
    (
        CONNECTOR,
        URL,
        TABLE_NAME,
        DRIVER,
        COMPATIBLE_MODE,
        USERNAME,
        PASSWORD,
        RETRY_TIMEOUT,
        *PARTITIONING,
        FETCH_SIZE,
        AUTO_COMMIT,
        FILTER_POLICY,
        CACHE,
        *_OF_PARTIAL,
        *_OLD,
        LOOKUP_RETRIES,
        FLUSH_ROWS,
        FLUSH_INTERVAL,
        SINK_RETRIES,
        PARALLELISM,
        DELIVERY,
    ),
    passthrough="properties.",
    rules=(
        all_or_none((USERNAME, PASSWORD)),
        all_or_none(PARTITIONING),
        bounds_in_order(LOWER_BOUND, UPPER_BOUND),
        all_or_none(_OLD),
        caches_agree(CACHE, CacheType.PARTIAL, _OF_PARTIAL, _OLD),
        cache_has_a_limit(CACHE, CacheType.PARTIAL, _OF_PARTIAL[:3]),
    ),
)
