"""Write the checkpoint that later releases must open, or refuse by name, to `state.zip`.

    python -m tests.compat.checkpoints.record

Run it again only if a layout of state has a new version.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.compat.checkpoints.cases import PLACE, SEEN, STORED, cases, plans, rename, tables

from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.runtime.session.spark import start_spark
from streamtable.testing.replay import Replay


def main() -> None:
    settings = SessionSettings()
    settings.set("parallelism.default", Given("1"))
    settings.set("table.local-time-zone", Given("UTC"))
    spark = start_spark(settings.current(), "local[2]")
    first = {name: replace(t, batches=t.batches[:SEEN]) for name, t in tables().items()}
    replay = Replay(spark, first)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = open_checkpoint(folder, plans(replay))
        begin(checkpoint, {})
        checkpoint.close()
        replay.changes_in(cases(), Path(folder))
        rename(Path(folder), folder, PLACE)
        (Path(folder) / "lock").unlink()
        for name in first:
            shutil.rmtree(Path(folder) / name)
        shutil.make_archive(str(STORED.with_suffix("")), "zip", folder)
    spark.stop()


if __name__ == "__main__":
    main()
