"""What a checkpoint's state holds, read with Spark's own reader."""

from __future__ import annotations

import json
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

#: How the names of what Spark keeps for itself begin.
_INTERNAL = "$"


def state_rows(spark: SparkSession, checkpoint: str) -> dict[str, int]:
    """How many entries each state variable of a query holds, empty ones left out.

    Args:
        spark: any session.
        checkpoint: the folder of one query.

    Returns:
        `operator/variable` -> entries; `operator/timers` for those of an operator.
    """
    entries = []
    for operator in spark.read.format("state-metadata").load(checkpoint).distinct().collect():
        properties = json.loads(operator["operatorProperties"])
        for variable in properties["stateVariables"]:
            name = variable["stateName"]
            reader = spark.read.format("statestore").option("operatorId", operator["operatorId"])
            if name.startswith(_INTERNAL):
                name = "timers"
                reader = reader.option("readRegisteredTimers", value=True)
            else:
                reader = reader.option("stateVarName", name)
            place = lit(f"{operator['operatorId']}/{name}").alias("place")
            entries.append(reader.load(checkpoint).select(place))
    if not entries:
        return {}
    # All at once: each job of its own takes longer than what it counts.
    counts = reduce(DataFrame.union, entries).groupBy("place").count().collect()
    return {row["place"]: row["count"] for row in counts}
