"""Declarations of a job's metrics: names, owners and meanings, with Flink's names if there are any.

The help texts of Prometheus and docs/reference/metrics.md are generated from this module. The
counters of omitted records are declared in `runtime.metrics.omitted_records`, in the words of a
job's messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamtable.runtime.metrics.omitted_records import OMITTED


class Owner(Enum):
    """Owner of a metric: the kind of object that it measures."""

    SOURCE = "source tables"
    SINK = "sink tables"
    LOOKUP = "lookups in a table, under the name `table (lookup)`"
    TABLE = "all tables"
    QUERY = "queries (one for each INSERT)"


@dataclass(frozen=True)
class Metric:
    """Declaration of one metric.

    Attributes:
        name: name in `job.metrics()`.
        counter: whether the value only increases while a job runs.
        doc: meaning of the metric, with its unit.
        labels: labels of the metric in addition to the owner's name. In `job.metrics()`, a metric
            with labels is a dictionary; the metrics of operators are a list, and `mode` is a text.
    """

    name: str
    owner: Owner
    doc: str
    counter: bool = False
    labels: tuple[str, ...] = ()


def _rated(name: str, owner: Owner, what: str) -> tuple[Metric, Metric]:
    rate = Metric(f"{name}PerSecond", owner, f"{what} per second, over the last minute.")
    return Metric(name, owner, f"{what} since the start.", counter=True), rate


METRICS: tuple[Metric, ...] = (
    *_rated("numRecordsIn", Owner.SOURCE, "Records read"),
    *_rated("numBytesIn", Owner.SOURCE, "Bytes of the keys and values read"),
    Metric(
        "pendingRecords",
        Owner.SOURCE,
        "Records in the topics after the last batch. Aborted records and transaction markers"
        " count until a batch has passed them.",
    ),
    Metric(
        "currentFetchEventTimeLag",
        Owner.SOURCE,
        "Milliseconds between the timestamp of the last record and its read.",
    ),
    Metric(
        "currentEmitEventTimeLag",
        Owner.SOURCE,
        "The same: a record is decoded and emitted as soon as it is read.",
    ),
    Metric("sourceIdleTime", Owner.SOURCE, "Milliseconds since a record was last read."),
    *_rated("numRecordsOut", Owner.SINK, "Records written, including tombstones,"),
    *_rated("numBytesOut", Owner.SINK, "Bytes of the keys and values written"),
    Metric(
        "currentSendTime",
        Owner.SINK,
        "Average milliseconds that a record waits in the producer and that its request takes,"
        " at the end of the last batch with records.",
    ),
    Metric("hitCount", Owner.LOOKUP, "Keys that the lookup cache had.", counter=True),
    Metric("missCount", Owner.LOOKUP, "Keys that the lookup cache did not have.", counter=True),
    Metric("loadCount", Owner.LOOKUP, "Lookups in the table.", counter=True),
    Metric("numLoadFailures", Owner.LOOKUP, "Lookups that failed.", counter=True),
    Metric(
        "numErrors",
        Owner.TABLE,
        "Records with errors: the sum of the error counters below.",
        counter=True,
    ),
    *(
        Metric(name, Owner.TABLE, f"Records {meaning}.", counter=True)
        for name, meaning in OMITTED.items()
    ),
    Metric("lastCheckpoint", Owner.QUERY, "When the last batch was committed, in epoch seconds."),
    Metric("lastBatch", Owner.QUERY, "Its number."),
    Metric(
        "batchDuration",
        Owner.QUERY,
        "Milliseconds of the last batch with its commit; in real-time mode, with the interval"
        " between two checkpoints.",
    ),
    Metric(
        "mode",
        Owner.QUERY,
        "Current mode, `micro-batch` or `real-time`: a string in `job.metrics()`, a label of"
        " the value 1 in Prometheus.",
        labels=("mode",),
    ),
    Metric(
        "watermark",
        Owner.QUERY,
        "The query's watermark: ISO 8601 in `job.metrics()`, epoch milliseconds in Prometheus.",
    ),
    Metric(
        "partitionWatermark",
        Owner.QUERY,
        "Watermark of each partition, in epoch milliseconds; the minimum if a query reads the"
        " partition twice.",
        labels=("topic", "partition"),
    ),
    Metric(
        "stateRows",
        Owner.QUERY,
        "State rows of all operators, if `state.backend.rocksdb.metrics.estimate-num-keys` is on.",
    ),
    Metric("stateBytes", Owner.QUERY, "State size of all operators, in bytes."),
    Metric(
        "operatorStateRows",
        Owner.QUERY,
        "State rows of one operator, if counted.",
        labels=("operator",),
    ),
    Metric(
        "operatorStateBytes",
        Owner.QUERY,
        "State size of one operator, in bytes.",
        labels=("operator",),
    ),
    Metric(
        "operatorStateTime",
        Owner.QUERY,
        "Milliseconds of all tasks of one operator in the last micro-batch, including the operators"
        " that follow in the same stage.",
        labels=("operator",),
    ),
    Metric(
        "proofDifferences",
        Owner.QUERY,
        "Keys or rows of the sink that differ in the last finished proof of `run --prove-every`.",
    ),
    Metric(
        "proofUndecided",
        Owner.QUERY,
        "Keys or rows that differ in it, perhaps for another reason than a wrong row.",
    ),
    Metric(
        "proofAge",
        Owner.QUERY,
        "Milliseconds since the start of the last finished proof, which covers all batches that"
        " were committed by then.",
    ),
    Metric("proofFailures", Owner.QUERY, "Proofs without a result.", counter=True),
)

BY_NAME = {metric.name: metric for metric in METRICS}
