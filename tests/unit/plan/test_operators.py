"""Declarations of every operator, and the rules that depend on these declarations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.plan.operators import operators

from streamtable.core.changelog import APPEND
from streamtable.core.types import INT, Field, array, map_of
from streamtable.operators.lower import LOWERINGS
from streamtable.plan.aggregate.group_aggregate import GroupAggregate
from streamtable.plan.inputs import UnaryNode
from streamtable.plan.node import Node
from streamtable.plan.rank.deduplicate import Deduplicate
from streamtable.plan.rules.real_time import obstacle
from streamtable.plan.rules.state_layouts import layouts
from streamtable.plan.rules.tree import every
from streamtable.plan.source.values import Values
from streamtable.plan.window.window_table import SessionTable, WindowTable
from streamtable.session import Session

#: Declarations that a new operator must have. The defaults of all others fit operators without
#: state or time.
_SAID = ("mode", "fields", "inputs", "over")


@pytest.mark.parametrize("operator", operators(), ids=lambda cls: cls.__name__)
def test_every_operator_declares_attributes_without_default(operator: type[Node]) -> None:
    assert isinstance(operator.title, str)
    # A subclass that inherits `state` could be treated as stateless by mistake.
    assert "state" in operator.__dict__
    for name in _SAID:
        field = name in getattr(operator, "__dataclass_fields__", {})
        assert field or getattr(operator, name, None) is not getattr(Node, name, None), name


def test_every_operator_has_a_lowering() -> None:
    assert sorted(cls.__name__ for cls in LOWERINGS) == [cls.__name__ for cls in operators()]


def test_state_layouts_differ_in_id_or_variables() -> None:
    layouts = [cls.state for cls in operators() if cls.state]
    assert len({(layout.id, layout.variables) for layout in layouts}) == len(layouts)


def test_session_table_has_state_and_window_table_has_none() -> None:
    """`SessionTable` has state, `WindowTable` has none.

    `SessionTable` was a subclass of `WindowTable` once, and counted as stateless.
    """
    assert SessionTable.state is not None
    assert WindowTable.state is None
    assert not issubclass(SessionTable, WindowTable)


def test_rules_apply_to_an_unknown_operator() -> None:
    """Rules depend on the declarations of an operator, not on its base class."""

    @dataclass(frozen=True)
    class Kept(UnaryNode):
        title = "Kept"
        state = SessionTable.state

        @property
        def fields(self) -> tuple[Field, ...]:
            return self.input.fields

        mode = APPEND

    rows = Values((Field("k", INT), Field("v", INT)), (("1", "'a'"), ("2", "'b'")))
    node = Kept(rows)
    assert node.shuffles == 1
    assert list(layouts(node)) == [("SessionTable", 1)]
    maps = Values((Field("m", array(map_of(INT, INT))),), (("array(map(1, 2))",),))
    assert list(layouts(Kept(maps))) == [("SessionTable", 101)]  # map entries in another order
    assert list(layouts(Deduplicate(maps, (), "m"))) == [("Deduplicate", 1)]
    assert obstacle(node) == "Spark does not read VALUES in real-time mode"
    assert [f.name for f in node.pruned({"v"}).fields] == ["v"]
    assert node.headline == "Kept"


_KAFKA = "'topic' = 't', 'properties.bootstrap.servers' = 'b:9092'"
_MYSQL = (
    "'connector' = 'mysql-cdc', 'hostname' = 'h', 'username' = 'u', 'password' = 'p',"
    " 'database-name' = 'd', 'table-name' = 't'"
)
_COLUMNS = "(k INT, v INT, op STRING, p AS PROCTIME(), PRIMARY KEY (k) NOT ENFORCED)"
_TABLES = f"""
CREATE TABLE a {_COLUMNS.replace(", PRIMARY KEY (k) NOT ENFORCED", "")} WITH (
  'connector' = 'kafka', 'format' = 'json', {_KAFKA});
CREATE TABLE c {_COLUMNS} WITH ('connector' = 'kafka', 'format' = 'debezium-json', {_KAFKA});
CREATE TABLE u {_COLUMNS} WITH (
  'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json', {_KAFKA});
CREATE TABLE m {_COLUMNS} WITH ({_MYSQL});
CREATE TABLE later {_COLUMNS} WITH ({_MYSQL}, 'scan.startup.mode' = 'latest-offset');
CREATE TABLE o (v INT, n BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json', {_KAFKA});
"""
_TWICE = "SET 'table.exec.source.cdc-events-duplicate' = 'true';"
_TTL = "SET 'table.exec.state.ttl' = '1 d';"


@pytest.mark.parametrize(
    ("rows", "settings", "unknown"),
    [
        ("a", "", False),
        ("u", "", False),
        ("m", "", False),
        ("c", "", True),
        ("later", "", True),
        ("c", _TWICE, False),
        ("(SELECT v FROM c WHERE k > 1)", "", True),
        ("(SELECT v FROM u UNION ALL SELECT v FROM c)", "", True),
        ("(SELECT v FROM FROM_CHANGELOG(input => TABLE a))", "", True),
        ("(SELECT v, COUNT(*) FROM c GROUP BY v)", "", False),
        ("(SELECT c.v FROM c JOIN u ON c.v = u.v)", "", False),
        # With a TTL, the joined row of a retraction may have expired.
        ("(SELECT c.v FROM c JOIN u ON c.v = u.v)", _TTL, True),
        ("(SELECT u.v FROM u JOIN a ON a.v = u.v)", _TTL, False),
        # No state has unmatched rows whose join key is NULL.
        ("(SELECT c.v FROM c LEFT JOIN u ON c.v = u.v)", "", True),
        ("(SELECT u.v FROM u LEFT JOIN m ON m.v = u.v)", "", False),
    ],
)
def test_inputs_with_retractions_of_unknown_rows(rows: str, settings: str, unknown: bool) -> None:
    session = Session()
    insert = f"INSERT INTO o SELECT v, COUNT(*) FROM {rows} GROUP BY v;"
    session.load(_TABLES + settings + insert, "script.sql")
    (plan,) = session.plans
    group = next(node for node in every(plan.input) if isinstance(node, GroupAggregate))
    assert group.input.retracts_unknown is unknown


def test_plan_and_sql_folders_have_at_most_twenty_files() -> None:
    source = Path(__file__).parents[3] / "src" / "streamtable"
    for room in ("plan", "sql"):
        for folder in (source / room, *(source / room).rglob("*/")):
            assert len(list(folder.glob("*.py"))) <= 20, folder
