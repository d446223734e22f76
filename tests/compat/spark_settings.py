"""`python -m tests.compat.spark_settings`: write the settings of the installed Spark to the list.

The keys of other versions stay. A key that only one version knows is followed by this version. Run
the module with each supported version of PySpark.

The keys come from two places. A running Spark returns the entries that its configuration objects
declare. Settings that its code reads only by name are string constants of its classes. Some of
these constants are not settings, which does no harm: the list is used to find misspelt keys.
"""

from __future__ import annotations

import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from streamtable.core.settings import spark as settings_of_spark
from streamtable.jvm.install.installed_spark import SPARK_MINORS, minor_of
from streamtable.jvm.install.jars import connector_jars

LIST = Path(settings_of_spark.__file__).with_suffix(".txt")
_KEY = re.compile(r"spark\.[A-Za-z][\w-]*(\.[A-Za-z][\w-]*)*\Z")
_DECLARES = re.compile(
    r"org/apache/spark/(internal/config/(Deploy|History|Kryo|Network|Python|R|Status|Streaming"
    r"|Tests|UI|Worker|package)|sql/internal/(SQLConf|StaticSQLConf)|sql/connect/config/Connect"
    r"|sql/kafka010/package|deploy/k8s/Config|deploy/yarn/config/package"
    r"|streaming/StreamingConf)\$\.class"
)
_ROCKSDB = "org/apache/spark/sql/execution/streaming/state/RocksDBConf"
#: Tag of a constant -> bytes after the tag. Texts store their length; tags 5 and 6 count as two.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4}
_TEXT, _LONG, _DOUBLE = 1, 5, 6


def keys(spark: SparkSession) -> list[str]:
    """Return all keys, sorted."""
    jars = sorted((Path(pyspark.__file__).parent / "jars").glob("spark-*.jar"))
    jars += [jar for jar in connector_jars() if "spark" in jar.name]
    found: set[str] = set()
    declaring: list[str] = []
    rocksdb: set[str] = set()
    for jar in jars:
        with zipfile.ZipFile(jar) as classes:
            for name in classes.namelist():
                if not name.endswith(".class"):
                    continue
                texts = set(_texts(classes.read(name)))
                found |= {text for text in texts if _KEY.match(text)}
                if _DECLARES.fullmatch(name):
                    declaring.append(name.removesuffix(".class").replace("/", "."))
                if name.startswith(_ROCKSDB):
                    rocksdb |= texts
    found |= _declared(spark, declaring)
    found |= _of_rocksdb(spark, rocksdb)
    return sorted(found)


def _texts(data: bytes) -> Iterator[str]:
    """Yield the string constants of a class file."""
    (count,) = struct.unpack(">H", data[8:10])
    place, number = 10, 1
    while number < count:
        tag = data[place]
        if tag == _TEXT:
            (length,) = struct.unpack(">H", data[place + 1 : place + 3])
            yield data[place + 3 : place + 3 + length].decode("utf-8", "replace")
            place += 3 + length
        else:
            place += 1 + _SIZES.get(tag, 2)
        number += 2 if tag in (_LONG, _DOUBLE) else 1


def _module(spark: SparkSession, name: str) -> Any:
    """Return a Scala object."""
    assert spark._jvm is not None
    java = spark._jvm.java.lang
    loader = java.Thread.currentThread().getContextClassLoader()
    return java.Class.forName(name, True, loader).getField("MODULE$").get(None)


def _declared(spark: SparkSession, declaring: list[str]) -> set[str]:
    """Return the keys of all declared entries, with their older names."""
    for name in declaring:
        _module(spark, name)
    entries = _module(spark, "org.apache.spark.internal.config.ConfigEntry$").knownConfigs()
    found = set(entries.keySet())
    for entry in entries.values():
        older = entry.alternatives().iterator()
        while older.hasNext():
            found.add(older.next())
    return found


def _of_rocksdb(spark: SparkSession, texts: set[str]) -> set[str]:
    """Return RocksDB's keys, which Spark declares separately and stores in lower case."""
    conf = _module(spark, "org.apache.spark.sql.execution.streaming.state.RocksDBConf$")
    prefix = f"{conf.ROCKSDB_SQL_CONF_NAME_PREFIX()}."
    spelled = {text.lower(): text for text in sorted(texts)}
    found = set()
    for field in conf.getClass().getDeclaredFields():
        if field.getType().getName().endswith("ConfEntry"):
            field.setAccessible(True)
            name = field.get(conf).fullName()[len(prefix) :]
            found.add(prefix + spelled.get(name, name))
    return found


def listed(text: str, minor: str) -> set[str]:
    """Return the keys of one minor version, from the text of the list."""
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {key for key, *only in lines if only in ([], [minor])}


def merged(before: str, keys: list[str], minor: str) -> list[str]:
    """Return the lines of the list, with the keys of one minor version replaced."""
    known = {other: listed(before, other) for other in SPARK_MINORS} | {minor: set(keys)}
    head = (
        f"# Settings of Spark {' and '.join(SPARK_MINORS)}, written by"
        " `python -m tests.compat.spark_settings`"
    )
    lines = [head]
    for key in sorted(set().union(*known.values())):
        minors = [other for other in SPARK_MINORS if key in known[other]]
        lines.append(key if len(minors) == len(SPARK_MINORS) else " ".join([key, *minors]))
    return lines


def main() -> None:
    """Write the list."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    jars = ",".join(map(str, connector_jars()))
    spark = builder.config("spark.jars", jars).getOrCreate()
    lines = merged(LIST.read_text(encoding="utf-8"), keys(spark), minor_of(spark.version))
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spark.stop()
    sys.stdout.write(f"{LIST}\n")


if __name__ == "__main__":
    main()
