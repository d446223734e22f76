"""Plan single queries and scripts, and generate sinks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamtable.core.errors import StreamtableError
from streamtable.core.types import Field
from streamtable.plan.query.query import QueryPlanner
from streamtable.plan.query.relation import Relation
from streamtable.plan.rank.numbering import with_numbering
from streamtable.session import Session
from streamtable.sql.parse import read_script
from streamtable.sql.statements.model import Select
from streamtable.testing.replayed import Recorded, Replayed


def planned(query: str, tables: Mapping[str, Replayed | Recorded]) -> Relation:
    """Plan a query over tables.

    Raises:
        StreamtableError: the query cannot be planned.
    """
    session = Session()
    session.load("\n".join(table.ddl(name) for name, table in tables.items()), "tables.sql")
    (statement,) = read_script(f"{query};", "query.sql")
    if isinstance(statement, StreamtableError):
        raise statement
    assert isinstance(statement, Select), "a query and nothing else"  # noqa: S101
    relation = QueryPlanner(session.catalog).plan(statement.query)
    return replace(relation, node=with_numbering(relation.node))


def is_refused(script: str) -> bool:
    """Return whether a script is refused before it runs."""
    try:
        Session().load(script, "job.sql")
    except StreamtableError:
        return True
    return False


def sink(fields: Sequence[Field], key: tuple[int, ...] | None = None) -> str:
    """Return a table `out` with columns c0, c1, ...: with a key, or for a full changelog."""
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
