"""State size of each kind of query: after a history, after ten times as much, after deletes.

python -m benchmarks.state

Both histories end with the same live rows. The table shows the number of entries, and the bytes of
keys and values as Spark would store them. The operators run in memory (see
`streamtable.testing.operator_harness`).
"""

from __future__ import annotations

from tests.integration.differential.state.test_state_left import cases, tables

from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.session.spark import start_spark
from streamtable.testing.replay import Replay

_SHORT, _LONG = 1_000, 10_000


def main() -> None:
    """Print the table."""
    settings = SessionSettings()
    settings.set("parallelism.default", Given("1"))
    spark = start_spark(settings.current(), "local[2]")
    histories = (tables(_SHORT), tables(_LONG), tables(_SHORT, deleted=True))
    print(f"| Query | {_SHORT:,} changes | {_LONG:,} changes | all rows deleted |")
    print("|---|---|---|---|")
    for case in cases():
        sizes = [Replay(spark, history).state_size([case]) for history in histories]
        shown = " | ".join(f"{rows} entries, {size:,} bytes" for rows, size in sizes)
        print(f"| `{case.flink}` | {shown} |", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
