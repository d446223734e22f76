"""`Scan` -> records of the topic, decoded, each with its row kind."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from streamtable.connectors.kafka.source import read_changelog
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.operators.context import LoweringContext
from streamtable.plan.source_nodes import POSITION, Scan


def lower_scan(
    node: Scan, context: LoweringContext, *, positions: bool = False, partitions: bool = False
) -> DataFrame:
    """The rows of a table.

    Args:
        node: which columns to read.
        context: the job.
        positions: whether Kafka's partition and offset come along, behind the fields, and of a
            record of several changes the last one of each row only.
        partitions: whether topic and partition come along, behind these, for the watermark.
    """
    columns = tuple(f for f in node.fields if f not in POSITION)
    positioned = positions or len(columns) < len(node.fields)
    if context.scanned is not None:
        scan = replace(node, fields=columns)
        return context.scanned.rows(scan, positions=positioned, partitions=partitions)
    table = node.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    return read_changelog(
        table,
        columns,
        context,
        positions=positioned,
        partitions=partitions,
        last_only=positions,
    )
