"""Read the state of a checkpoint with Spark's own reader."""

from __future__ import annotations

import json
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

#: The prefix of Spark's internal state names.
_INTERNAL = "$"


def state_rows(spark: SparkSession, checkpoint: str) -> dict[str, int]:
    """Return the number of entries of each state variable of a query, without empty variables.

    Args:
        spark: any session.
        checkpoint: the checkpoint folder of one query.

    Returns:
        `operator/variable` -> entries; `operator/timers` for the timers of an operator.
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
    # One job counts all variables: a job for each would take longer than the count itself.
    counts = reduce(DataFrame.union, entries).groupBy("place").count().collect()
    return {row["place"]: row["count"] for row in counts}
