"""Spark settings in `SET` and `--set`: known keys, fixed keys, and keys that we govern.

`spark.txt` lists the keys of the supported Spark versions, so that the front end can check
keys without Spark. A key that only one minor version knows is followed by this version.
`tests/compat/spark_settings.py` writes the file.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from streamtable.core.errors import Condition, Span, StreamtableError, closest

_LIST = Path(__file__).with_suffix(".txt")
_STATE = "spark.sql.streaming.stateStore."
#: Spark's RocksDB settings are case-insensitive.
_ANY_CASE = f"{_STATE}rocksdb.".lower()

#: Prefixes of keys whose remainder the user or another system defines.
FREE_PREFIXES = (
    "spark.driver.resource.",
    "spark.executor.resource.",
    "spark.executorEnv.",
    "spark.files.io.",
    "spark.hadoop.",
    "spark.hive.",
    "spark.io.encryption.commons.config.",
    "spark.kafka.clusters.",
    "spark.kubernetes.driver.annotation.",
    "spark.kubernetes.driver.label.",
    "spark.kubernetes.driver.node.selector.",
    "spark.kubernetes.driver.secretKeyRef.",
    "spark.kubernetes.driver.secrets.",
    "spark.kubernetes.driver.service.annotation.",
    "spark.kubernetes.driver.service.label.",
    "spark.kubernetes.driver.volumes.",
    "spark.kubernetes.driverEnv.",
    "spark.kubernetes.executor.annotation.",
    "spark.kubernetes.executor.label.",
    "spark.kubernetes.executor.node.selector.",
    "spark.kubernetes.executor.secretKeyRef.",
    "spark.kubernetes.executor.secrets.",
    "spark.kubernetes.executor.volumes.",
    "spark.kubernetes.node.selector.",
    "spark.metrics.conf.",
    "spark.network.crypto.config.",
    "spark.network.io.",
    "spark.plugins.internal.conf.",
    "spark.rpc.io.",
    "spark.scheduler.listenerbus.eventqueue.",
    "spark.shuffle.io.",
    "spark.shuffle.plugin.__config__.",
    "spark.sql.catalog.",
    "spark.ssl.",
    "spark.task.resource.",
    "spark.worker.resource.",
    "spark.yarn.am.resource.",
    "spark.yarn.appMasterEnv.",
    "spark.yarn.driver.resource.",
    "spark.yarn.executor.resource.",
)

#: Minimum similarity, from 0 to 1, of two keys for one to be a misspelling of the other.
_ALIKE = 0.9


@dataclass(frozen=True)
class Fixed:
    """A Spark setting with the same value in every job.

    Attributes:
        value: the fixed value.
        reason: why the value cannot change; ends the message.
    """

    value: str
    reason: str


#: With these settings, the bound Spark SQL of a plan has Flink's semantics.
SPARK_RULES = {
    # Where Flink fails, the Spark SQL raises errors itself.
    "spark.sql.ansi.enabled": Fixed(
        "false",
        "integers overflow without an error and TRY_CAST returns NULL, as in Flink;"
        " CAST fails in both cases",
    ),
    "spark.sql.caseSensitive": Fixed("true", "names are case-sensitive in Flink SQL"),
    "spark.sql.mapKeyDedupPolicy": Fixed(
        "LAST_WIN", "in Flink maps, the last of several equal keys wins"
    ),
    # ICU's rules also take a second to initialize.
    "spark.sql.icu.caseMappings.enabled": Fixed(
        "false", "UPPER and LOWER follow Java's rules, as in Flink"
    ),
    "spark.sql.timeType.enabled": Fixed("true", "Flink SQL has the type TIME"),
    "spark.sql.timestampType": Fixed("TIMESTAMP_LTZ", "plans declare the type of each timestamp"),
}

#: Settings that every job requires.
FIXED = {
    **SPARK_RULES,
    "spark.sql.datetime.java8API.enabled": Fixed("true", "operators use java.time values"),
    f"{_STATE}providerClass": Fixed(
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        "operators need RocksDB, and checkpoints hold its files",
    ),
    f"{_STATE}rocksdb.changelogCheckpointing.enabled": Fixed(
        "true", "checkpoints hold changelogs of the state"
    ),
    # `with_empty_batches` turns it off if no windows need to fire.
    "spark.sql.streaming.noDataMicroBatches.enabled": Fixed(
        "true", "windows fire in batches without rows when the watermark has moved"
    ),
    # The lowest watermark of all scans applies to all operators of a query.
    "spark.sql.streaming.multipleWatermarkPolicy": Fixed(
        "min", "the watermark of a query is the minimum over its inputs, as in Flink"
    ),
    "spark.sql.streaming.statefulOperator.allowMultiple": Fixed(
        "false", "all operators of a query share one watermark"
    ),
    f"{_STATE}checkpointFormatVersion": Fixed(
        "2", "it lets a checkpoint move between micro-batch and real-time mode"
    ),
    "spark.sql.streaming.realTimeMode.minBatchDuration": Fixed(
        "1000",
        "the first checkpoints of real-time mode are a second apart"
        " (see execution.real-time.first-checkpoints and execution.checkpointing.interval)",
    ),
    "spark.sql.streaming.realTimeMode.allowlistCheck": Fixed(
        "false", "Spark does not know the union of inputs with state"
    ),
    # No run reads state without a batch: the first batch starts without state.
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": Fixed(
        "false", "a job killed in its first real-time batch leaves state without a batch"
    ),
    # Exactly-once sinks depend on a fixed number of tasks.
    "spark.sql.adaptive.streaming.stateless.enabled": Fixed(
        "false", "a batch that runs again must have the same tasks"
    ),
}

#: Spark settings that one of our settings controls -> what to set instead.
GOVERNED = {
    "spark.app.name": "SET 'pipeline.name'",
    "spark.master": "set --master, or RunOptions(master=...)",
    "spark.remote": "a job starts its own Spark, without Spark Connect; set --master",
    "spark.api.mode": "a job starts its own Spark, without Spark Connect; remove it",
    "spark.sql.session.timeZone": "SET 'table.local-time-zone'",
    "spark.sql.shuffle.partitions": "SET 'parallelism.default'",
    f"{_STATE}rocksdb.trackTotalNumberOfRows": (
        "SET 'state.backend.rocksdb.metrics.estimate-num-keys'"
    ),
    "spark.streamtable.stateOrder.enabled": "SET 'execution.micro-batch.state-order.enabled'",
    "spark.streamtable.bundleSize": "SET 'execution.real-time.bundle-size'",
}


def check_spark_setting(key: str, value: str, at: Span | None) -> None:
    """Refuse a Spark setting that would be overridden or that Spark does not know.

    Args:
        key: begins with `spark.`.
        value: value in the script.
        at: place of the key.

    Raises:
        StreamtableError: OPTION_NOT_SETTABLE for a fixed setting, or one that another setting
            controls; UNKNOWN_SETTING for an unknown key in a namespace of Spark, or one similar to
            a known key.
    """
    if key in FIXED and value.strip().lower() != FIXED[key].value.lower():
        fixed = FIXED[key]
        raise _not_settable(key, f"its value is always '{fixed.value}', because {fixed.reason}", at)
    if key in GOVERNED:
        reason = "another setting decides it"
        raise _not_settable(key, reason, at, GOVERNED[key])
    if is_known(key):
        return
    nearest = closest(key, known_keys())
    if _is_of_spark(key) or _alike(key):
        raise StreamtableError(Condition.UNKNOWN_SETTING, at=at, option=key, hint=nearest)


def is_known(key: str, minor: str | None = None) -> bool:
    """Return whether Spark knows a key or leaves its remainder to the user.

    Args:
        key: begins with `spark.`.
        minor: a minor version of Spark, such as `4.3`; None for any supported version.
    """
    if key.startswith(FREE_PREFIXES):
        return True
    if minor is not None and _only_in().get(key, minor) != minor:
        return False
    return key in known_keys() or (
        key.lower().startswith(_ANY_CASE) and key.lower() in _known_in_any_case()
    )


def unknown_keys(passthrough: Iterable[str], minor: str) -> Iterator[str]:
    """Yield settings that a Spark does not know: they belong to a plugin or have no effect.

    Args:
        passthrough: keys without `spark.`.
        minor: the minor version of Spark.
    """
    keys = (f"spark.{key}" for key in passthrough)
    return (key for key in keys if not (is_known(key, minor) or key in FIXED))


@cache
def known_keys() -> frozenset[str]:
    """Return the keys of all supported versions of Spark, and of streamtable."""
    return frozenset(key for key, _ in _lines()) | set(GOVERNED)


@cache
def _only_in() -> dict[str, str]:
    """Return the keys that only one minor version of Spark knows: key -> version."""
    return {key: only for key, only in _lines() if only}


def _lines() -> Iterator[tuple[str, str]]:
    """Yield the keys in the file, and the only minor version that knows the key, or nothing."""
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            key, _, only = line.partition(" ")
            yield key, only


@cache
def _known_in_any_case() -> frozenset[str]:
    return frozenset(key.lower() for key in known_keys())


@cache
def _namespaces() -> frozenset[str]:
    """Return the namespaces of Spark's keys: `spark.executor.`, and two parts below `spark.sql`."""
    return frozenset(_namespace(key) for key in known_keys())


def _namespace(key: str) -> str:
    parts = key.split(".")
    own = 3 if parts[1] == "sql" and len(parts) > 3 else 2
    return ".".join(parts[:own]) + ("." if len(parts) > own else "")


def _is_of_spark(key: str) -> bool:
    """Return whether a key is in a namespace of Spark's settings."""
    return _namespace(key) in _namespaces()


def _alike(key: str) -> bool:
    lower = _known_in_any_case()
    return bool(difflib.get_close_matches(key.lower(), lower, n=1, cutoff=_ALIKE))


def _not_settable(
    key: str, reason: str, at: Span | None, hint: str = "remove it"
) -> StreamtableError:
    return StreamtableError(
        Condition.OPTION_NOT_SETTABLE, at=at, hint=hint, option=key, reason=reason
    )
