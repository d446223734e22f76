"""Settings of tables and of the optimizer, which Flink names `table.*`."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from streamtable.core.option_kinds import BOOLEAN, DURATION, choice
from streamtable.core.options import Option, Settings


class AggregationPhases(Enum):
    """Flink's `table.optimizer.agg-phase-strategy`.

    AUTO uses two phases wherever possible, except where a Top-N keeps one row per partition.
    """

    AUTO = "AUTO"
    TWO_PHASE = "TWO_PHASE"
    ONE_PHASE = "ONE_PHASE"


class UpsertMaterialize(Enum):
    """Flink's `table.exec.sink.upsert-materialize`."""

    NONE = "NONE"
    AUTO = "AUTO"
    FORCE = "FORCE"


class NotNullEnforcer(Enum):
    """Handling of a NULL that is written to a NOT NULL column."""

    ERROR = "ERROR"
    DROP = "DROP"


class LegacyCasts(Enum):
    """Flink's `table.exec.legacy-cast-behaviour`: casts as before Flink 1.15."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


class TypeLengthEnforcer(Enum):
    """Handling of strings and bytes whose length does not match their column."""

    IGNORE = "IGNORE"
    TRIM_PAD = "TRIM_PAD"
    ERROR = "ERROR"


NOT_NULL_ENFORCER = Option(
    "table.exec.sink.not-null-enforcer",
    choice(NotNullEnforcer),
    default=NotNullEnforcer.ERROR,
    doc="Whether a NULL in a NOT NULL column fails the job, or drops and counts the row.",
)

TYPE_LENGTH_ENFORCER = Option(
    "table.exec.sink.type-length-enforcer",
    choice(TypeLengthEnforcer),
    default=TypeLengthEnforcer.IGNORE,
    doc="Whether a value that does not fit the length of its CHAR, VARCHAR, BINARY or VARBINARY"
    " column is written unchanged, is trimmed or padded, or fails the job.",
)

LEGACY_CASTS = Option(
    "table.exec.legacy-cast-behaviour",
    choice(LegacyCasts),
    default=LegacyCasts.DISABLED,
    doc="Whether casts behave as in Flink before 1.15, where a failed cast returns NULL.",
    not_yet="use TRY_CAST if a failed cast must return NULL",
    not_yet_value=LegacyCasts.ENABLED,
)

UPSERT_MATERIALIZE = Option(
    "table.exec.sink.upsert-materialize",
    choice(UpsertMaterialize),
    default=UpsertMaterialize.AUTO,
    doc="Whether state keeps the rows of each sink key to find the last one: never, if the"
    " sink's key is not the query's key, or for every query with updates. With NONE, the old row"
    " of an update deletes its sink key, if that is not the query's key.",
)

STATE_TTL = Option(
    "table.exec.state.ttl",
    DURATION,
    default=timedelta(0),
    doc="Time to live of state after its last change; 0 disables expiration. Expired state is"
    " forgotten, and later rows count as new.",
)

IDLE_TIMEOUT = Option(
    "table.exec.source.idle-timeout",
    DURATION,
    default=timedelta(0),
    doc="Time after which a partition without records is idle and no longer holds the watermark"
    " back; 0 disables idleness.",
)

CDC_DUPLICATES = Option(
    "table.exec.source.cdc-events-duplicate",
    BOOLEAN,
    default=False,
    doc="Whether change events may be duplicated; their tables then need a primary key.",
)

DYNAMIC_TABLE_OPTIONS = Option(
    "table.dynamic-table-options.enabled",
    BOOLEAN,
    default=True,
    doc="Whether a hint `/*+ OPTIONS('key' = 'value') */` may change the options of a table.",
)

DISTINCT_BITMAPS = Option(
    "table.exec.distinct-bitmaps.enabled",
    BOOLEAN,
    default=True,
    doc="Whether DISTINCT integers of an append-only input are stored as bitmaps.",
)

AGGREGATION_PHASES = Option(
    "table.optimizer.agg-phase-strategy",
    choice(AggregationPhases),
    default=AggregationPhases.AUTO,
    doc="Whether each task aggregates the rows of a group, and prunes the rows of a Top-N,"
    " before the shuffle.",
)

REUSE_SOURCE = Option(
    "table.optimizer.reuse-source-enabled",
    BOOLEAN,
    default=True,
    doc="Whether a table is read once that several INSERTs of a statement set read alike, if they"
    " write with equal guarantees, or that one INSERT reads in several places. A join whose inputs"
    " have state reads a table once in micro-batches only. The first run of a checkpoint decides.",
)

REUSE_SUB_PLANS = Option(
    "table.optimizer.reuse-sub-plan-enabled",
    BOOLEAN,
    default=True,
    doc="As in Flink, `false` also turns `table.optimizer.reuse-source-enabled` off. With `true`,"
    " equal parts of an INSERT share the scan and the shuffle below their first state.",
)


def reuses_sources(settings: Settings) -> bool:
    """Return whether one scan may serve several places of a query or of a statement set.

    As in Flink, REUSE_SUB_PLANS turns the reuse of sources off as well.
    """
    return bool(settings[REUSE_SOURCE] and settings[REUSE_SUB_PLANS])
