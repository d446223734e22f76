"""Test cases in memory: operators, time, cuts, the command and the pytest plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from streamtable.sqltest.bind import bind
from streamtable.sqltest.document import read_file
from streamtable.sqltest.memory import Memory
from streamtable.sqltest.run import run_case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PAGE = Path(__file__).parents[3] / "docs" / "use" / "testing.md"
_KAFKA = "'connector' = 'kafka', 'format' = 'json', 'properties.bootstrap.servers' = 'h:1'"
_UPSERT = (
    "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',"
    " 'properties.bootstrap.servers' = 'h:1'"
)
_SOURCES = f"""
CREATE TABLE clicks (k INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ({_KAFKA}, 'topic' = 'c');
CREATE TABLE names (k INT, name STRING, PRIMARY KEY (k) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = 'n');
CREATE TABLE taps (k INT, p AS PROCTIME()) WITH ({_KAFKA}, 'topic' = 'p');
"""
#: Name -> query with the columns a, b, c of type STRING, given input, and expected rows.
_CASES = {
    "window with a late row": (
        (
            "SELECT CAST(window_end AS STRING), CAST(COUNT(*) AS STRING), CAST(SUM(v) AS STRING)"
            " FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
            " GROUP BY window_start, window_end"
        ),
        """
      - clicks: [{k: 1, v: 2, ts: '2026-03-01 00:00:10'}, {k: 1, v: 3, ts: '2026-03-01 00:01:10'}]
      - clicks: [{k: 1, v: 99, ts: '2026-03-01 00:00:20'}]
      - advance: {watermark: '2026-03-01 00:02:00'}
""",
        """
          - {a: '2026-03-01 00:01:00.000', b: 1, c: 2}
          - {a: '2026-03-01 00:02:00.000', b: 1, c: 3}
""",
    ),
    "join with a delete": (
        (
            "SELECT CAST(clicks.k AS STRING), name, CAST(v AS STRING) FROM clicks"
            " LEFT JOIN names ON clicks.k = names.k"
        ),
        """
      - clicks: [{k: 1, v: 2}, {k: 2, v: 3}]
        names: [{k: 1, name: one}, {k: 2, name: two}]
      - names: [{op: -D, k: 2}]
""",
        """
          - {a: 1, b: one, c: 2}
          - {a: 2, b: null, c: 3}
""",
    ),
    "top two": (
        (
            "SELECT CAST(rn AS STRING), CAST(v AS STRING), '' FROM (SELECT *, ROW_NUMBER() OVER"
            " (ORDER BY v DESC) AS rn FROM clicks) WHERE rn <= 2"
        ),
        """
      - clicks: [{v: 1}, {v: 5}, {v: 3}]
      - clicks: [{v: 4}]
""",
        """
          - {a: 1, b: 5}
          - {a: 2, b: 4}
""",
    ),
    "processing time": (
        (
            "SELECT CAST(window_end AS STRING), CAST(COUNT(*) AS STRING), ''"
            " FROM TABLE(TUMBLE(TABLE taps, DESCRIPTOR(p), INTERVAL '1' MINUTE))"
            " GROUP BY window_start, window_end"
        ),
        """
      - advance: {clock: '2026-03-01 00:00:10'}
      - taps: [{k: 1}, {k: 2}]
      - advance: {clock: '2026-03-01 00:01:00'}
      - taps: [{k: 3}]
""",
        """
          - {a: '2026-03-01 00:01:00.000', b: 2}
""",
    ),
}


def _memory(spark: SparkSession, folder: Path, query: str, given: str, expect: str) -> Memory:
    columns = "a STRING, b STRING, c STRING, PRIMARY KEY (a) NOT ENFORCED"
    sink = f"CREATE TABLE o ({columns}) WITH ({_UPSERT}, 'topic' = 'o');"
    (folder / "job.sql").write_text(f"{_SOURCES}{sink}\nINSERT INTO o {query};")
    file = folder / "job.test.yaml"
    file.write_text(
        f"script: job.sql\ncases:\n  - name: one\n    given:{given}    expect:\n      o:\n"
        f"        rows:{expect}"
    )
    return Memory.of(spark, bind(read_file(file)))


@pytest.mark.parametrize("name", _CASES)
def test_a_correct_case_passes_and_a_wrong_case_fails(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    query, given, expect = _CASES[name]
    memory = _memory(spark, tmp_path, query, given, expect)
    assert run_case(memory, memory.bound.cases[0], cuts=1).lines == ()
    wrong = _memory(spark, tmp_path, query, given, expect.replace("b: ", "b: not ", 1))
    lines = run_case(wrong, wrong.bound.cases[0]).lines
    assert lines[0] == "table o: the final rows differ"
    assert any(line.startswith("  - {") and "b: not " in line for line in lines)
    assert any(line.startswith("  + {") for line in lines)


def test_a_result_that_depends_on_the_batches_is_found(spark: SparkSession, tmp_path: Path) -> None:
    query, _, _ = _CASES["window with a late row"]
    given = """
      - clicks: [{v: 3, ts: '2026-03-01 00:01:10'}, {v: 9, ts: '2026-03-01 00:00:20'}]
      - advance: end
"""
    memory = _memory(spark, tmp_path, query, given, " [{b: 1, c: 9}, {b: 1, c: 3}]\n")
    assert run_case(memory, memory.bound.cases[0]).lines == ()
    assert run_case(memory, memory.bound.cases[0], cuts=1, seed=7).lines == (
        "table o: the final rows depend on the batches (--cuts, seed 7)",
        '  - ["2026-03-01 00:01:00.000", "1", "9"]',
    )


_TYPES = {
    "b": ("BOOLEAN", "true"),
    "y": ("BYTES", "x'0aff'"),
    "d": ("DATE", "2026-03-01"),
    "t": ("TIMESTAMP(3)", "'2026-03-01 10:00:00.125'"),
    "z": ("TIMESTAMP_LTZ(3)", "'2026-03-01 10:00:00+02:00'"),
    "f": ("FLOAT", "0.1"),
    "g": ("DOUBLE", "1.5e300"),
    "i": ("BIGINT", "9223372036854775807"),
    "n": ("DECIMAL(38, 18)", "-12345678901234567890.000000000000000001"),
    "s": ("STRING", '"it\'s \\\\ \\n {a}: \u00e4"'),
    "a": ("ARRAY<DECIMAL(4, 2)>", "[1.5, null]"),
    "m": ("MAP<STRING, ARRAY<INT>>", "{x: [1], y: []}"),
    "r": ("ROW<p INT, q MAP<STRING, TIMESTAMP(3)>>", "{p: 1, q: {k: '2026-03-01 00:00:01'}}"),
    "e": ("ROW<p INT>", "null"),
}


def test_values_of_every_type_pass_unchanged(spark: SparkSession, tmp_path: Path) -> None:
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in _TYPES.items())
    row = ", ".join(f"{name}: {value}" for name, (_, value) in _TYPES.items())
    options = f"WITH ({_KAFKA}, 'topic' = 'x')"
    (tmp_path / "job.sql").write_text(
        f"CREATE TABLE i ({columns}) {options}; CREATE TABLE o ({columns}) {options};"
        " INSERT INTO o SELECT * FROM i;"
    )
    file = tmp_path / "job.test.yaml"
    rows = f"[{{{row}}}]"
    file.write_text(
        "script: job.sql\nsettings: {table.local-time-zone: Europe/Berlin}\n"
        f"cases: [{{name: a, given: {{i: {rows}}}, expect: {{o: {rows}}}}}]\n"
    )
    memory = Memory.of(spark, bind(read_file(file)))
    assert run_case(memory, memory.bound.cases[0]).lines == ()


def _page(folder: Path) -> None:
    sql, yaml = (
        re.search(rf"```{kind}\n(.*?)```", _PAGE.read_text(), re.DOTALL) for kind in ("sql", "yaml")
    )
    assert sql is not None
    assert yaml is not None
    (folder / "totals.sql").write_text(sql[1])
    (folder / "totals.test.yaml").write_text(yaml[1])


def _python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ}, capture_output=True, text=True, check=False
    )


def test_the_command_runs_the_example_of_the_page(tmp_path: Path) -> None:
    _page(tmp_path)
    file = tmp_path / "totals.test.yaml"
    file.write_text(file.read_text() + "      # end\n")
    run = ("-m", "streamtable", "test", ".", "--cuts", "1", "--junit", "out.xml")
    passed = _python(tmp_path, *run)
    assert (passed.returncode, passed.stdout.splitlines()[-1]) == (0, "2 passed, 0 failed")
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()[0]  # noqa: S314 - our own file
    assert (suite.get("tests"), suite.get("failures"), len(suite)) == ("2", "0", 2)
    assert _python(tmp_path, "-m", "streamtable", "test", ".", "-k", "none").returncode == 2
    file.write_text("scripts: x")
    assert _python(tmp_path, "-m", "streamtable", "test", ".").returncode == 2


def test_pytest_runs_the_example_of_the_page(tmp_path: Path) -> None:
    _page(tmp_path)
    (tmp_path / "other.test.yaml").write_text("of: another tool\n")
    done = _python(tmp_path, "-m", "pytest", "-q", "-p", "no:randomly", "-k", "delete")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 deselected" in done.stdout


def test_the_plugin_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys, streamtable.sqltest.pytest_plugin; "
        "sys.exit(any(n.split('.')[0] in ('pyspark', 'sqlglot', 'yaml') for n in sys.modules))"
    )
    assert _python(tmp_path, "-c", code).returncode == 0
