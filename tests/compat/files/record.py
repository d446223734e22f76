"""Ask Flink for the times of partitions: `python -m tests.compat.files.record VERSION CLASSPATH`.

CLASSPATH holds the jars of the wheel `apache-flink-libraries`. Writes
`partition-times-flink-VERSION.json`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.compat.asking import ask

HERE = Path(__file__).parent
#: Partition columns, their values, pattern and formatter.
CASES: tuple[tuple[str, str, str | None, str | None], ...] = (
    ("dt", "2026-01-31", None, None),
    ("dt", "2026-1-3", None, None),
    ("dt", "2026-01-31 12:30:00", None, None),
    ("dt", "2026-01-31 1:2:3", None, None),
    ("dt", "2026-01-31 12:30:00.5", None, None),
    ("dt", "2026-01-31 12:30", None, None),
    ("dt", "2026-13-32", None, None),
    ("dt", "2026-02-30", None, None),
    ("dt", "2026-01-31 24:00:00", None, None),
    ("dt", "20260131", None, None),
    ("dt", "20260131", None, "yyyyMMdd"),
    ("dt", "2026013112", None, "yyyyMMddHH"),
    ("dt", "2026-01-31_12:30", None, "yyyy-MM-dd_HH:mm"),
    ("dt", "2026-02-30", None, "yyyy-MM-dd"),
    ("dt", "31 Jan 2026", None, "dd MMM yyyy"),
    ("dt", "2026-01-31", None, "yyyy-MM-dd HH:mm:ss"),
    ("dt", "__DEFAULT_PARTITION__", None, None),
    ("dt", "12026-01-31", None, None),
    ("dt", "2026-01-31T12:30:00", None, None),
    ("dt", "2026-01-31T12:30:00", None, "yyyy-MM-dd'T'HH:mm:ss"),
    ("dt", "2026-01-31", "$DT", None),
    ("dt,hm", "2026-01-31,12:30", "$dt $hm:00", None),
    ("dt,hour", "2026-01-31,7", "$dt $hour:00:00", None),
    ("y,m,d", "2026,1,3", "$y-$m-$d", None),
    ("y,m,d,h", "2026,1,3,4", "$y-$m-$d $h:00:00", None),
    # A name that is a prefix of another name is replaced in the other name, too, if it comes first.
    ("d,dt", "x,2026-01-31", "$dt", None),
    ("dt,d", "2026-01-31,x", "$dt", None),
    ("dt,h", "20260131,7", "$dt$h", "yyyyMMddH"),
    ("dt,h", "2026-01-31,7", "$dt", None),
    ("dt,h", "2026-01-31,7", None, None),
)


def main() -> None:
    """Record Flink's times."""
    version, classpath = sys.argv[1:]
    cases = [
        {"id": number, "keys": keys, "values": values, "pattern": pattern, "formatter": formatter}
        for number, (keys, values, pattern, formatter) in enumerate(CASES)
    ]
    target = HERE / f"partition-times-flink-{version}.json"
    ask(HERE / "PartitionTimes.java", cases, version, classpath, target)


if __name__ == "__main__":
    main()
