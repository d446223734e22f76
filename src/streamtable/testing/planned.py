"""Queries on their own, planned, and sinks that fit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamtable.core.errors import StreamtableError
from streamtable.core.types import Field
from streamtable.plan.query import QueryPlanner
from streamtable.plan.relation import Relation
from streamtable.plan.rules.numbering import with_numbering
from streamtable.session import Session
from streamtable.sql.parse import read_script
from streamtable.sql.statements import Select
from streamtable.testing.replayed import Recorded, Replayed


def planned(query: str, tables: Mapping[str, Replayed | Recorded]) -> Relation:
    """A query over such tables.

    Raises:
        StreamtableError: it cannot be planned.
    """
    session = Session()
    session.load("\n".join(table.ddl(name) for name, table in tables.items()), "tables.sql")
    (statement,) = read_script(f"{query};", "query.sql")
    if isinstance(statement, StreamtableError):
        raise statement
    assert isinstance(statement, Select), "a query and nothing else"  # noqa: S101
    relation = QueryPlanner(session.catalog).plan(statement.query)
    return replace(relation, node=with_numbering(relation.node))


def sink(fields: Sequence[Field], key: tuple[int, ...] | None = None) -> str:
    """A table `out` of columns c0, c1, ...: by a key, or without one of complete changes."""
    columns = ", ".join(f"c{i} {f.type.with_nullable(True).sql()}" for i, f in enumerate(fields))
    options = "'topic' = 'out', 'properties.bootstrap.servers' = 'localhost:9092'"
    if key is None:
        return (
            f"CREATE TABLE out ({columns}) WITH"
            f" ('connector' = 'kafka', 'format' = 'debezium-json', {options});"
        )
    names = ", ".join(f"c{i}" for i in key)
    return (
        f"CREATE TABLE out ({columns}, PRIMARY KEY ({names}) NOT ENFORCED) WITH ('connector' ="
        f" 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json', {options});"
    )
