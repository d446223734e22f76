"""`--help` is quick because it imports no large module. The front end needs no Spark."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamtable
from streamtable import demo
from streamtable.cli.main import SUBCOMMANDS

HEAVY = ("pyspark", "py4j", "sqlglot", "confluent_kafka", "rich", "fastavro")


def loaded_after(program: str) -> set[str]:
    """Return the top-level modules of a fresh interpreter after it has run `program`."""
    tell = "\nimport sys; print('\\n' + ' '.join({m.partition('.')[0] for m in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program + tell], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["dev", "--help"]])
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    program = (
        "from streamtable.cli.main import cli\n"
        f"cli.main({words}, prog_name='streamtable', standalone_mode=False)"
    )
    assert not loaded_after(program) & set(HEAVY)


def test_help_names_every_subcommand() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from streamtable.cli.main import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    for name, known in SUBCOMMANDS.items():
        assert name in done.stdout
        assert known.help in done.stdout


FRONT_END = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(streamtable.__path__, "streamtable.")
    if name.split(".")[1] in {"core", "sql", "catalog", "plan", "formats"}
)


def test_front_end_needs_no_spark_and_no_kafka_client() -> None:
    loaded = loaded_after("import " + ", ".join(FRONT_END))
    assert not loaded & {"pyspark", "py4j", "confluent_kafka"}


@pytest.mark.parametrize("words", [["validate"], ["explain"]])
def test_a_script_is_checked_without_spark(words: list[str]) -> None:
    script = Path(demo.__file__).with_name("pageviews.sql")
    arguments = [*words, str(script), "--var", "bootstrap_servers=b:1"]
    program = (
        "from streamtable.cli.main import cli\n"
        f"cli.main({arguments}, prog_name='streamtable', standalone_mode=False)"
    )
    loaded = loaded_after(program)
    assert "sqlglot" in loaded, "the script was read"
    assert not loaded & {"pyspark", "py4j", "confluent_kafka", "fastavro", "rich", "pandas"}
