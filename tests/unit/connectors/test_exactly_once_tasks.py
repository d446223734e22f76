"""Exactly-once sinks refuse tasks that may have other rows when a batch runs again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.connectors.support import load

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.connectors.kafka.write.transactions import check_transactions
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.endpoints import sink_facts

SCRIPT = """
CREATE TABLE s (k STRING, n INT) WITH (
  'connector' = 'kafka', 'topic' = 's', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json'
);
CREATE TABLE o (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b:1',
  'key.format' = 'json', 'value.format' = 'json', 'sink.parallelism' = '${tasks}',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'x'
);
INSERT INTO o ${query};
"""
STATE, NO_STATE = "SELECT k, SUM(n) FROM s GROUP BY k", "SELECT k, CAST(n AS BIGINT) FROM s"


@pytest.mark.parametrize(
    ("query", "tasks", "reason"),
    [
        (NO_STATE, 1, "lets a task write rows of several source partitions"),
        (STATE, 2, "above 1 lets a task write rows of any state partitions"),
        (STATE, 1, None),
    ],
)
def test_merged_tasks(query: str, tasks: int, reason: str | None) -> None:
    session = load(SCRIPT.replace("${query}", query).replace("${tasks}", str(tasks)))
    (plan,) = session.plans
    facts = sink_facts({"o": plan}, str, Path)["o"]
    table = cast(KafkaTable, plan.table.connector)
    assert (facts.merge_obstacle(table.sink_tasks) is None) is (reason is None)
    if reason is not None:
        with pytest.raises(StreamtableError) as refused:
            check_transactions(table, facts, cast(Any, None))
        assert refused.value.condition is Condition.OPTION_CONFLICT
        assert reason in str(refused.value)
