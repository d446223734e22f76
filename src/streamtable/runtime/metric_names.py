"""The metrics of a job, declared: names, owners and meanings; Flink's names where Flink has them.

Prometheus's help texts and docs/reference/metrics.md come from here. What a table leaves out is
declared in `runtime.counts`, in the same words that a job says.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from streamtable.runtime.counts import LEFT_OUT


class Owner(Enum):
    """What a metric is about."""

    SOURCE = "a table that is read"
    SINK = "a table that is written"
    TABLE = "any table"
    QUERY = "a query, of which each INSERT is one"


@dataclass(frozen=True)
class Metric:
    """One metric.

    Attributes:
        name: as `job.metrics()` spells it.
        counter: whether it only rises while a job runs.
        doc: its meaning, with the unit.
        labels: what tells its values apart beside the owner's name; `job.metrics()` then gives a
            dictionary, or for operators a list.
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
        "Records that the topics hold beyond the last batch; aborted ones and the marks of"
        " transactions count until a batch has passed them.",
    ),
    Metric(
        "currentFetchEventTimeLag",
        Owner.SOURCE,
        "Milliseconds from the newest record's timestamp to its reading.",
    ),
    Metric(
        "currentEmitEventTimeLag",
        Owner.SOURCE,
        "The same: a record is decoded and emitted as soon as it is read.",
    ),
    Metric("sourceIdleTime", Owner.SOURCE, "Milliseconds since a record was last read."),
    *_rated("numRecordsOut", Owner.SINK, "Records written (tombstones are some)"),
    *_rated("numBytesOut", Owner.SINK, "Bytes of the keys and values written"),
    Metric(
        "currentSendTime",
        Owner.SINK,
        "Milliseconds that a record waits in the producer and its request takes, on average, as of"
        " the end of the last batch with records.",
    ),
    Metric(
        "numErrors",
        Owner.TABLE,
        "Records with something wrong: the sum of the error counts below.",
        counter=True,
    ),
    *(
        Metric(name, Owner.TABLE, f"Records {meaning}.", counter=True)
        for name, meaning in LEFT_OUT.items()
    ),
    Metric("lastCheckpoint", Owner.QUERY, "When the last batch was committed, in epoch seconds."),
    Metric("lastBatch", Owner.QUERY, "Its number."),
    Metric(
        "watermark",
        Owner.QUERY,
        "The query's watermark: ISO 8601 in `job.metrics()`, epoch milliseconds in Prometheus.",
    ),
    Metric(
        "partitionWatermark",
        Owner.QUERY,
        "How far each partition has come in event time, in epoch milliseconds; where a query reads"
        " it twice, the lesser.",
        labels=("topic", "partition"),
    ),
    Metric(
        "stateRows",
        Owner.QUERY,
        "Rows of state of all its operators, where"
        " `state.backend.rocksdb.metrics.estimate-num-keys` has them counted.",
    ),
    Metric("stateBytes", Owner.QUERY, "Bytes that they take."),
    Metric(
        "operatorStateRows",
        Owner.QUERY,
        "The rows of one operator, where they are counted.",
        labels=("operator",),
    ),
    Metric("operatorStateBytes", Owner.QUERY, "The bytes of one operator.", labels=("operator",)),
)

BY_NAME = {metric.name: metric for metric in METRICS}
