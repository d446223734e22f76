"""Notebooks, executed in their own kernel as Jupyter executes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from tests.integration.jobs.support import PATIENCE_S

from streamtable.devbroker.broker import Broker

_EXAMPLES = Path(__file__).parents[3] / "examples" / "notebooks"

Run = Callable[..., Any]


@pytest.fixture
def run(broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that executes a notebook and returns it with its outputs."""
    monkeypatch.setenv("KAFKA_SERVERS", broker.bootstrap_servers)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))

    def execute(notebook: Any, *, allow_errors: bool = False) -> Any:
        resources = {"metadata": {"path": str(tmp_path)}}
        client = NotebookClient(
            notebook,
            timeout=PATIENCE_S,
            kernel_name="python3",
            resources=resources,
            allow_errors=allow_errors,
        )
        return client.execute()

    return execute


def _notebook(*cells: str) -> Any:
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
    return made


def _outputs(notebook: Any, kind: str) -> list[str]:
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            found += [output.data[kind]] if kind in output.get("data", {}) else []
    return found


def _printed(notebook: Any) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output.get("text", "") for output in outputs)


def test_first_steps(run: Run) -> None:
    notebook = nbformat.read(_EXAMPLES / "first-steps.ipynb", as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace("'rows-per-second' = '100'", "'rows-per-second' = '2000'")
    done = run(notebook)
    described, totals, changes, frame = _outputs(done, "text/html")
    assert "temperature" in described
    assert "5 rows" in totals
    assert "ended" in totals
    assert changes.count("<tr>") == 11, "a heading and ten changes"
    assert "+U" in changes
    assert "highest" in frame
    assert len(_outputs(done, "image/png")) == 1


def test_orders(run: Run) -> None:
    done = run(nbformat.read(_EXAMPLES / "orders.ipynb", as_version=4))
    live, frame = _outputs(done, "text/html")
    assert "1 rows" in live or "2 rows" in live
    assert ">42<" in frame
    assert "Grace" not in frame
    assert "CANCELED" in _outputs(done, "text/plain")[-1]


def test_windows(run: Run) -> None:
    done = run(nbformat.read(_EXAMPLES / "windows.ipynb", as_version=4))
    assert len(_outputs(done, "image/png")) == 1
    plot = _outputs(done, "text/plain")[0]
    assert "30 rows" in plot
    assert "ended" in plot
    assert "9 rows" in _outputs(done, "text/html")[0]


_REFUSED = {
    "%%flinksql\nSELECT 1 AS a;\nSELECT b FROM nowhere": ("cell:2:15: UNKNOWN_TABLE", "^"),
    "%flinksql --plot pie SELECT 1 AS a": ("invalid choice: 'pie'", "%flinksql?"),
    "%%flinksql SHOW TABLES\nSELECT 1 AS a": ("into the lines below",),
    "%flinksql --plot bar SELECT 'x' AS a": ("the values of a plot are numbers",),
    "%flinksql --plot bar --x b SELECT 1 AS a": ("the query has no column `b`",),
    "%flinksql --limit 0 SELECT 1 AS a": ("--limit",),
    "session = 1\n%flinksql SHOW TABLES": ("is no session of streamtable",),
}


def test_errors_are_short(run: Run) -> None:
    done = run(_notebook("%load_ext streamtable", *_REFUSED), allow_errors=True)
    for cell, words in zip(done.cells[1:], _REFUSED.values(), strict=True):
        shown = str(cell.outputs)
        assert all(word in shown for word in words), shown
        assert "Traceback" not in shown


def test_a_select_stops_after_its_time(run: Run) -> None:
    unbounded = "CREATE TABLE t (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');"
    done = run(
        _notebook(
            "%load_ext streamtable",
            f"%%flinksql\n{unbounded}\nSHOW TABLES",
            "%flinksql --seconds 1 SELECT id FROM t",
            "session.close()",
        )
    )
    tables, rows = _outputs(done, "text/html")
    assert "<td" in tables
    assert "stopped" in rows
    assert "OK" in _printed(done)
