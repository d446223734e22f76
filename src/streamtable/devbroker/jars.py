"""Jars of the development servers: a Kafka broker and a schema registry.

`python -m streamtable.devbroker.jars` fetches those of the broker; `make setup` runs it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from streamtable.core.errors import StreamtableError
from streamtable.jvm.install.jars import JarSet

_BROKER = JarSet("broker", "Kafka's broker", "46 jars, 44 MB", wheel="streamtable[broker]")
_REGISTRY = JarSet(
    "registry",
    "a schema registry",
    "104 MB",
    Path(__file__).with_name("ivy-registry.xml"),
    archive=True,
)


def broker_jars() -> list[Path]:
    """Return the class path of a Kafka broker; fetch it on first use.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return _BROKER.jars()


def registry_home() -> Path:
    """Return the unpacked folder of a schema registry; fetch it on first use.

    Raises:
        StreamtableError: JAVA_MISSING, RESOURCE_UNAVAILABLE, FILE_UNREADABLE.
    """
    return _REGISTRY.folder()


def _main() -> int:
    try:
        sys.stdout.write(f"jars of the broker ready: {len(broker_jars())}\n")
    except StreamtableError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
