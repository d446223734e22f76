"""Repeat the proof of a job while the job runs: `run --prove-every`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.submitted import is_submitted
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.metrics.metrics import ProofState
from streamtable.runtime.provable import check_provable
from streamtable.runtime.repeated_proof.outcome import Outcome
from streamtable.runtime.repeated_proof.process import EndedProcess, ProofProcess
from streamtable.runtime.repeated_proof.schedule import ProofSchedule
from streamtable.runtime.run_queries import JobObserver

#: Interval at which the thread looks at its process and the schedule, in seconds.
_POLL_S = 1.0

_OPTION = "--prove-every"


@dataclass(frozen=True)
class ProofOptions:
    """How a job repeats its proof.

    Attributes:
        every: shortest time between the starts of two proofs.
        share: limit of their CPU time, as a share of the machine's, 0 to 1.
        memory: heap of Spark in the process of a proof, in Spark's syntax.
        command: program that runs `prove` with the arguments that it reads (`ProofProcess`).
        arguments: the script and its settings, as arguments of `prove`.
    """

    every: timedelta
    share: float
    memory: str
    command: Sequence[str]
    arguments: Sequence[str]

    def line(self, directory: CheckpointPath, queries: Sequence[str]) -> list[str]:
        """Return the arguments of `prove` for queries of a checkpoint."""
        return [
            *self.arguments,
            *("--checkpoint", str(directory), "--since", "last", "--json"),
            *("--master", "local[1]", "--set", f"spark.driver.memory={self.memory}"),
            *(word for query in queries for word in ("--table", query)),
        ]


@contextmanager
def repeated_proofs(
    plans: Mapping[str, Sink],
    options: ProofOptions | None,
    directory: CheckpointPath,
    functions: Sequence[UserFunction],
    notice: Notice,
    observer: JobObserver,
    *,
    temporary: bool,
    bounded: bool,
) -> Iterator[None]:
    """Prove the queries of a job again and again while the block runs, in a process of its own.

    Args:
        plans: by the names of the queries.
        options: None for no proofs.
        directory: checkpoint directory.
        functions: the user's Python functions.
        notice: takes one line for the user.
        observer: its metrics get the results.
        temporary: whether the checkpoint is deleted at the end.
        bounded: whether the run ends with its input.

    Raises:
        StreamtableError: OPTION_CONFLICT or NOT_YET if the job cannot be proved.
    """
    if options is None:
        yield
        return
    _check_job(temporary=temporary, bounded=bounded)
    queries = _provable(plans, functions, notice)
    proofs = _Proofs(options, options.line(directory, queries), queries, observer, notice)
    proofs.thread.start()
    try:
        yield
    finally:
        proofs.ended.set()
        proofs.thread.join()


def _check_job(*, temporary: bool, bounded: bool) -> None:
    if is_submitted():
        raise StreamtableError(Condition.NOT_YET, what=f"'{_OPTION}' in a job of spark-submit")
    if temporary:
        reason = f"'{_OPTION}' reads the checkpoint of the job"
        raise StreamtableError(Condition.OPTION_CONFLICT, reason=reason, hint="add --checkpoint")
    if bounded:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            reason=f"'{_OPTION}' is for jobs without an end",
            hint="run `streamtable prove` after a bounded job",
        )


def _provable(
    plans: Mapping[str, Sink],
    functions: Sequence[UserFunction],
    notice: Notice,
) -> list[str]:
    """Return the queries that can be proved, and report the others."""
    found, refused = [], []
    for name, sink in plans.items():
        try:
            check_provable(sink, functions)
            found.append(name)
        except StreamtableError as error:
            refused.append(f"{name}: {error.message}")
    if not found:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            reason=f"'{_OPTION}' needs a query that can be proved: {'; '.join(refused)}",
        )
    for line in refused:
        notice(f"not proved: {line}")
    return found


class _Proofs:
    """Starts one proof after the other from a thread of its own."""

    def __init__(
        self,
        options: ProofOptions,
        arguments: Sequence[str],
        queries: Sequence[str],
        observer: JobObserver,
        notice: Notice,
    ) -> None:
        self._command = options.command
        self._arguments = arguments
        self._queries = queries
        self._observer = observer
        self._notice = notice
        self._schedule = ProofSchedule(
            options.every.total_seconds(), options.share, os.cpu_count() or 1, time.monotonic()
        )
        self._states: dict[str, ProofState] = {}
        self._reported: set[str] = set()
        self._began = 0.0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, name="streamtable-proofs", daemon=True)

    def _run(self) -> None:
        process: ProofProcess | None = None
        try:
            while not (self.ended.wait(_POLL_S) or self._observer.stop.is_set()):
                if process is None:
                    process = self._start() if self._is_due() else None
                elif (ended := process.poll()) is not None:
                    process = None
                    self._schedule.end(ended.cpu_s)
                    self._take(ended)
        finally:
            if process is not None:
                process.stop()

    def _is_due(self) -> bool:
        """Whether the next proof starts now: a query without a batch has nothing to prove."""
        if time.monotonic() < self._schedule.next_s:
            return False
        running = self._observer.metrics.values()["queries"]
        return all(query in running for query in self._queries)

    def _start(self) -> ProofProcess | None:
        self._schedule.start(time.monotonic())
        self._began = time.time()
        try:
            return ProofProcess(self._command, self._arguments)
        except OSError as error:
            self._take(EndedProcess(1, "", f"error: {error}", 0.0))
            return None

    def _take(self, ended: EndedProcess) -> None:
        """Update the metrics, and report differences and new reasons of failures."""
        outcome = Outcome.of(ended, self._queries)
        self._states.update(outcome.states(dict(self._states), self._began))
        self._observer.metrics.take_proofs(self._states)
        for difference in outcome.differences():
            self._notice(str(difference))
        if outcome.reason is not None and outcome.reason not in self._reported:
            self._reported.add(outcome.reason)
            failed = StreamtableError(
                Condition.PROOF_FAILED, queries=", ".join(outcome.failed), reason=outcome.reason
            )
            self._notice(str(failed))
