"""Random queries for jobs over topics that also run in real-time mode."""

from __future__ import annotations

import random
from collections.abc import Mapping

from tests.integration.differential.support import Query

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.keys import unique_keys
from streamtable.plan.rules.real_time import obstacle
from streamtable.session import Session, fixed_settings
from streamtable.testing.cases import Case
from streamtable.testing.planned import planned, sink
from streamtable.testing.random_queries import Queries
from streamtable.testing.relations import Dialect, Group, Kind, Read, Relation
from streamtable.testing.replayed import Replayed, Style

#: The replacement for NULL in a key; no other value is as small.
_NONE = -1_000


def drawn(seed: int, count: int, names: str, columns: str) -> dict[str, Query]:
    """Return random queries with state, by the names of their sinks.

    Args:
        seed: the same seed gives the same queries.
        count: the number of queries.
        names: the names of the upsert tables that the queries read, one letter each.
        columns: the columns of every table in SQL, `k INT` first; all are numbers.
    """
    fields = tuple(column.split()[0] for column in columns.split(", "))
    reads = [Read((Kind.NUMBER,) * len(fields), name, fields) for name in names]
    grammar = Queries(random.Random(seed), reads)
    tables = {name: Replayed(Style.UPSERT, columns, ()) for name in names}
    found: dict[str, Query] = {}
    while len(found) < count:
        query = _keyed(grammar.query(), tables)
        if query is not None:
            found[f"drawn_{len(found)}"] = query
    return found


def _keyed(query: Relation, tables: Mapping[str, Replayed]) -> Query | None:
    """Return the query with one of its keys, or None if the query cannot be used.

    A usable query is supported, has a key of numbers, runs in real-time mode and has a shuffle.
    """
    everything = isinstance(query, Group) and not query.keys
    if everything or Kind.HEAP in query.kinds:
        # Other tests compare answers before the first row, and values in any order.
        return None
    try:
        relation = planned(query.sql(Dialect.FLINK), tables)
        names = [column.field.name for column in relation.columns]
        keys = [[names.index(n) for n in key] for key in unique_keys(relation.node) if key]
        key = next((k for k in keys if all(query.kinds[i] is Kind.NUMBER for i in k)), None)
        if key is None:
            return None
        nullable = [i for i in key if relation.columns[i].field.type.nullable]
        flink, spark = (_without_nulls(query.sql(d), names, nullable) for d in Dialect)
        fields = [column.field for column in planned(flink, tables).columns]
        session = Session(settings=fixed_settings({}))
        session.load(Case(sink(fields, tuple(key)), flink, spark).script(tables), "drawn.sql")
    except StreamtableError as error:
        assert error.condition is Condition.NOT_YET, error
        return None
    node = session.plans[0].input
    if obstacle(node) is not None or node.shuffles == 0:
        return None
    return Query(tuple(key), flink, spark)


def _without_nulls(query: str, names: list[str], columns: list[int]) -> str:
    """Replace NULLs in these columns of a query, because a sink rejects NULLs in its key."""
    items = [f"COALESCE({n}, {_NONE}) AS {n}" if i in columns else n for i, n in enumerate(names)]
    return f"SELECT {', '.join(items)} FROM ({query}) AS q"
