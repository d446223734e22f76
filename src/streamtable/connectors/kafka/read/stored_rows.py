"""Records that are read as a batch, and their rows in the form of `StoredChanges.rows`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.connector_api.reading import ReadContext, ReadRequest
from streamtable.connector_api.stored import NUMBER_COLUMN, TIME_COLUMN
from streamtable.connectors.kafka.cluster.admin import Partition
from streamtable.connectors.kafka.cluster.positions import offsets_json
from streamtable.connectors.kafka.read.columns import (
    bounded_consumer_options,
    decoded_fields,
    needs_headers,
    row_columns,
    with_leader_epochs,
)
from streamtable.connectors.kafka.read.reading import read_rows
from streamtable.connectors.kafka.table import KafkaTable


def batch_records(
    table: KafkaTable,
    begins: Mapping[Partition, int],
    ends: Mapping[Partition, int],
    context: ReadContext,
    *,
    headers: bool = False,
) -> DataFrame:
    """Read the records of ranges of offsets with Spark's batch source.

    Args:
        table: the table.
        begins: first offset of each partition.
        ends: end offset of the same partitions, exclusive.
        context: the context of the read.
        headers: whether to read headers even if the table does not select them.
    """
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(ends):
        by_topic.setdefault(topic, []).append(partition)
    reader = (
        context.spark.read.format("kafka")
        .option("assign", json.dumps(by_topic))
        .option("startingOffsets", offsets_json(begins))
        .option("endingOffsets", offsets_json(ends))
        .option("includeHeaders", str(headers or needs_headers(table)))
        .options(**bounded_consumer_options(table.properties))
    )
    return reader.load()


def stored_rows(
    table: KafkaTable,
    wanted: ReadRequest,
    records: DataFrame,
    context: ReadContext,
    more: Sequence[str] = (),
) -> DataFrame:
    """Return the rows of records.

    Args:
        table: the table.
        wanted: the columns.
        records: records with the columns of Spark's Kafka source.
        context: the context of the read.
        more: further columns over those of the records, as Spark SQL.
    """
    skips = table.dead_letter_topic is not None  # in a job, such a record is no part of the table
    rows = read_rows(
        replace(table, dead_letter_topic=None),
        decoded_fields(table, wanted.fields),
        with_leader_epochs(table, wanted.fields, records, context.bridge),
        bridge=context.bridge,
        counters=context.counters_of(table.table),
        last_only=wanted.last_only,
        skips_errors=skips,
        number=NUMBER_COLUMN,
    )
    return rows.selectExpr(
        *row_columns(table, wanted.fields),
        "partition AS __partition",
        "offset AS __offset",
        NUMBER_COLUMN,
        f"timestamp AS {TIME_COLUMN}",
        *more,
    )
