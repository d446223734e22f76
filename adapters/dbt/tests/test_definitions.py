"""Definitions and scripts, without Spark and without a broker."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.streamtable.credentials import StreamtableCredentials
from dbt.adapters.streamtable.definitions import (
    SOURCE,
    TABLE,
    VIEW,
    Definition,
    Definitions,
    options_of,
    sources_of,
)
from dbt.adapters.streamtable.reads import reach_broker
from dbt.adapters.streamtable.scripts import Scripts
from dbt_common.exceptions import DbtRuntimeError

import streamtable

ORDERS = Definition("orders", SOURCE, "source.shop.orders", {"id": "BIGINT"}, [], None)


def _node(name: str, **meta: Any) -> SimpleNamespace:
    columns = {"id": SimpleNamespace(name="id", data_type="BIGINT")}
    config = SimpleNamespace(meta=meta)
    given = {"source_meta": {}, "meta": {}, "config": config, "columns": columns}
    return SimpleNamespace(identifier=name, unique_id=f"source.s.{name}", **given)


def test_relations_come_after_what_they_read(tmp_path: Path) -> None:
    found = Definitions(tmp_path, {"orders": ORDERS}, {})
    found.put(Definition("a", VIEW, "model.a", query="SELECT * FROM `z`"))
    found.put(Definition("z", VIEW, "model.z", query="SELECT `id` FROM `orders`"))
    needed = found.needed_by("SELECT `id` FROM `a` JOIN `orders` USING (`id`)")
    assert [each.name for each in needed] == ["orders", "z", "a"]
    assert found.get("a") == Definition("a", VIEW, "model.a", query="SELECT * FROM `z`")


def test_a_model_that_was_never_run_is_named(tmp_path: Path) -> None:
    found = Definitions(tmp_path, {}, {"totals_v2": "totals"})
    with pytest.raises(DbtRuntimeError, match="dbt run --select totals"):
        found.named_in("SELECT * FROM `totals_v2`")


def test_a_name_stands_for_one_relation() -> None:
    with pytest.raises(DbtRuntimeError, match=r"source\.s\.o and source\.s\.o have the same name"):
        sources_of(iter([_node("o"), _node("o")]), {})
    with pytest.raises(DbtRuntimeError, match=r"source\.s\.o and orders have the same name"):
        sources_of(iter([_node("o")]), {"o": "orders"})


def test_options_of_a_table_override_those_of_its_source_and_its_profile() -> None:
    node = _node("o", **{"with": {"format": "csv", "properties.client.id": "mine"}})
    node.source_meta = {"with": {"format": "json", "topic": "t"}}
    (table,) = sources_of(iter([node]), {}).values()
    target = StreamtableCredentials(bootstrap_servers="h:1", properties={"client.id": "all"})
    text = Scripts(target).create([table])
    assert "'format' = 'csv'" in text
    assert "'topic' = 't'" in text
    assert "'properties.client.id' = 'mine'" in text
    assert "'properties.bootstrap.servers' = 'h:1'" in text


def test_a_script_runs_as_it_stands_and_has_no_secret() -> None:
    target = StreamtableCredentials(
        bootstrap_servers="h:1",
        settings={"parallelism.default": 2},
        properties={"ssl.keystore.password": "hush-hush"},
        variables={"least": 3, "token": "also-hushed"},
    )
    sink = Definition(
        "totals",
        TABLE,
        "model.totals",
        {"id": "BIGINT", "it's": "STRING"},
        ["id"],
        None,
        {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"},
    )
    orders = Definition(
        "orders", SOURCE, "s", {"id": "BIGINT"}, [], None, {"format": "json", "topic": "it's"}
    )
    scripts = Scripts(target)
    text = scripts.job([orders], sink, "SELECT id, 'x' FROM `orders` WHERE id > ${least};\n")
    assert "hush" not in text
    assert "SET 'pipeline.name' = 'totals';\nSET 'parallelism.default' = '2';" in text
    assert "--   least: 3" in text
    assert "--   token: a secret" in text
    assert "'properties.ssl.keystore.password' = '${dbt_properties_ssl_keystore_password}'" in text
    assert scripts.variables["dbt_properties_ssl_keystore_password"] == "hush-hush"
    plan = streamtable.connect().check(text, scripts.variables).explain()
    assert "totals" in plan
    assert "hush" not in plan


def test_a_secret_of_a_model_is_refused() -> None:
    with pytest.raises(DbtRuntimeError, match=r"write '\$\{password\}'"):
        options_of({"password": "open"}, "model.m")
    assert options_of({"password": "${password}"}, "m") == {"password": "${password}"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [({}, "has no columns"), ({"id": ""}, "column `id` of s has no `data_type`")],
)
def test_a_source_needs_columns_with_types(columns: dict[str, str], message: str) -> None:
    scripts = Scripts(StreamtableCredentials(bootstrap_servers="h:1"))
    with pytest.raises(DbtRuntimeError, match=message):
        scripts.create([Definition("o", SOURCE, "s", columns)])


def test_a_profile_is_checked() -> None:
    with pytest.raises(DbtRuntimeError, match="no `bootstrap_servers`"):
        StreamtableCredentials()
    with pytest.raises(DbtRuntimeError, match="is a URL"):
        StreamtableCredentials(bootstrap_servers="h:1", checkpoints="s3://bucket/jobs")
    found = StreamtableCredentials(bootstrap_servers="h:1", properties={"sasl.jaas.config": "xyz"})
    assert dict(found.connection_info())["properties"] == {"sasl.jaas.config": "****"}


def test_a_broker_that_does_not_answer_is_named() -> None:
    with pytest.raises(DbtRuntimeError, match=r"no Kafka broker answers \(127\.0\.0\.1:1: "):
        reach_broker("127.0.0.1:1")
