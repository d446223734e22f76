"""sqlglot is loaded by the first parse: `streamtable --help` must not wait for its import."""

from __future__ import annotations

import subprocess
import sys


def test_the_package_alone_does_not_load_sqlglot() -> None:
    code = "import sys, streamtable.sql; sys.exit('sqlglot' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
