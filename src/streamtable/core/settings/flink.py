"""Flink's settings that streamtable lacks: those without effect and those refused.

`flink.txt` lists every key of the Flink version that this package follows, with its
default and its older names. `tests/compat/record_settings.py` writes the file. A key of Flink is
handled in one of three ways:

- honoured: the key is in `core.settings`.
- accepted: a notice says why the key has no effect.
- refused: an error gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LIST = Path(__file__).with_suffix(".txt")

_CLUSTER = "it configures a Flink cluster; Spark settings start with 'spark.'"
_STATE = "state is kept in RocksDB; 'spark.sql.streaming.stateStore.rocksdb.*' tunes it"
_CHECKPOINTS = "each micro-batch is a checkpoint; real-time mode uses only the interval"
_BATCH = "a bounded run is a streaming job that ends"
_PLANNER = "plans are those of streamtable and Spark"
_METRICS = "`streamtable run --metrics-port` serves the metrics"
_JARS = "no Flink jar is loaded; connectors and formats are Python packages"
_LOOKUPS = "lookups are synchronous"
_MODELS = "there are no models"
_PYTHON = "Python functions run in workers of Spark"
_ROWS = "Spark decides how rows are shuffled"
_RESTARTS = "a failed job ends; restart it with the same --checkpoint"

#: Prefix of a key -> why its setting has no effect. The longest matching prefix counts.
NO_EFFECT = {
    "blob.": _CLUSTER,
    "classloader.": _JARS,
    "cleanup-strategy.": _CLUSTER,
    "client.": _CLUSTER,
    "cluster.": _CLUSTER,
    "collect-sink.": _CLUSTER,
    "compiler.": _CLUSTER,
    "containerized.": _CLUSTER,
    "env.": _CLUSTER,
    "events.": _METRICS,
    "execution.": _CLUSTER,
    "execution.async-state.": _STATE,
    "execution.batch": _BATCH,
    "execution.buffer-timeout.": _ROWS,
    "execution.checkpointing.": _CHECKPOINTS,
    "execution.checkpointing.mode": (
        "state is always exactly-once; 'sink.delivery-guarantee' of a table sets the guarantee"
        " of its sink"
    ),
    "execution.checkpointing.savepoint-dir": (
        "there are no savepoints; copy the checkpoint directory"
    ),
    "execution.sort": _BATCH,
    "execution.state-recovery.": _CHECKPOINTS,
    "external-resource": _CLUSTER,
    "flink.hadoop.": "Hadoop settings start with 'spark.hadoop.'",
    "flink.yarn.": _CLUSTER,
    "fs.": "file system settings start with 'spark.hadoop.'",
    "heartbeat.": _CLUSTER,
    "high-availability": _CLUSTER,
    "historyserver.": _CLUSTER,
    "io.tmp.dirs": "use SET 'spark.local.dir'",
    "jmx.": _CLUSTER,
    "job": _CLUSTER,
    "jobmanager.": _CLUSTER,
    "kubernetes.": _CLUSTER,
    "materialized-table.": "there are no materialized tables",
    "metrics.": _METRICS,
    "minicluster.": _CLUSTER,
    "pekko.": _CLUSTER,
    "pipeline.": _PLANNER,
    "pipeline.auto-watermark-interval": "the watermark advances with the rows",
    "pipeline.cached-files": _CLUSTER,
    "pipeline.classpaths": _JARS,
    "pipeline.global-job-parameters": "Python functions do not see the settings of a job",
    "pipeline.max-parallelism": "the first run of a checkpoint fixes 'parallelism.default'",
    "pipeline.watermark-alignment.": "'execution.max-lead' limits the skew between INSERTs",
    "plugin.": _JARS,
    "process.": _CLUSTER,
    "python.": _PYTHON,
    "queryable-state.": _CLUSTER,
    "resourcemanager.": _CLUSTER,
    "rest.": _CLUSTER,
    "restart-strategy.": _RESTARTS,
    "scheduler-mode": _CLUSTER,
    "security.": "the options 'properties.*' of a table configure the login",
    "shuffle-service-factory.": _ROWS,
    "sink.committer.": "a failed commit ends the job, and the next start repeats it",
    "slot": _CLUSTER,
    "slow-task-detector.": _CLUSTER,
    "source.reader.": _ROWS,
    "sql-client.": "the result is printed as plain text",
    "sql-gateway.": "there is no gateway",
    "state.": _STATE,
    "state.changelog.": _CHECKPOINTS,
    "state.latency-track.": _METRICS,
    "state.size-track.": _METRICS,
    "table.catalog-modification.": "catalogs live as long as their session",
    "table.catalog-store.": "catalogs live as long as their session",
    "table.dml-sync": "all INSERTs of a script run as one job, until it ends or is stopped",
    "table.exec.async-lookup.": _LOOKUPS,
    "table.exec.async-ml-predict.": _MODELS,
    "table.exec.async-scalar.": _PYTHON,
    "table.exec.async-state.": _STATE,
    "table.exec.async-table.": _PYTHON,
    "table.exec.async-vector-search.": _MODELS,
    "table.exec.deduplicate.": "a key's first row is an insert, later ones are updates",
    "table.exec.delta-join.": _PLANNER,
    "table.exec.disabled-operators": _PLANNER,
    "table.exec.dynamic-filtering.": _BATCH,
    "table.exec.interval-join.": "rows are deleted when the watermark has passed their interval",
    "table.exec.local-hash-agg.": _BATCH,
    "table.exec.mini-batch.": (
        "a micro-batch combines its changes, and real-time mode those that have arrived; see"
        " 'execution.real-time.bundle-size'"
    ),
    "table.exec.operator-fusion-codegen.": _PLANNER,
    "table.exec.rank.": _STATE,
    "table.exec.resource.": "use SET 'spark.memory.*'",
    "table.exec.simplify-operator-name-enabled": _PLANNER,
    "table.exec.sink.keyed-shuffle": "rows of a key always reach a sink in their order",
    "table.exec.sink.rowtime-inserter": (
        "a record's timestamp is written by a METADATA column FROM 'timestamp'"
    ),
    "table.exec.sink.upsert-materialize-strategy.": _STATE,
    "table.exec.sort.": _BATCH,
    "table.exec.spill-compression.": _BATCH,
    "table.exec.uid.": "operators have stable ids",
    "table.exec.unbounded-over.": _PLANNER,
    "table.exec.window-agg.": _STATE,
    "table.generated-code.": _PLANNER,
    "table.optimizer.": _PLANNER,
    "table.plan.": "there are no compiled plans",
    "table.resources.": _JARS,
    "table.rtas-ctas.": "CREATE TABLE ... AS creates its table when the script is read",
    "task.": _CLUSTER,
    "taskmanager.": _CLUSTER,
    "traces.": _METRICS,
    "user.artifacts.": _JARS,
    "web.": _CLUSTER,
    "yarn.": _CLUSTER,
    "zookeeper.": _CLUSTER,
}

#: Settings that would change results: any value except Flink's default is refused.
REFUSED = {
    "execution.state-recovery.path": (
        "Flink savepoints cannot be read; --checkpoint continues a streamtable job"
    ),
    "table.builtin-catalog-name": "the first catalog is always 'default_catalog'",
    "table.builtin-database-name": "the first database is always 'default_database'",
    "table.column-expansion-strategy": (
        "SELECT * returns every column; list the columns that you need"
    ),
    "table.exec.emit.allow-lateness": "late rows are dropped and counted",
    "table.exec.emit.early-fire.delay": "a window fires when the watermark passes its end",
    "table.exec.emit.early-fire.enabled": (
        "a window fires when the watermark passes its end; CUMULATE emits results earlier"
    ),
    "table.exec.emit.late-fire.delay": "late rows are dropped and counted",
    "table.exec.emit.late-fire.enabled": "late rows are dropped and counted",
    "table.exec.sink.nested-constraint-enforcer": (
        "constraints inside of ROW, ARRAY and MAP are not checked; check them in a WHERE clause"
    ),
    "table.exec.sort.default-limit": "add LIMIT to the query",
    "table.legacy-nested-row-nullability": "nested fields keep their declared nullability",
    "table.optimizer.non-deterministic-update.strategy": (
        "updates are not checked for non-deterministic functions"
    ),
    "table.sql-dialect": "scripts are in Flink's own dialect",
}

#: Prefixes of keys whose remainder the user or another system defines.
FREE_PREFIXES = (
    "containerized.",
    "env.java.",
    "external-resource.",
    "flink.hadoop.",
    "flink.yarn.",
    "fs.",
    "high-availability.",
    "kubernetes.",
    "metrics.",
    "pipeline.global-job-parameters.",
    "security.",
    "table.catalog-store.",
    "yarn.",
)

#: Settings of old Flink versions -> their current names.
RENAMED = {
    "execution.max-parallelism": "pipeline.max-parallelism",
    "execution.max-table-result-rows": "sql-client.execution.max-table-result.rows",
    "execution.parallelism": "parallelism.default",
    "execution.result-mode": "sql-client.execution.result-mode",
    "execution.restart-strategy.type": "restart-strategy.type",
    "execution.type": "execution.runtime-mode",
}


@dataclass(frozen=True)
class FlinkSetting:
    """A setting of Flink.

    Attributes:
        key: current name.
        default: Flink's default as text; empty: no default.
        older: deprecated names that still work.
    """

    key: str
    default: str = ""
    older: tuple[str, ...] = ()


def flink_setting(key: str) -> FlinkSetting | None:
    """Return Flink's setting by its current or an older name; None if Flink has no such setting."""
    found = _by_key().get(key)
    if found is None and key.startswith(FREE_PREFIXES):
        return FlinkSetting(key)
    return found


