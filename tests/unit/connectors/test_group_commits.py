"""Commits to consumer groups: the offset that all queries of a job have read, per partition."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.connectors.support import load

from streamtable.connectors.kafka.cluster.observer import KafkaSourceObserver
from streamtable.connectors.kafka.table import KafkaTable

TABLE = """
CREATE TABLE {name} (id INT) WITH (
  'connector' = 'kafka', 'properties.bootstrap.servers' = '{servers}', 'format' = 'json', {options}
);
INSERT INTO {name} VALUES (1);
"""
A, B = "'topic' = 'a', 'properties.group.id' = 'g'", "'topic' = 'b', 'properties.group.id' = 'g'"

COMMITS_NONE = "'properties.commit.offsets.on.checkpoint' = 'false'"


def _table(name: str, options: str, servers: str = "x:1,y:1") -> KafkaTable:
    (plan,) = load(TABLE.format(name=name, options=options, servers=servers)).plans
    return cast(KafkaTable, plan.table.connector)


class _Bridge:
    """Bridge that records the commits of all groups."""

    def __init__(self) -> None:
        self.commits: list[tuple[str, dict[str, int]]] = []
        admin = SimpleNamespace(GroupOffsets=self._group)
        self.java = SimpleNamespace(kafka=SimpleNamespace(admin=admin))

    def java_map(self, items: Mapping[str, Any]) -> Mapping[str, Any]:
        return items

    def _group(self, _: object, group: str) -> Any:
        def commit(offsets: Mapping[str, int]) -> None:
            self.commits.append((group, dict(offsets)))

        return SimpleNamespace(commit=commit, failure=lambda: None, close=lambda: None)


def _progress(*ends: Mapping[str, Mapping[str, int]]) -> Any:
    return SimpleNamespace(sources=[SimpleNamespace(endOffset=json.dumps(end)) for end in ends])


#: Case -> tables of each query, newest end offsets of each query, and the committed offsets.
#: Queries whose name begins with `ended` have read their input to the end.
CASES: Mapping[str, tuple[Mapping[str, Sequence[KafkaTable]], Mapping[str, Any], list[Any]]] = {
    "one query": (
        {"p": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3, "1": 4}})},
        [("g", {"a:0": 3, "a:1": 4})],
    ),
    "the lowest of two queries": (
        {"p": [_table("t", A)], "q": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3, "1": 4}}), "q": _progress({"a": {"0": 5, "1": 2}})},
        [("g", {"a:0": 3, "a:1": 2})],
    ),
    "a query without a batch": (
        {"p": [_table("t", A)], "q": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3}}), "q": None},
        [],
    ),
    "a query that an earlier run has ended": (
        {"p": [_table("t", A)], "ended": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3}}), "ended": None},
        [("g", {"a:0": 3})],
    ),
    "a query that has ended in this run": (
        {"p": [_table("t", A)], "ended": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3, "1": 4}}), "ended": _progress({"a": {"0": 2}})},
        [("g", {"a:0": 3, "a:1": 4})],
    ),
    "only queries that have ended": (
        {
            "ended": [_table("t", A)],
            "ended too": [_table("t", A)],
            "ended before": [_table("t", A)],
        },
        {
            "ended": _progress({"a": {"0": 3, "1": 4}}),
            "ended too": _progress({"a": {"0": 2}}),
            "ended before": None,
        },
        [("g", {"a:0": 2, "a:1": 4})],
    ),
    "a query that was stopped before its first batch": (
        {"p": [_table("t", A)], "ended": [_table("t", A)]},
        {"p": None, "ended": _progress({"a": {"0": 3}})},
        [],
    ),
    "a partition that one query does not know yet": (
        {"p": [_table("t", A)], "q": [_table("t", A)]},
        {"p": _progress({"a": {"0": 3, "1": 4}}), "q": _progress({"a": {"0": 5}})},
        [("g", {"a:0": 3})],
    ),
    "another declaration of the topic": (
        {"p": [_table("t", A)], "q": [_table("u", A, "y:1, x:1")]},
        {"p": _progress({"a": {"0": 3}}), "q": _progress({"a": {"0": 2}})},
        [("g", {"a:0": 2})],
    ),
    "another topic": (
        {"p": [_table("t", A)], "q": [_table("u", B)]},
        {"p": _progress({"a": {"0": 3}}), "q": _progress({"b": {"0": 2}})},
        [("g", {"a:0": 3, "b:0": 2})],
    ),
    "another topic whose query has no batch": (
        {"p": [_table("t", A)], "q": [_table("u", B)]},
        {"p": _progress({"a": {"0": 3}}), "q": None},
        [("g", {"a:0": 3})],
    ),
    "a topic of a table without the group": (
        {"p": [_table("t", A), _table("u", "'topic' = 'b'")]},
        {"p": _progress({"a": {"0": 3}}, {"b": {"0": 2}})},
        [("g", {"a:0": 3})],
    ),
    "another group": (
        {"p": [_table("t", A)], "q": [_table("u", A.replace("'g'", "'h'"))]},
        {"p": _progress({"a": {"0": 3}}), "q": _progress({"a": {"0": 2}})},
        [("g", {"a:0": 3}), ("h", {"a:0": 2})],
    ),
    "a table that commits no offsets": (
        {"p": [_table("t", A)], "q": [_table("u", f"{A}, {COMMITS_NONE}")]},
        {"p": _progress({"a": {"0": 3}}), "q": _progress({"a": {"0": 2}})},
        [("g", {"a:0": 3})],
    ),
    "no group": (
        {"p": [_table("t", "'topic' = 'a'")]},
        {"p": _progress({"a": {"0": 3}})},
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_committed_offsets(case: str) -> None:
    queries, newest, expected = CASES[case]
    bridge = cast(Any, _Bridge())
    tables: list[KafkaTable] = []
    for table in (t for read in queries.values() for t in read):
        if table not in tables:
            tables.append(table)
    observers = [KafkaSourceObserver(table, queries, bridge, print) for table in tables]
    for _ in range(2):  # the same offsets are not committed again
        for observer in observers:
            observer.on_progress(newest, [name for name in newest if name.startswith("ended")])
    assert bridge.commits == expected
