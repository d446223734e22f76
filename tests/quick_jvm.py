"""Java options with which Spark starts quickly in tests.

Hundreds of short-lived JVMs make a run of the suite, so that compiling well costs more than it
gives, and so does reading Spark's classes out of 200 MB of jars each time: they come out of an
archive (class data sharing), made once per Java and PySpark.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pyspark

from streamtable.jvm.cache import cache_dir
from streamtable.jvm.tools import java_tool

#: Spark's own variable for options of a driver's JVM.
VARIABLE = "SPARK_SUBMIT_OPTS"

#: Logs go nowhere: what the JVM thinks of an archive would stand on standard output.
_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"

#: How many archives, of 180 MB each, stay in the cache.
_KEPT = 3

_LOADS_CLASSES = """
from pyspark import SparkContext
from streamtable.core.settings import SessionSettings
from streamtable.runtime.spark import start_spark
from streamtable.testing.histories import Change
from streamtable.testing.planned import planned, sink
from streamtable.testing.replay import Case, Replay
from streamtable.testing.replayed import Replayed, Style

spark = start_spark(SessionSettings().current(), "local[2]")
tables = {"a": Replayed(Style.UPSERT, "k INT, v INT", [[Change(1, {"v": 1})]])}
query = "SELECT v, COUNT(*) FROM a GROUP BY v"
fields = [column.field for column in planned(query, tables).columns]
Replay(spark, tables).changes([Case(sink(fields, (0,)), query, query, (0,))])
spark.stop()
jvm = SparkContext._gateway.proc
jvm.stdin.close()
jvm.wait()  # it writes the archive when it ends
"""


def options() -> str:
    """The options; makes the archive where there is none yet, which takes some ten seconds."""
    archive = cache_dir() / "tests" / f"spark-{_key()}.jsa"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        draft = archive.with_suffix(f".{os.getpid()}")
        making = {VARIABLE: f"{_QUICK} -XX:ArchiveClassesAtExit={draft}"}
        subprocess.run(
            [sys.executable, "-c", _LOADS_CLASSES],
            check=True,
            env={**os.environ, **making},
            stdin=subprocess.DEVNULL,
        )
        draft.replace(archive)
        ages = sorted(archive.parent.glob("spark-*.jsa"), key=lambda path: path.stat().st_mtime)
        for old in ages[:-_KEPT]:
            old.unlink(missing_ok=True)
    return f"{_QUICK} -XX:SharedArchiveFile={archive}"


def _key() -> str:
    """An archive is good for one Java and the very jars that it was made of."""
    home = Path(pyspark.__file__).parent
    parts = [Path(java_tool("java")).resolve(), home]
    text = "\n".join(f"{path} {path.stat().st_mtime_ns}" for path in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
