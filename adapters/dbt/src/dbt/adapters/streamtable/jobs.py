"""Jobs: one process of `streamtable run` per model, which outlives the dbt command."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.streamtable.refusals import fail
from dbt_common.exceptions import DbtRuntimeError

from streamtable.core.errors import StreamtableError
from streamtable.core.secrets import without_secrets
from streamtable.runtime.status.document import JobState
from streamtable.runtime.status.found import FoundJob, job_at
from streamtable.runtime.status.stop import stop_job

_POLL_S = 0.2
_SHOWN_LINES = 12


@dataclass(frozen=True)
class ModelJob:
    """The job of a model.

    Attributes:
        name: name of the model's relation.
        script: file with the script; written by `run_to_end` and `keep_running`.
        log: file to which the job writes its output.
        checkpoint: directory of the checkpoint.
        started: copy of the script with which the job was last started, beside the checkpoint.
        variables: environment variables of the job.
        timeout: longest wait for a start or a stop, in seconds.
    """

    name: str
    script: Path
    log: Path
    checkpoint: Path
    started: Path
    variables: Mapping[str, str]
    timeout: float

    def keep_running(self, text: str) -> str:
        """Leave the job alone if it runs with this script; otherwise start it with the script.

        A running job with another script is stopped first. If the new script is refused, the job
        is started again with the old one.

        Returns:
            What was done, for dbt's line of the model.

        Raises:
            DbtRuntimeError: the job does not start, with the end of its log.
        """
        self._write(text)
        found = self._running()
        if found is None:
            started = self._start(self.script)
            self._note(text)
            return f"JOB STARTED, {started}"
        before = self._before()
        if before == text:
            return f"JOB RUNS, pid {found.holder}"
        self._stop(found)
        try:
            started = self._start(self.script)
        except DbtRuntimeError as error:
            if before is None:
                raise
            text = f"{error.msg}\n{self._back()}"
            raise DbtRuntimeError(text) from error
        self._note(text)
        return f"JOB RESTARTED, {started}"

    def run_to_end(self, text: str) -> str:
        """Run the script up to the current ends of its topics; a running job is stopped first.

        Raises:
            DbtRuntimeError: the job fails, with the end of its log.
        """
        self._write(text)
        found = self._running()
        if found is not None:
            self._stop(found)
        process, begin = self._process(self.script, "--bounded", detached=False)
        if process.wait() != 0:
            raise self._error(begin, "failed")
        self._note(text)
        return "JOB FINISHED"

    def _write(self, text: str) -> None:
        self.script.parent.mkdir(parents=True, exist_ok=True)
        self.started.parent.mkdir(parents=True, exist_ok=True)
        self.script.write_text(text, encoding="utf-8")

    def _note(self, text: str) -> None:
        self.started.write_text(text, encoding="utf-8")

    def _before(self) -> str | None:
        try:
            return self.started.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _running(self) -> FoundJob | None:
        found = job_at(self.checkpoint) if self.checkpoint.is_dir() else None
        if found is not None and found.state is JobState.IN_USE:
            hint = "end that process, if it is the job"
            fail(f"checkpoint {self.checkpoint} of {self.name}: {found.note}", hint)
        return found if found is not None and found.state.lives else None

    def _stop(self, found: FoundJob) -> None:
        try:
            outcome = stop_job(found, self.timeout)
        except StreamtableError as error:
            raise DbtRuntimeError(str(error)) from error
        if not outcome.clean:
            hint = f"look into {self.log}, and run dbt again"
            fail(f"job {self.name} failed while it stopped", hint)

    def _back(self) -> str:
        try:
            started = self._start(self.started)
        except DbtRuntimeError as error:
            return f"The old script does not start either: {error.msg}"
        return f"The job runs on with its old script, {started}."

    def _start(self, script: Path) -> str:
        """Start the job, and return its pid as text once its queries run."""
        process, begin = self._process(script, detached=True)
        limit = time.monotonic() + self.timeout
        while time.monotonic() < limit:
            code = process.poll()
            if code == 0:
                return "at its end"  # all of its tables are bounded
            if code is not None:
                raise self._error(begin, "does not start")
            found = job_at(self.checkpoint) if self.checkpoint.is_dir() else None
            started = found is not None and found.state is JobState.RUNNING
            if found is not None and started and found.holder == process.pid:
                return f"pid {process.pid}"
            time.sleep(_POLL_S)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(self.timeout)
        late = f"did not start within {self.timeout:g} s (`start_timeout`) and was ended"
        raise self._error(begin, late)

    def _process(
        self, script: Path, *options: str, detached: bool
    ) -> tuple[subprocess.Popen[bytes], int]:
        """Start a process.

        Args:
            script: the script that it runs.
            options: more options of `streamtable run`.
            detached: whether Ctrl-C at dbt does not reach it.

        Returns:
            The process, and the size of the log before it.
        """
        command = [sys.executable, "-m", "streamtable", "run", str(script)]
        command += ["--checkpoint", str(self.checkpoint), *options]
        with self.log.open("ab") as log:
            begin = log.tell()
            process = subprocess.Popen(  # noqa: S603 - streamtable itself
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.variables},
                start_new_session=detached,
            )
        return process, begin

    def _error(self, begin: int, what: str) -> DbtRuntimeError:
        """Return an error with the end of what the job has logged."""
        with self.log.open("rb") as log:
            log.seek(begin)
            lines = log.read().decode(errors="replace").splitlines()
        shown = [f"  {line}" for line in lines if line.strip()][-_SHOWN_LINES:]
        text = "\n".join([f"job {self.name} {what}; the end of {self.log}:", *shown])
        if "CHECKPOINT_MISMATCH" in text:
            text = f"{text}\n{self.way_out('The checkpoint belongs to another query')}"
        return DbtRuntimeError(without_secrets(text))

    def way_out(self, reason: str) -> str:
        """Return what to do if a model cannot continue its checkpoint."""
        return (
            f"{reason}. Give the changed model another name, such as"
            f" `alias: {self.name}_v2` or a new dbt version: it has a checkpoint and a topic of its"
            " own. To keep the name: `streamtable stop"
            f" {self.checkpoint}`, `rm -r {self.checkpoint}`, then `dbt run`; the topic keeps the"
            " keys that the new query does not write (docs/how-to/repair-keys.md)."
        )
