"""Program of a job under spark-submit, which needs a file: `streamtable_job.py run job.sql ...`.

`streamtable submit` passes this file to spark-submit. Its arguments are those of `streamtable`.
`--arguments-from FILE`, before them, names a JSON list of further arguments, so that values of
`--var` are on no command line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

#: Folder into which the cluster unpacks the packages of `streamtable submit`.
_PACKAGES = Path("streamtable_packages")


def _use_packages() -> None:
    """Import from the shipped packages, if they are for this Python."""
    if not _PACKAGES.is_dir():
        return
    wanted = (_PACKAGES / "python").read_text(encoding="utf-8").strip()
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if wanted != here:
        sys.exit(
            f"error: streamtable submit has shipped packages for Python {wanted}, but the driver"
            f" runs Python {here} ({sys.executable}): set spark.pyspark.python to a Python {wanted}"
            " of the cluster, or install streamtable there and submit with --installed"
        )
    sys.path.insert(0, str(_PACKAGES.absolute()))


def _main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--arguments-from"]:
        more = json.loads(Path(arguments[1]).read_text(encoding="utf-8"))
        arguments = [*arguments[2:], *more]
    told = os.environ.get("STREAMTABLE_SUBMIT_PID")
    if told:  # `streamtable submit` passes stop signals on to this process
        Path(told).write_text(str(os.getpid()), encoding="utf-8")
    _use_packages()
    from streamtable.cli.main import main

    sys.argv = ["streamtable", *arguments]
    main()


if __name__ == "__main__":
    _main()
