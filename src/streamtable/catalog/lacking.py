"""Connectors of Flink that streamtable lacks: refused as not supported yet, not as unknown."""

from __future__ import annotations

#: Connectors in Flink's documentation that streamtable lacks.
NOT_YET = (
    "dynamic-kafka",
    "dynamodb",
    "elasticsearch-6",
    "elasticsearch-7",
    "firehose",
    "hbase-1.4",
    "hbase-2.2",
    "kinesis",
    "legacy-csv",
    "mongodb",
    "opensearch",
    "opensearch-2",
)
