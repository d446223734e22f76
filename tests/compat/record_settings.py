"""Ask a Flink for its settings: `python record_settings.py VERSION JAR...`.

The jars are those of the wheel `apache-flink-libraries` (`lib`, and `flink-python` and
`flink-sql-client` of `opt`) and the `flink-table-planner.jar` inside its planner loader. Writes
`flink.txt` next to the module of the product that reads this file: key, default and older keys,
separated by tabs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from streamtable.core.settings import flink

HERE = Path(__file__).parent
LIST = Path(flink.__file__).with_suffix(".txt")
_PACKAGE = "org.apache.flink."
#: Classes with options of tables, formats, hints, modules and graphs, which no session has.
_NO_SETTINGS = re.compile(
    r"(formats|connector\.(file|datagen|print|base\.table|blackhole)|table\.(factories|connector"
    r"|sinks|utils|catalog|module|runtime\.arrow)|streaming\.api\.graph\.StreamConfig"
    r"|table\.api\.config\.(LookupJoinHint|VectorSearchRuntime|MLPredictRuntime))|.*Internal\Z"
)
#: Internal keys of Flink, and keys of a reporter or a resource below a name that the user chooses.
_NO_KEYS = re.compile(
    r"\$internal|__|internal\.|<parameter>|enabled\Z|factory\.class\Z|filter\.|interval\Z"
    r"|partition\.fields\.|scope\."
)


def lines(declared: str) -> Iterator[str]:
    """Yield the lines of the list, from the output of `FlinkOptions`."""
    found: dict[str, str] = {}
    for line in declared.splitlines():
        key, default, older, owner = line.split("\t")
        if not (_NO_KEYS.match(key) or _NO_SETTINGS.match(owner.removeprefix(_PACKAGE))):
            found.setdefault(key, f"{key}\t{default}\t{older}".rstrip())
    yield from (found[key] for key in sorted(found))


def main() -> None:
    """Write the list."""
    version, *jars = sys.argv[1:]
    run = subprocess.run(
        ["java", "-cp", ":".join(jars), str(HERE / "FlinkOptions.java"), *jars],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    head = f"# Settings of Flink {version}, written by `tests/compat/record_settings.py`"
    LIST.write_text("\n".join([head, *lines(run.stdout)]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
