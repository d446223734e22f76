"""Planner warm-up does not change the results of the query whose plans it makes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.integration.jobs.support import PATIENCE_S

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.aggregate import GroupAggregateOperator
from streamtable.jvm.specs.operator import Aggregation
from streamtable.jvm.streaming.running_queries import warm_up_planner, warm_up_plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_warm_up_leaves_results_and_checkpoint_unchanged(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, checkpoint = tmp_path / "in", tmp_path / "c"
    source.mkdir()
    bridge = Bridge(spark)
    counted = bridge.operator(
        spark.readStream.text(str(source)).selectExpr("CAST(0 AS TINYINT) AS kind", "value"),
        GroupAggregateOperator(
            keys=["value"],
            calls=[Aggregation("COUNT", -1, -1, False, "BIGINT", "BIGINT")],
            retracting=False,
            unknown=False,
            before=False,
            bitmaps=True,
            fold=True,
            order=[],
            ttl=0,
            output_ddl="kind TINYINT, value STRING, n BIGINT",
        ),
    )
    writer = counted.writeStream.format("memory").queryName("practised").outputMode("update")
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        (source / "1.txt").write_text("a\nb\na\n", encoding="utf-8")
        query.processAllAvailable()
        before = written(checkpoint)
        wanted = warm_up_plans(bridge) + 3
        warm_up_planner(bridge, query, wanted)
        deadline = time.monotonic() + PATIENCE_S
        while warm_up_plans(bridge) < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert written(checkpoint) == before

        (source / "2.txt").write_text("a\nc\n", encoding="utf-8")
        query.processAllAvailable()
    finally:
        query.stop()
    rows = [(row.kind, row.value, row.n) for row in spark.table("practised").collect()]
    assert sorted(rows) == [(0, "a", 2), (0, "b", 1), (0, "c", 1), (2, "a", 3)]


def written(checkpoint: Path) -> dict[str, int]:
    """Return the files of a checkpoint with their modification times, in nanoseconds."""
    return {
        str(file.relative_to(checkpoint)): file.stat().st_mtime_ns
        for file in checkpoint.rglob("*")
        if file.is_file()
    }
