"""`streamtable new` creates a valid project whose tests pass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.new_project.create import TEMPLATES
from streamtable.sqltest.bind import bind
from streamtable.sqltest.document import read_file
from streamtable.sqltest.memory import Memory
from streamtable.sqltest.run import run_case
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from streamtable.devbroker.broker import Broker


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_tests_of_a_new_project_pass(
    template: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(cli, ["new", "shop", "--template", template])
    assert made.exit_code == 0, made.output
    names = sorted(str(p.relative_to("shop")) for p in Path("shop").rglob("*") if p.is_file())
    assert names == [
        ".github/workflows/test.yml",
        ".gitignore",
        "README.md",
        "shop.sql",
        "shop.test.yaml",
    ]
    checked = CliRunner().invoke(cli, ["validate", "shop/shop.sql", "--var", "servers=h:1"])
    assert checked.exit_code == 0, checked.output
    memory = Memory.of(spark, bind(read_file(Path("shop/shop.test.yaml"))))
    assert [run_case(memory, case, cuts=1).lines for case in memory.bound.cases] == [()]
    again = CliRunner().invoke(cli, ["new", "shop"])
    assert again.exit_code == 1
    assert "ALREADY_EXISTS" in again.output


@pytest.mark.parametrize("name", ["1shop", "a/b", "../a", "", "a b", "a\n"])
def test_a_bad_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["new", name]).exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_new_project_runs(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["new", "new-shop"]).exit_code == 0
    script = Path("new-shop/new-shop.sql").read_text()
    limited = script.replace("'datagen',", "'datagen', 'number-of-rows' = '50',")
    variables = {"servers": broker.bootstrap_servers}
    run = BoundedRun(spark, limited, tmp_path / "checkpoint", variables)
    run(bounded=False)
    assert sum(row["orders"] for row in run.rows("totals").values()) == 50
