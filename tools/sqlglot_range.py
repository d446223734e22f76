"""`make test-sqlglot`: run the front end's tests with the oldest and newest sqlglot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import tomllib

from tools.jar_licences import ROOT

_TESTS = [f"tests/unit/{folder}" for folder in ("sql", "catalog", "plan")]


def _ends() -> list[str]:
    """Return the lowest version of `pyproject.toml`'s range, and the version that `test` pins."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (lowest,) = re.findall(r"sqlglot>=([\d.]+)", " ".join(project["dependencies"]))
    (highest,) = re.findall(
        r"sqlglot==([\d.]+)", " ".join(project["optional-dependencies"]["test"])
    )
    return [lowest, highest]


def _main() -> int:
    for version in _ends():
        sys.stdout.write(f"==> sqlglot {version}\n")
        sys.stdout.flush()
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            subprocess.run([*pip, "--target", folder, f"sqlglot=={version}"], check=True)  # noqa: S603
            path = os.pathsep.join((folder, str(ROOT / "src")))
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *_TESTS]
            done = subprocess.run(  # noqa: S603
                command, check=False, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}
            )
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(_main())
