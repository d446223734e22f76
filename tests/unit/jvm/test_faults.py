"""The fault that ends a query, in one line, from the text of Spark's exception chain."""

from __future__ import annotations

import pytest

from streamtable.connectors.kafka.cluster.faults import explain_fault
from streamtable.core.errors import Condition
from streamtable.jvm.faults import job_fault

FAILED = (
    "org.apache.spark.sql.streaming.StreamingQueryException: [STREAM_FAILED] Query terminated\n"
    "=== Streaming Query ===\n"
    "Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage"
    " 0.0 failed 1 times, most recent failure: Lost task 1.0 in stage 0.0 (TID 1) (192.0.2.2"
    " executor driver): io.streamtable.kafka.client.KafkaFault: {reason}\n"
    "\tat io.streamtable.kafka.write.PlainDelivery.check(PlainDelivery.java:98)\n"
)


@pytest.mark.parametrize("prefix", ["", "dead letters, "])
def test_kafka_delivery_timeouts_are_explained(prefix: str) -> None:
    reason = (
        f"{prefix}topic 'out': TimeoutException: Expiring 58 record(s) for out-1:20000 ms has"
        " passed since batch creation"
    )
    error = job_fault("o", FAILED.format(reason=reason), [explain_fault])
    assert error.condition is Condition.JOB_FAILED
    assert f"o: {reason}." in str(error)
    assert "restart the job with the same checkpoint" in str(error)
    assert "'properties.delivery.timeout.ms'" in str(error)
