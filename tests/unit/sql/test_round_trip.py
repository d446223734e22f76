"""A tree that is written as SQL and parsed again is the same tree, so no text is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlglot import exp

from streamtable.core.types import INT
from streamtable.sql.dialect import flink_sql
from streamtable.sql.nodes import FlinkType
from streamtable.sql.parse import parse_query, parse_script
from streamtable.sql.place import place_of
from streamtable.sql.statements.model import Select

TEXT = (Path(__file__).parent / "queries.sql").read_text()
QUERIES = [found for found in parse_script(TEXT, "queries.sql") if isinstance(found, Select)]


@pytest.mark.parametrize("found", QUERIES, ids=lambda found: f"line{found.at.line}")
def test_round_trip(found: Select) -> None:
    text = flink_sql(found.query)

    assert parse_query(text) == found.query
    assert flink_sql(parse_query(text)) == text


@pytest.mark.parametrize("found", QUERIES, ids=lambda found: f"line{found.at.line}")
def test_every_node_has_a_place_of_its_own(found: Select) -> None:
    for node in found.query.walk():
        at = node.meta_get("at")
        assert at is not None, repr(node)
        assert at >= found.at
        assert place_of(node.copy()) == at


def test_names_and_calls_have_the_place_of_their_text() -> None:
    query = parse_query("SELECT\n  a.b,\n  f(`c`) + 'x'\nFROM t", "job.sql")
    column, total = query.selects
    assert isinstance(column, exp.Column)

    assert str(place_of(column)) == "job.sql:2:3"
    assert [str(place_of(part)) for part in column.parts] == ["job.sql:2:3", "job.sql:2:5"]
    assert str(place_of(total)) == "job.sql:3:3"
    assert str(place_of(total.this.expressions[0])) == "job.sql:3:5"
    assert str(place_of(total.expression)) == "job.sql:3:12"
    assert str(place_of(query.args["from_"].this)) == "job.sql:4:6"


def test_a_node_without_a_place_takes_the_place_of_its_parent() -> None:
    query = parse_query("SELECT\n  a", "job.sql")
    made = FlinkType(this=INT)
    assert place_of(made) is None

    query.selects[0].set("of", made)

    assert str(place_of(made)) == "job.sql:2:3"


def test_secrets_of_hints_are_masked() -> None:
    query = parse_query("SELECT * FROM t /*+ OPTIONS('ssl.password'='open sesame') */")

    assert flink_sql(query) == "SELECT * FROM t /*+ OPTIONS('ssl.password'='****') */"


def test_names_are_quoted_with_backticks_if_needed() -> None:
    assert flink_sql(parse_query("SELECT `order`, a FROM `x y`")) == (
        "SELECT `order`, a FROM `x y`"
    )
