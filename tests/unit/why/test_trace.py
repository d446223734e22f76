"""The columns of a key are followed from the sink to the tables."""

from __future__ import annotations

import pytest

from streamtable.core.types import INT, STRING, decimal
from streamtable.plan.rules.tree import every
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.why.key import parse_key
from streamtable.runtime.why.sql_text import conjuncts, plain, shown, substituted
from streamtable.runtime.why.trace import below, pinned_scans, pins_of
from streamtable.session import Session

_UPSERT = """'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092'"""
_TABLES = f"""
CREATE TABLE orders (id INT, name STRING, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'topic' = 'orders', {_UPSERT});
CREATE TABLE people (name STRING, age INT, PRIMARY KEY (name) NOT ENFORCED) WITH (
  'topic' = 'people', {_UPSERT});
CREATE TABLE out (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'topic' = 'out', {_UPSERT});
"""


def _plan(query: str) -> Sink:
    session = Session()
    session.load(f"{_TABLES} INSERT INTO out {query};", "job.sql")
    return session.plans[0]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT name, age FROM people", {"people": ("name = 'Ada'", True)}),
        ("SELECT name, SUM(n) FROM orders GROUP BY name", {"orders": ("name = 'Ada'", True)}),
        (
            "SELECT UPPER(name), SUM(n) FROM orders GROUP BY UPPER(name)",
            {"orders": ("upper(name) = 'Ada'", True)},
        ),
        (
            "SELECT CONCAT(m, '`x`'), 1 FROM (SELECT UPPER(name) AS m FROM people) WHERE m > 'A'",
            {"people": ("concat((upper(name)), '`x`') = 'Ada'", True)},
        ),
        # A join key has one value on both sides.
        (
            "SELECT p.name, n FROM orders AS o JOIN people AS p ON o.name = p.name",
            {"orders": ("name = 'Ada'", True), "people": ("name = 'Ada'", True)},
        ),
        # The ranking compares a row with rows of other keys.
        (
            (
                "SELECT name, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY id) AS r"
                " FROM orders) WHERE r < 3"
            ),
            {"orders": ("name = 'Ada'", False)},
        ),
        (
            (
                "SELECT name, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY id)"
                " AS r FROM orders) WHERE r < 3"
            ),
            {"orders": ("name = 'Ada'", True)},
        ),
        # An expression that may fail is not evaluated for other rows.
        ("SELECT CAST(CAST(name AS INT) AS STRING), n FROM orders", {"orders": None}),
        # A computed aggregate and a constant have no source.
        ("SELECT MAX(name), n FROM orders GROUP BY n", {"orders": None}),
        ("SELECT 'x', n FROM orders", {"orders": None}),
    ],
)
def test_pins_of_the_scans(query: str, expected: dict[str, tuple[str, bool] | None]) -> None:
    plan = _plan(query)
    pins = pins_of(parse_key('{"k": "Ada"}', plan))
    found: dict[str, tuple[str, bool] | None] = {}
    for scan, reached in pinned_scans(plan.input, pins):
        found[scan.table.name] = (reached[0].text, reached[0].exact) if reached else None
    assert found == expected


def test_a_computed_column_is_lost_at_its_operator() -> None:
    plan = _plan("SELECT MAX(name), n FROM orders GROUP BY n")
    pins = pins_of(parse_key('{"k": "Ada"}', plan))
    lost = []
    for node in every(plan.input):
        if not node.inputs:
            break
        (found,) = below(node, pins)
        lost += [node.title] if found.lost else []
        pins = found.pins
    assert lost == ["GroupAggregate"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("(`a` > 1)", ("`a` > 1",)),
        ("((`a` > 1) AND (`b` = 'x AND (y'))", ("`a` > 1", "`b` = 'x AND (y'")),
        (
            "(((`a` > 1) AND (`b` > 2)) AND ((`c` > 3) OR (`d` > 4)))",
            ("`a` > 1", "`b` > 2", "(`c` > 3) OR (`d` > 4)"),
        ),
        ("(`a`) = (`b`)", ("(`a`) = (`b`)",)),
        ("`x AND y` IS NULL", ("`x AND y` IS NULL",)),
        ("`a` BETWEEN 1 AND 2", ("`a` BETWEEN 1 AND 2",)),
    ],
)
def test_conjuncts(condition: str, expected: tuple[str, ...]) -> None:
    assert conjuncts(condition) == expected


def test_only_whole_fields_outside_strings_are_replaced() -> None:
    sql = "concat(`a`, '`a`', `r`.`a`, `b`)"
    assert substituted(sql, {"a": "`x` + 1"}) == "concat((`x` + 1), '`a`', `r`.`a`, `b`)"
    assert plain("upper(`a`) = '`a`' AND `two words` > 1") == "upper(a) = '`a`' AND `two words` > 1"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CAST(`n` AS BIGINT) > CAST(1 AS BIGINT)", "n > 1"),
        ("CAST(`d` AS DECIMAL(12,2)) > CAST(1.5 AS DECIMAL(12,2))", "d > 1.5"),
        ("CAST(`d` AS DECIMAL(10,1)) > 1", "CAST(d AS DECIMAL(10,1)) > 1"),
        ("CAST(`n` AS SMALLINT) > 1", "CAST(n AS SMALLINT) > 1"),
        ("CAST(`s` AS INT) = 7", "CAST(s AS INT) = 7"),
        ("`s` = 'CAST(1 AS INT)'", "s = 'CAST(1 AS INT)'"),
    ],
)
def test_casts_to_wider_numbers_are_not_shown(sql: str, expected: str) -> None:
    types = {"n": INT, "d": decimal(10, 2), "s": STRING}
    assert shown(sql, types) == expected
