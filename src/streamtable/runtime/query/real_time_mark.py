"""The file `real-time` of a query's checkpoint: the sink may have rows after the newest commit.

Real-time mode writes rows before it plans their batch. `streamtable prove` reads the file, perhaps
on another machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from streamtable.connector_api.source import Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.execution import ExecutionMode
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.storage.whole_files import write_file
from streamtable.runtime.metrics.lag import all_ends
from streamtable.runtime.query.modes import Extent
from streamtable.runtime.query.query_run import QueryRun
from streamtable.runtime.query.query_state import State

_FILE = "real-time"

_POLL_S = 0.05


def is_marked(directory: CheckpointPath) -> bool:
    """Whether the sink of a query may have rows of real-time mode after the newest commit."""
    return (directory / _FILE).exists()


@dataclass
class RealTimeMark:
    """The file of one query.

    Attributes:
        plan: the query.
        directory: the query's checkpoint directory.
        bridge: the JVM side.
    """

    plan: Sink
    directory: CheckpointPath
    bridge: Bridge
    #: Whether the file exists; None before this process has looked.
    _exists: bool | None = field(default=None, init=False)
    #: Ends of the sources when real-time mode had ended.
    _ends: Mapping[Split, int] = field(default_factory=dict, init=False)

    def before_start(self, mode: ExecutionMode) -> None:
        """Create the file before real-time mode; else read up to where real-time mode has been.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE if the file cannot be written; CHECKPOINT_LOST.
        """
        if self._exists is None:
            self._exists = is_marked(self.directory)
        if mode is not ExecutionMode.REAL_TIME:
            self._ends = all_ends(self.plan, self.bridge) if self._exists else {}
        elif not self._exists:
            self.directory.mkdir(exist_ok=True)
            write_file(self.directory / _FILE, "")
            self._exists = True

    def update(self, run: QueryRun, state: State, *, ended: bool) -> None:
        """Remove the file if the commits of micro-batches cover all that real-time mode has read.

        Args:
            run: the current run.
            state: the query's state.
            ended: whether the run has ended by itself.
        """
        if not self._exists or state.mode is ExecutionMode.REAL_TIME:
            return
        covered = ended and state.extent is Extent.AVAILABLE
        if covered or (self._ends and run.has_read(self._ends, self.plan, self.bridge)):
            (self.directory / _FILE).unlink(missing_ok=True)
            self._exists = False

    def settle(self, run: QueryRun, state: State, deadline: float) -> None:
        """Wait until the run that commits the work of real-time mode has done so, or has failed.

        The deadline is a time of `time.monotonic`.
        """
        if not self._exists:
            # A stop follows the end of a batch at once, before the query plans the next one.
            return
        with suppress(StreamtableError):
            self.update(run, state, ended=run.has_ended())
            while self._exists and state is State.COMMITTING and time.monotonic() < deadline:
                time.sleep(_POLL_S)
                self.update(run, state, ended=run.has_ended())
