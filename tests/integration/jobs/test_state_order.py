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
CREATE TABLE seen (${columns}) WITH (
  'connector' = 'kafka', 'topic' = '${source}', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'format' = 'json'
);
CREATE TABLE counts (${columns}, n BIGINT, PRIMARY KEY (${keys}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '${source}-counts',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO counts SELECT ${keys}, COUNT(*) FROM seen GROUP BY ${keys};
"""

_DAY_0 = date(1970, 1, 1)
_MOMENT_0 = datetime(1970, 1, 1)
_INTEGERS = range(-700, 700)


def _days(text: str) -> int:
    return (date.fromisoformat(text) - _DAY_0).days


def _microseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - _MOMENT_0) // timedelta(microseconds=1)


#: Types of the columns of a key -> its values, and what Spark stores for each column.
_KEYS: dict[str, tuple[Sequence[Any], Sequence[Callable[[Any], int | str]]]] = {
    "BIGINT": ([(k * 2**31,) for k in _INTEGERS] + [(k,) for k in _INTEGERS], [int]),
    "INT": ([(k,) for k in _INTEGERS], [int]),
    "DATE": ([(str(_DAY_0 + timedelta(days=k)),) for k in range(1400)], [_days]),
    "TIMESTAMP(0)": (
        [(str(_MOMENT_0 + timedelta(seconds=k)),) for k in range(1400)],
        [_microseconds],
    ),
    "STRING": ([(str(k**3),) for k in _INTEGERS], [str]),
    "STRING BIGINT STRING": (
        [(str(k % 20), k, "x" * (k % 3)) for k in _INTEGERS],
        [str, int, str],
    ),
}


@pytest.mark.parametrize("sorts", ["true", "false"])
@pytest.mark.parametrize("types", _KEYS)
def test_groups_reach_state_in_the_key_order_of_rocksdb(
    types: str, sorts: str, spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("order")
    given, kept = _KEYS[types]
    columns = {f"k{i}": type_ for i, type_ in enumerate(types.split())}
    rows = (dict(zip(columns, key, strict=True)) for key in given)
    produce_json(broker.bootstrap_servers, source, rows)
    names = {"source": source, "servers": broker.bootstrap_servers}
    names["keys"] = ", ".join(columns)
    names["columns"] = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
    job = BoundedRun(spark, SCRIPT, tmp_path / "c", names)
    with set_for_a_while(spark, ONE_TASK):
        job({"execution.micro-batch.state-order.enabled": sorts})

    written = map(json.loads, values(broker.bootstrap_servers, f"{source}-counts"))
    stored = [tuple(of(row[k]) for of, k in zip(kept, columns, strict=True)) for row in written]
    assert sorted(stored) == sorted(
        {tuple(of(column) for of, column in zip(kept, key, strict=True)) for key in given}
    )
    assert (_steps_back([_bytes(key) for key in stored]) == 0) == (sorts == "true")
    assert (_steps_back(stored) == 0) == (sorts == "false")


def _bytes(key: Sequence[int | str]) -> tuple[list[bytes], list[str]]:
    """Return what RocksDB compares: eight bytes for each column, which begin with the length of a
    text, and then the texts.
    """
    columns = (len(column) if isinstance(column, str) else column for column in key)
    texts = [column for column in key if isinstance(column, str)]
    return [i.to_bytes(8, "little", signed=i < 0) for i in columns], texts


def _steps_back(ordered: Sequence[Any]) -> int:
    return sum(one > other for one, other in pairwise(ordered))
