"""Whether a query of a job writes in micro-batches, as the status of the job tells."""

from __future__ import annotations

import time
from dataclasses import dataclass

from streamtable.core.options import Settings
from streamtable.core.settings import ExecutionMode
from streamtable.jvm.installed_spark import installed_spark
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.query.modes import mode_of
from streamtable.runtime.status.document import FILE, JobState, read_document
from streamtable.runtime.status.found import FoundJob

#: The longest wait for a new status document, in seconds.
_STATUS_S = 15.0

_REAL_TIME = ExecutionMode.REAL_TIME.value


@dataclass(frozen=True)
class InBatches:
    """Tells whether a query writes in micro-batches now; see `settled_commit`."""

    name: str
    sink: Sink
    job: FoundJob
    settings: Settings

    def __call__(self) -> bool:
        """Return whether it does; after the end of a job, whether its last run did."""
        if not self.job.state.lives:
            return self.job.state is not JobState.FAILED or self._reported(0) != _REAL_TIME
        version = installed_spark().version
        wanted = mode_of(self.sink, self.settings, version, bounded=False, rolls_back=True)
        if wanted is ExecutionMode.MICRO_BATCH:
            return True
        if wanted is ExecutionMode.REAL_TIME:
            return False
        return self._reported(time.time()) == ExecutionMode.MICRO_BATCH.value

    def _reported(self, since: float) -> str | None:
        """Return the mode in the first status document after a time; None if there is none."""
        deadline = time.monotonic() + _STATUS_S
        while time.monotonic() < deadline:
            found = read_document(self.job.directory / FILE)
            if found is not None and found.updated >= since:
                mode = found.metrics["queries"].get(self.name, {}).get("mode")
                return None if mode is None else str(mode)
            time.sleep(0.1)
        return None