def no_effect(key: str) -> str | None:
    """Return why a key of Flink has no effect; None for any other key.

    Args:
        key: a key that streamtable does not have.
    """
    found = flink_setting(key)
    if found is None or found.key in REFUSED:
        return None
    begins = [begin for begin in NO_EFFECT if found.key.startswith(begin)]
    return NO_EFFECT[max(begins, key=len)] if begins else None


def refusal(key: str, value: str) -> str | None:
    """Return why a value of a Flink setting is refused; None if it is accepted.

    Args:
        key: a key that streamtable does not have.
        value: the value as text.
    """
    found = flink_setting(key)
    if found is None or found.key not in REFUSED:
        return None
    return None if value.strip().lower() == found.default.lower() else REFUSED[found.key]


@cache
def flink_settings() -> tuple[FlinkSetting, ...]:
    """List all settings of Flink, sorted by key."""
    found = []
    for line in _LIST.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            key, default, older, *_ = [*line.split("\t"), "", ""]
            found.append(FlinkSetting(key, default, tuple(filter(None, older.split(",")))))
    return tuple(found)


@cache
def _by_key() -> dict[str, FlinkSetting]:
    found = {name: setting for setting in flink_settings() for name in setting.older}
    return {**found, **{setting.key: setting for setting in flink_settings()}}
