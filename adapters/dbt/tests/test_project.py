"""A project from its sources to its tests, through dbt's command line, on a real broker."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support import PASSWORD, new_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support import Project

    from streamtable.devbroker.broker import Broker

_VIEW = "SELECT * FROM {{ source('shop', 'orders') }} WHERE region IS NOT NULL"

_CONFIG = """{{ config(materialized='streaming_table', primary_key=['region'],
  connector='upsert-kafka', with={'key.format': 'json', 'value.format': 'json'}) }}
"""

_TOTALS = f"{_CONFIG}SELECT region, COUNT(*) AS n, SUM(amount) AS amount\n"
_TOTALS += "FROM {{ ref('known_orders') }} GROUP BY region HAVING COUNT(*) < ${least}"

_TESTS = """
version: 2
models:
  - name: known_orders
    columns:
      - {name: region, data_tests: [not_null]}
  - name: totals
    columns:
      - name: region
        data_tests:
          - unique
          - accepted_values: {arguments: {values: [eu, us]}}
          - relationships: {arguments: {to: ref('known_orders'), field: region}}
"""


@pytest.fixture(scope="module")
def built(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Give a project that `dbt build` has run to the end of its input."""
    project = new_project(tmp_path_factory.mktemp("shop"), broker)
    project.write(
        models__known_orders_sql=_VIEW,
        models__totals_sql=_TOTALS,
        models__tests_yml=_TESTS,
        tests__sums_sql="SELECT * FROM {{ ref('totals') }} WHERE amount <> 15 AND region = 'eu'",
    )
    code, output = project.dbt("build", "--vars", "{bounded: true}")
    assert code == 0, output
    yield project
    project.kill_jobs()


def test_build_runs_models_and_tests(built: Project) -> None:
    assert built.dbt("build", "--vars", "{bounded: true}")[0] == 0
    found = built.results()
    assert found["known_orders"] == ("success", "CREATE VIEW")
    assert found["totals"] == ("success", "JOB FINISHED")
    tests = {name: status for name, (status, _) in found.items() if name.count(".")}
    assert len(tests) + ("sums" in found) == 7, found
    assert set(tests.values()) == {"pass"}
    assert found["sums"][0] == "pass"


def test_the_script_is_a_script_of_streamtable(built: Project) -> None:
    command = [sys.executable, "-m", "streamtable", "validate"]
    script = built.root / "target" / "streamtable" / "totals.sql"
    given = ["--var", "least=3", "--var", "dbt_properties_sasl_jaas_config=x"]
    done = subprocess.run(
        [*command, str(script), *given], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("totals.sql: valid, 1 INSERT(s)\n")


def test_no_file_has_the_password(built: Project) -> None:
    files = [p for p in built.root.rglob("*") if p.is_file() and p.name != "profiles.yml"]
    assert any(path.name == "dbt.log" for path in files)
    assert [p for p in files if PASSWORD.encode() in p.read_bytes()] == []


def test_a_failing_test_ends_with_1(built: Project) -> None:
    built.write(tests__wrong_sql="SELECT region FROM {{ ref('totals') }} WHERE region = 'us'")
    code, output = built.dbt("test", "--select", "wrong")
    assert code == 1, output
    assert built.results()["wrong"] == ("fail", "Got 1 result, configured to fail if != 0")
    (built.root / "tests" / "wrong.sql").unlink()


def test_show_previews_a_model_and_a_query(built: Project) -> None:
    code, output = built.dbt("show", "--select", "totals", "--output", "json")
    assert code == 0, output
    rows = json.loads(output[output.index("{\n") :])["show"]
    assert sorted((row["region"], row["n"]) for row in rows) == [("eu", 2), ("us", 1)]


def test_docs_have_columns_and_types(built: Project) -> None:
    code, output = built.dbt("docs", "generate")
    assert code == 0, output
    found = json.loads((built.root / "target" / "catalog.json").read_text())
    assert found["errors"] is None
    totals = found["nodes"]["model.shop.totals"]
    assert totals["metadata"]["type"] == "streaming table"
    assert {name: column["type"] for name, column in totals["columns"].items()} == {
        "region": "STRING",
        "n": "BIGINT",
        "amount": "DECIMAL(38, 2)",
    }
    assert found["nodes"]["model.shop.known_orders"]["metadata"]["type"] == "view"
    assert "order_id" in found["sources"]["source.shop.shop.orders"]["columns"]


_ORDERS = "SELECT * FROM {{ source('shop', 'orders') }}"

_REFUSED = {
    "as_table": ("materialized='table'", _ORDERS, "support materialized='table'. Hint: use"),
    "as_incremental": ("materialized='incremental'", _ORDERS, "materialized='incremental'. Hint:"),
    "with_hook": ("post_hook='SELECT 1'", _ORDERS, "does not support the config `post-hook`"),
    "with_key": ("primary_key='region'", _ORDERS, "`primary_key` of model.shop.with_key has no"),
    "misspelt": ("conector='kafka'", _ORDERS, "did you mean 'connector'?"),
    "with_secret": (
        "materialized='streaming_table', with={'sasl.password': 'x'}",
        _ORDERS,
        "option 'sasl.password' of model.shop.with_secret is a secret",
    ),
    "wrong_query": (
        "materialized='streaming_table'",
        _ORDERS.replace("*", "nothing"),
        "wrong_query, compiled:1:8: UNKNOWN_COLUMN: column 'nothing'",
    ),
}


def test_what_makes_no_sense_is_refused_by_name(
    broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = new_project(tmp_path_factory.mktemp("refused"), broker)
    project.write(seeds__regions_csv="region\neu\n")
    for name, (config, query, _) in _REFUSED.items():
        project.write(**{f"models__{name}_sql": f"{{{{ config({config}) }}}}{query}"})
    code, output = project.dbt("build", "--exclude", "resource_type:test")
    assert code == 1, output
    found = project.results()
    for name, (_, _, words) in _REFUSED.items():
        assert found[name][0] == "error"
        assert words in found[name][1]
    assert "does not support seeds. Hint: declare the file as a source" in found["regions"][1]
