"""Long statements are planned. Deep statements are refused with a place."""

from __future__ import annotations

from pathlib import Path
from time import process_time

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session

TABLES = (Path(__file__).parents[2] / "golden" / "tables.sql").read_text()
ROWS = "SELECT id, note FROM events"

_LONG = {
    "UNION ALL": " UNION ALL ".join([ROWS] * 500),
    "IN": f"{ROWS} WHERE id IN ({', '.join(map(str, range(5000)))})",
    "NOT IN": f"{ROWS} WHERE id NOT IN ({', '.join(map(str, range(3000)))})",
    "AND": f"{ROWS} WHERE {' AND '.join(f'id <> {n}' for n in range(3000))}",
    "OR": f"{ROWS} WHERE {' OR '.join(f'id = {n}' for n in range(3000))}",
    "CASE": "SELECT CASE "
    + " ".join(f"WHEN id = {n} THEN {n}" for n in range(2000))
    + " END, note FROM events",
    "CONCAT": f"SELECT id, CONCAT({', '.join(['note'] * 3000)}) FROM events",
    "VALUES": "VALUES " + ", ".join(f"({n}, 'x')" for n in range(3000)),
    "WITH": "WITH c0 AS (SELECT * FROM events)"
    + "".join(f", c{n} AS (SELECT * FROM c{n - 1})" for n in range(1, 150))
    + " SELECT * FROM c149",
    "JOIN": "SELECT e0.id, e0.note FROM events AS e0"
    + "".join(f" JOIN events AS e{n} ON e0.id = e{n}.id" for n in range(1, 150)),
}
_DEEP = {
    "+": "SELECT " + " + ".join(["id"] * 1000) + ", note FROM events",
    "||": "SELECT id, " + " || ".join(["note"] * 3000) + " FROM events",
    "IS NULL": f"{ROWS} WHERE id " + "IS NULL " * 500,
    "[ ]": "SELECT id" + "[1]" * 500 + ", note FROM events",
    "=": f"{ROWS} WHERE " + " = ".join(["id"] * 500),
    "parentheses": "SELECT " + "(" * 500 + "id" + ")" * 500 + ", note FROM events",
    "NOT": f"{ROWS} WHERE " + "NOT " * 500 + "id = 1",
    "signs": "SELECT " + "- " * 500 + "id, note FROM events",
    "calls": "SELECT " + "ABS(" * 500 + "id" + ")" * 500 + ", note FROM events",
    "CASE": "SELECT " + "CASE WHEN id = 1 THEN " * 500 + "id" + " END" * 500 + ", note FROM events",
    "subqueries": "SELECT * FROM " + "(SELECT * FROM " * 500 + "events" + ")" * 500,
    "queries in parentheses": "(" * 500 + ROWS + ")" * 500,
    "INTERSECT": " INTERSECT ".join([ROWS] * 500),
}


def _session() -> Session:
    session = Session()
    session.load(TABLES, "tables.sql")
    return session


@pytest.mark.parametrize("name", _LONG)
def test_long_statements_are_planned(name: str) -> None:
    session = _session()
    session.load(f"INSERT INTO events {_LONG[name]};", "job.sql")
    assert session.explain()


@pytest.mark.parametrize("name", _DEEP)
def test_deep_statements_are_refused_with_a_place(name: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _session().load(f"INSERT INTO events {_DEEP[name]};", "job.sql")
    assert refused.value.condition in (
        Condition.TOO_DEEP,
        Condition.NESTED_TOO_DEEP,
        Condition.SYNTAX,  # more than 60 levels: the parser stops there
    )
    assert refused.value.at is not None
    assert refused.value.at.file == "job.sql"


def test_the_error_for_deep_concatenations_suggests_concat() -> None:
    with pytest.raises(StreamtableError) as refused:
        _session().load(f"INSERT INTO events {_DEEP['||']}", "job.sql")
    assert refused.value.condition is Condition.TOO_DEEP
    assert "CONCAT" in str(refused.value)


def test_statements_after_a_too_deep_statement_are_planned() -> None:
    """The statements after a statement that is too deep are planned."""
    session = _session()
    with pytest.raises(StreamtableError):
        session.load(f"INSERT INTO events {_DEEP['+']}; INSERT INTO events {ROWS};", "job.sql")
    assert len(session.plans) == 1


@pytest.mark.parametrize("count", [10, 40])
def test_each_union_of_a_chain_is_planned_as_an_aggregate(count: int) -> None:
    session = _session()
    session.load(
        "INSERT INTO users_copy (id) " + " UNION ".join(["SELECT id FROM events"] * count), "j"
    )
    assert session.explain().count("GroupAggregate") == count - 1


@pytest.mark.parametrize(
    "kind", ["ROW<a " * 200 + "INT" + ">" * 200, "ARRAY<" * 200 + "INT" + ">" * 200]
)
def test_deep_types_are_refused_with_a_place(kind: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _session().load(f"CREATE TABLE deep (c {kind}) WITH ('connector' = 'kafka')", "job.sql")
    assert refused.value.condition is Condition.SYNTAX
    assert refused.value.at is not None


def test_long_chains_of_joins_are_planned_soon() -> None:
    joins = " ".join(f"JOIN t AS t{i} ON t{i}.a = t{i - 1}.a" for i in range(1, 41))
    script = (
        "CREATE TABLE t (a INT) WITH ('connector' = 'datagen');"
        " CREATE TABLE o (a INT) WITH ('connector' = 'blackhole');"
        f" INSERT INTO o SELECT t0.a FROM t AS t0 {joins};"
    )
    begun = process_time()
    Session().load(script, "job.sql")
    assert process_time() - begun < 60, "the time doubles with each join"
