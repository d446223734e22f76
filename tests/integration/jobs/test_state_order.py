"""The order in which the groups of a batch reach their state, as seen in the output."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.event_time.support import ONE_TASK
from tests.integration.jobs.modes.test_real_time_formats import values

from streamtable.testing.answers import set_for_a_while
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce_json

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

SCRIPT = """
CREATE TABLE seen (k ${type}) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE counts (k ${type}, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-counts',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counts SELECT k, COUNT(*) FROM seen GROUP BY k;
"""

_DAY_0 = date(1970, 1, 1)
_MOMENT_0 = datetime(1970, 1, 1)
_INTEGERS = range(-700, 700)


def _days(text: str) -> int:
    return (date.fromisoformat(text) - _DAY_0).days


def _microseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - _MOMENT_0) // timedelta(microseconds=1)


#: Type -> its values, and the integer that Spark stores for a value, as eight bytes of a key.
_TYPES: dict[str, tuple[Sequence[Any], Callable[[Any], int]]] = {
    "BIGINT": ([k * 2**31 for k in _INTEGERS] + list(_INTEGERS), int),
    "INT": (_INTEGERS, int),
    "DATE": ([str(_DAY_0 + timedelta(days=k)) for k in range(1400)], _days),
    "TIMESTAMP(0)": ([str(_MOMENT_0 + timedelta(seconds=k)) for k in range(1400)], _microseconds),
}


@pytest.mark.parametrize("sorts", ["true", "false"])
@pytest.mark.parametrize("type_", _TYPES)
def test_groups_reach_state_in_the_key_order_of_rocksdb(
    type_: str, sorts: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("order")
    given, kept = _TYPES[type_]
    produce_json(broker.bootstrap_servers, source, ({"k": value} for value in given))
    names = {"source": source, "servers": broker.bootstrap_servers, "type": type_}
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    with set_for_a_while(spark, ONE_TASK):
        job({"execution.micro-batch.state-order.enabled": sorts})

    integers = [
        kept(json.loads(row)["k"]) for row in values(broker.bootstrap_servers, f"{source}-counts")
    ]
    assert sorted(integers) == sorted(set(map(kept, given)))
    # The sign decides which half comes first, so there is at most one step back.
    in_bytes = [i.to_bytes(8, "little", signed=i < 0) for i in integers]
    assert (_steps_back(in_bytes) <= 1) == (sorts == "true")
    assert (_steps_back(integers) == 0) == (sorts == "false")


def _steps_back(ordered: Sequence[Any]) -> int:
    return sum(one > other for one, other in pairwise(ordered))
