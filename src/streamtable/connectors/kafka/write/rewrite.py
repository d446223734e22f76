"""Rewrite a sink topic: obstacles, and the records that the topic has now."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadContext
from streamtable.connector_api.source import ORDER_COLUMNS
from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
from streamtable.connectors.kafka.cluster.positions import offsets_json
from streamtable.connectors.kafka.read.between import await_decided
from streamtable.connectors.kafka.read.columns import bounded_consumer_options
from streamtable.connectors.kafka.table import KafkaTable

#: Spark's number for the first record of a partition.
_EARLIEST = -2

#: Consumer settings; settings of the script override them. Records of aborted transactions are no
#: part of the table.
_DEFAULTS = {"isolation.level": "read_committed", "max.poll.records": "50000"}


def rewrite_obstacle(table: KafkaTable) -> str | None:
    """Return why a topic cannot be made equal to other rows; None if it can."""
    topic = table.topics[0]
    if not table.is_upsert:
        return (
            f"{table.table} keeps every record, and records of topic '{topic}' cannot be unwritten"
        )
    if table.partitioner != "default":
        return f"'sink.partitioner' of {table.table} is '{table.partitioner}'"
    if written := [c.name for c in table.schema.metadata if not c.virtual]:
        return f"{table.table} writes the metadata column '{written[0]}'"
    return None


def topic_records(
    table: KafkaTable, context: ReadContext, since: Mapping[int, int], *, settled: bool
) -> DataFrame:
    """Return the committed records of a sink topic: key, value, and `ORDER_COLUMNS`.

    A topic that does not exist yet has none.

    Args:
        table: the sink table.
        context: the context of the read.
        since: first offsets by partition; other partitions are read from their beginning.
        settled: whether to wait until no transaction is open. The records after the first open
            transaction of a partition are not returned.

    Raises:
        StreamtableError: MOMENT_LOST if a transaction stays open.
    """
    partition, offset = ORDER_COLUMNS
    topic = table.topics[0]
    admin = KafkaAdmin(context.bridge, table.properties)
    found = admin.describe(topic)
    if not found:
        schema = f"key BINARY, value BINARY, {partition} INT, {offset} BIGINT"
        return context.spark.createDataFrame([], schema)
    if settled:
        await_decided(table, admin, admin.end_offsets((topic,)))
    partitions = range(int(found["partitions"]))
    begins = {(topic, number): since.get(number, _EARLIEST) for number in partitions}
    reader = (
        context.spark.read.format("kafka")
        .option("subscribe", topic)
        .option("startingOffsets", offsets_json(begins))
        .option("endingOffsets", "latest")
        .options(**bounded_consumer_options({**_DEFAULTS, **table.properties}))
    )
    return reader.load().selectExpr(
        "key", "value", f"partition AS {partition}", f"offset AS {offset}"
    )
