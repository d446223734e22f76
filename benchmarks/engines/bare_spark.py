"""Upper limit of Spark's throughput: its Kafka source and `from_json`, without output.

`bare_spark.py SERVERS TOPIC SCHEMA CHECKPOINT` reads a topic to its end with the same settings as
streamtable: two cores, and the same number of records per batch and per poll.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json

from streamtable.core.settings.execution import MAX_BATCH_RECORDS
from streamtable.jvm.install.jars import connector_jars

servers, topic, schema, checkpoint = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.driver.memory", "2g").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.jars", ",".join(str(jar) for jar in connector_jars()))
spark = builder.getOrCreate()
options = {
    "kafka.bootstrap.servers": servers,
    "subscribe": topic,
    "startingOffsets": "earliest",
    "maxOffsetsPerTrigger": str(MAX_BATCH_RECORDS.default),
    "kafka.max.poll.records": "50000",
    "kafka.max.partition.fetch.bytes": str(4 << 20),
}
records = spark.readStream.format("kafka").options(**options).load()
rows = records.select(from_json(col("value").cast("string"), schema).alias("row")).select("row.*")
writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
writer.trigger(availableNow=True).start().awaitTermination()
spark.stop()
