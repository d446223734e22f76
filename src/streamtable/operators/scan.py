"""`Scan` -> records of the topic, decoded, each with its row kind."""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamtable.connectors.kafka.source import read_changelog
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.operators.context import LoweringContext
from streamtable.plan.nodes import Scan


def lower_scan(
    node: Scan, context: LoweringContext, *, positions: bool = False, partitions: bool = False
) -> DataFrame:
    """The rows of a table.

    Args:
        node: which columns to read.
        context: the job.
        positions: whether Kafka's partition and offset come along, behind the fields.
        partitions: whether topic and partition come along, behind these, for the watermark.
    """
    if context.scanned is not None:
        return context.scanned(node, positions)
    table = node.table.connector
    assert isinstance(table, KafkaTable), "every connector is one over Kafka"  # noqa: S101
    return read_changelog(table, node.fields, context, positions=positions, partitions=partitions)
