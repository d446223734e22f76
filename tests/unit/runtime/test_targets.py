"""Targets of one name on two clusters differ; two addresses of one cluster are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamtable.connector_api.endpoints import sink_of
from streamtable.connectors.kafka.sink import KafkaSink
from streamtable.core.errors import StreamtableError
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.endpoints import by_target, sink_facts
from streamtable.runtime.preflight.preflight import check_places
from streamtable.session import Session

_ANY: Any = None


def _plans(*servers: str) -> dict[str, Sink]:
    """Return the INSERTs of a script into topics of one name, at these addresses."""
    session = Session()
    tables = [
        f"""CREATE TABLE out{number} (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = 'out', 'properties.bootstrap.servers' = '{where}',
        'key.format' = 'json', 'value.format' = 'json');
        INSERT INTO out{number} SELECT id FROM t;"""
        for number, where in enumerate(servers)
    ]
    source = """CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 't',
        'properties.bootstrap.servers' = 'a:1', 'format' = 'json');"""
    session.load(source + "".join(tables), "job.sql")
    return query_names(session.plans)


@pytest.mark.parametrize(
    ("servers", "groups"),
    [
        (("a:1", "a:1"), 1),
        (("a:1,b:1", "b:1, a:1"), 1),
        (("a:1", "b:1"), 2),
    ],
)
def test_queries_of_one_target(servers: tuple[str, str], groups: int) -> None:
    plans = _plans(*servers)
    assert len(by_target(plans, plans.__getitem__)) == groups
    facts = sink_facts(plans, str, Path)
    for name, plan in plans.items():
        obstacle = sink_of(plan.table).rollback_obstacle(facts[name])
        assert (obstacle is not None) == (groups == 1)


@pytest.mark.parametrize(
    ("servers", "clusters", "refused"),
    [
        (("a:1", "b:1"), {"a:1": "x", "b:1": "y"}, False),
        (("a:1", "b:1"), {"a:1": "x", "b:1": "x"}, True),
        (("c:1", "a:1", "b:1"), {"a:1": "x", "b:1": "x", "c:1": "y"}, True),
        (("a:1", "a:1"), {}, False),
    ],
)
def test_one_target_at_two_addresses(
    servers: tuple[str, ...],
    clusters: dict[str, str],
    refused: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def place(sink: KafkaSink, _: object) -> str:
        return f"{clusters[sink.declared.servers]}/{sink.target}"

    monkeypatch.setattr(KafkaSink, "place_there", place)
    plans = _plans(*servers)
    if not refused:
        check_places(plans, _ANY)
        return
    with pytest.raises(StreamtableError, match="write topic 'out' of one system at different"):
        check_places(plans, _ANY)
