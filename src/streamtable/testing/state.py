"""What a checkpoint's state holds, read with Spark's own reader."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession


def state_rows(spark: SparkSession, checkpoint: str) -> dict[str, int]:
    """How many entries each state variable of a query holds, empty ones left out.

    Args:
        spark: any session.
        checkpoint: the folder of one query.

    Returns:
        `operator/variable` -> entries.
    """
    found = {}
    for operator in spark.read.format("state-metadata").load(checkpoint).distinct().collect():
        properties = json.loads(operator["operatorProperties"])
        for variable in properties["stateVariables"]:
            rows = (
                spark.read.format("statestore")
                .option("operatorId", operator["operatorId"])
                .option("stateVarName", variable["stateName"])
                .load(checkpoint)
                .count()
            )
            if rows:
                found[f"{operator['operatorId']}/{variable['stateName']}"] = rows
    return found
