"""Program of `run --prove-every`: one `streamtable prove`, with a low priority.

The first line of its standard input is a JSON list: the arguments of `prove`. When the input ends
later, the job has died, and the program ends with its JVM. It leads a session of its own.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

#: Niceness: on a busy core, Linux gives the process a tenth of the time of the job. With 19, a
#: proof beside a busy job would hardly end.
_NICENESS = 10


def _first_line() -> str:
    """Read the line without a buffer, which a thread could not share at the end of Python."""
    found = b""
    while not found.endswith(b"\n"):
        part = os.read(0, 65_536)
        if not part:
            sys.exit("error: no arguments")
        found += part
    return found.decode()


def _end_with_input() -> None:
    while os.read(0, 1):
        pass
    os.killpg(os.getpgrp(), signal.SIGTERM)


def main() -> None:
    """Run the command."""
    os.nice(_NICENESS)
    arguments = json.loads(_first_line())
    threading.Thread(target=_end_with_input, daemon=True).start()

    from streamtable.cli.main import main as streamtable

    sys.argv = ["streamtable", "prove", *arguments]
    try:
        streamtable()
    finally:
        from streamtable.runtime.session.spark import end_jvm

        end_jvm()


if __name__ == "__main__":
    main()
