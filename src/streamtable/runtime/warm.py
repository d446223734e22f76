"""`python -m streamtable.runtime.warm`: create the class data sharing archive for Spark's start.

`make setup` runs this module; builds of container images can run it, too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext

from streamtable.core.errors import InternalError, StreamtableError
from streamtable.core.settings import SETTINGS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.class_archive import make
from streamtable.jvm.specs.aggregate import GroupAggregateOperator
from streamtable.jvm.specs.operator import Aggregation
from streamtable.runtime.session.spark import start_spark

_LOAD = "--load"


def _load() -> None:
    """Load the Spark classes that a stateful job needs, by running a small job to its end."""
    spark = start_spark(SETTINGS.read({}, "warm"), "local[2]")
    with tempfile.TemporaryDirectory(prefix="streamtable-") as scratch:
        source = Path(scratch) / "in"
        source.mkdir()
        (source / "rows.txt").write_text("a\nb\na\n", encoding="utf-8")
        rows = spark.readStream.text(str(source))
        counted = Bridge(spark).operator(
            rows.selectExpr("CAST(0 AS TINYINT) AS kind", "value"),
            GroupAggregateOperator(
                keys=["value"],
                calls=[Aggregation("COUNT", -1, -1, False, "BIGINT", "BIGINT")],
                retracting=False,
                before=False,
                bitmaps=True,
                fold=True,
                order=[],
                ttl=0,
                output_ddl="kind TINYINT, value STRING, n BIGINT",
            ),
        )
        writer = counted.writeStream.format("noop").outputMode("update").trigger(availableNow=True)
        writer.option("checkpointLocation", f"{scratch}/checkpoint").start().awaitTermination()
    jvm = SparkContext._gateway.proc  # type: ignore[union-attr] # noqa: SLF001 - no public way
    spark.stop()
    jvm.stdin.close()
    jvm.wait()  # the JVM writes the archive when it ends


def archive_made() -> Path:
    """Return the class data sharing archive, and create it if it does not exist.

    Raises:
        subprocess.CalledProcessError: the archive cannot be created.
    """
    return make([sys.executable, "-m", "streamtable.runtime.warm", _LOAD])


def _main() -> int:
    if _LOAD in sys.argv:
        _load()
        return 0
    try:
        made = archive_made()
    except (StreamtableError, InternalError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except subprocess.CalledProcessError:
        # Everything works without the archive, but a start takes longer.
        sys.stderr.write("cannot create the archive of Spark's classes; starts take longer\n")
        return 0
    sys.stdout.write(f"classes ready: {made.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
