"""The package in `examples` is built, installed into an environment of its own, and run."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "connector-package"


def _run(*command: str | Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with the package and all packages of this one."""
    root = tmp_path_factory.mktemp("package")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    _run(*pip, "wheel", *offline, "--wheel-dir", root / "wheels", EXAMPLE)
    (wheel,) = (root / "wheels").glob("streamtable_lines-*.whl")
    venv = root / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", venv)
    interpreter = venv / "bin" / "python"
    (purelib,) = venv.glob("lib/python*/site-packages")
    here = sysconfig.get_path("purelib")
    # The path alone is not enough: streamtable may be in this environment by a .pth file.
    (purelib / "this.pth").write_text(f"import site; site.addsitedir({here!r})\n")
    _run(*pip, "--python", interpreter, "install", "--no-deps", "--no-index", wheel)
    return interpreter


def test_a_script_with_a_packaged_connector_and_format(python: Path, tmp_path: Path) -> None:
    (tmp_path / "a.psv").write_text("north|3\nsouth|4\n")
    (tmp_path / "b.psv").write_text("north|5\nsouth|?\n")
    script = EXAMPLE / "visits.sql"
    arguments = ("run", script, "--var", f"directory={tmp_path}", "--bounded")
    printed = _run(python, "-m", "streamtable", *arguments)
    lines = [line.rpartition("> ")[2] for line in printed.splitlines() if "[" in line]
    assert sorted(lines) == ["+I[north, 8]", "+I[south, 4]"]


def test_options_of_the_packaged_connector_are_listed(python: Path) -> None:
    found = _run(python, "-m", "streamtable", "options", "lines")
    assert "directory" in found
    found = _run(python, "-m", "streamtable", "options", "psv")
    assert "null-literal" in found


def test_without_the_package_the_connector_is_unknown(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        "CREATE TABLE t (a INT) WITH ('connector' = 'lines', 'directory' = 'x', 'format' = 'psv');"
        "CREATE TABLE p (a INT) WITH ('connector' = 'print'); INSERT INTO p SELECT * FROM t;"
    )
    command = [sys.executable, "-m", "streamtable", "validate", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=dict(os.environ)
    )
    assert done.returncode != 0
    assert "UNKNOWN_CONNECTOR" in done.stderr
