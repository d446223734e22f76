"""Jobs of joins that start again, with another number of state partitions."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from streamtable.jvm.bridge import Bridge
from streamtable.jvm.streaming.state_partitions import repartition
from streamtable.runtime.checkpoint.rescale import open_rescale
from streamtable.testing.jobs import BoundedRun

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession


class JoinJob:
    """Runs of a script with one INSERT, which has a join.

    Attributes:
        run: runs the script; each run is a restart.
    """

    def __init__(
        self, spark: SparkSession, script: str, folder: Path, variables: Mapping[str, str]
    ) -> None:
        self._spark, self._folder = spark, folder
        self.run = BoundedRun(spark, script, folder, variables)

    def rescale(self, partitions: int) -> None:
        """Give the state another number of partitions."""
        with open_rescale(str(self._folder), partitions, self.run.notices.append) as rescale:
            rescale.run(partial(repartition, Bridge(self._spark)), self.run.notices.append)

    @property
    def state(self) -> tuple[list[Any], int]:
        """The state of the query in the manifest, and the layout of the manifest."""
        manifest = json.loads((self._folder / "streamtable.json").read_text())
        (query,) = manifest["queries"].values()
        return query["state"], manifest["layout"]
