"""A YARN cluster on this machine, for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamtable.jvm.install.jars import JarSet
from streamtable.jvm.install.tools import java_tool, pyspark_jars

_HERE = Path(__file__).parent
_YARN = JarSet("yarn", "YARN for tests", "66 MB", _HERE / "ivy.xml")


@contextmanager
def yarn(directory: Path) -> Iterator[Path]:
    """Run a cluster with one node and yield its HADOOP_CONF_DIR. At the end, stop all processes."""
    configuration = directory / "conf"
    configuration.mkdir(parents=True)
    path = os.pathsep.join(map(str, [*_YARN.jars(), pyspark_jars() / "*"]))
    with (directory / "yarn.log").open("w") as log:
        process = subprocess.Popen(
            [
                *(java_tool("java"), "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                *("-cp", path, _HERE / "MiniYarn.java", configuration),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=directory,
        )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        said = list(iter(process.stdout.readline, "ready\n")) if process.poll() is None else []
        assert process.poll() is None, (said, (directory / "yarn.log").read_text()[-2000:])
        yield configuration
    finally:
        process.stdin.close()  # ends the containers too
        try:
            process.wait(60)
        finally:
            process.kill()
            process.wait()
