"""`python -m streamtable.demo.warm`: create the archive of Spark's classes by a small demo.

`make setup` runs this module; builds of container images can run it, too.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from streamtable.core.errors import InternalError, StreamtableError
from streamtable.jvm.install.class_archive import archive

_DEMO = (sys.executable, "-m", "streamtable", "demo", "--bounded", "--events", "1000")


def archive_made() -> Path:
    """Return the class data sharing archive, and create it if it does not exist.

    Raises:
        subprocess.CalledProcessError: the demo failed; `stderr` has its message.
    """
    found = archive()
    if not found.exists():
        subprocess.run(  # noqa: S603 - our own interpreter
            _DEMO, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )
    return found


def _main() -> int:
    try:
        made = archive_made()
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        # Everything works without the archive, but a start takes longer.
        sys.stderr.buffer.write(error.stderr)
        sys.stderr.write("cannot create the archive of Spark's classes; starts take longer\n")
        return 0
    sys.stdout.write(f"classes ready: {made.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
