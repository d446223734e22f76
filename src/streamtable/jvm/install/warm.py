"""Fetch and compile everything, so that later starts are fast.

`make setup` runs `python -m streamtable.jvm.install.warm`; use it also for images and air-gapped
machines.
"""

from __future__ import annotations

import sys

from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.install.compile import operators_jar
from streamtable.jvm.install.jars import connector_jars


def _main() -> int:
    try:
        sys.stdout.write(f"jars of the connectors ready: {len(connector_jars())}\n")
        sys.stdout.write(f"operators ready: {operators_jar().name}\n")
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
