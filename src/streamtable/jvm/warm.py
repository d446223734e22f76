"""`python -m streamtable.jvm.warm`: fetch and compile everything now, so that nothing waits later.

`make setup` runs it; images and air-gapped machines can.
"""

from __future__ import annotations

import sys

from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.compile import operators_jar
from streamtable.jvm.jars import broker_jars, connector_jars


def _main() -> int:
    try:
        kafka = len(connector_jars()), len(broker_jars())
        sys.stdout.write(f"jars ready: connector {kafka[0]}, broker {kafka[1]}\n")
        sys.stdout.write(f"operators ready: {operators_jar().name}\n")
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
