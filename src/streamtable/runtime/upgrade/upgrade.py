"""Upgrade the checkpoint of a stopped job to a changed script.

A changed query is rebuilt: the new query reads its input again in a *shadow run*, from where the
first run of the old query began to where its last run stopped, in a directory of its own and
without writing. Then its rows are compared with the sink, and the records that differ are written.
At last the manifest names the new directory, with which the next run continues. The old directory
is kept.

`upgrade.json` marks a checkpoint from the first step to the last. A job does not start on a marked
checkpoint, and the same command continues an interrupted upgrade.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import MANIFEST
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.session_settings import python_files
from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign, query_names
from streamtable.runtime.checkpoint.checkpoint import (
    check_not_rescaling,
    check_not_upgrading,
    check_same_job,
)
from streamtable.runtime.checkpoint.local_folder import local_folder
from streamtable.runtime.checkpoint.lock import Lock, taken
from streamtable.runtime.checkpoint.manifest import Manifest
from streamtable.runtime.checkpoint.manifest_file import read_manifest
from streamtable.runtime.checkpoint.moved import adopt
from streamtable.runtime.checkpoint.remote import is_remote
from streamtable.runtime.checkpoint.torn_files import check_whole
from streamtable.runtime.session.sessions import job_spark
from streamtable.runtime.session.spark import set_up_state
from streamtable.runtime.session.user_functions import register
from streamtable.runtime.status.found import FoundJob, job_at
from streamtable.runtime.status.stop import stop_job
from streamtable.runtime.stop_signals import stop_signals
from streamtable.runtime.upgrade.decisions import line_of, unchanged
from streamtable.runtime.upgrade.mark import Mark
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.rebuild import Rebuild
from streamtable.runtime.upgrade.rollback import UpgradeRollback

#: Longest wait for the end of the running job, in seconds.
_STOP_S = 120.0


def upgrade_job(
    plans: Sequence[Sink],
    settings: Settings,
    options: UpgradeOptions,
    say: Callable[[str], None],
    notice: Notice,
    functions: Sequence[UserFunction] = (),
    spark: SparkSession | None = None,
) -> None:
    """Upgrade a checkpoint to a script.

    Args:
        plans: one per INSERT.
        settings: the session's settings.
        options: options of the upgrade.
        say: takes one line of the result.
        notice: takes one line about the progress.
        functions: the user's functions that plans may call.
        spark: an existing session; None starts a session and stops it at the end.

    Raises:
        StreamtableError: CHECKPOINT_NOT_UPGRADED, an error of the checkpoint, a source or a sink,
            or of a query.
    """
    path = _local(options.checkpoint)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_signals())
        job = job_at(path) if options.stop_job else None
        running = job if job is not None and job.state.lives else None
        lock = None if running else _locked(options.checkpoint, stack)
        if options.rollback:
            assert lock is not None, "excluded by the command line"  # noqa: S101
            back = UpgradeRollback(path, plans)
            for line in back.described():
                say(line)
            if not options.plan:
                context = upgrade_context(
                    path, settings, options, notice, functions, spark, stop, stack
                )
                back.run(context, stop, say, notice)
            return
        queries, manifest = _compared(path, plans, options)
        for decision in unchanged(queries):
            say(line_of(decision))
        mark = Mark.read(path)
        _check_mark(mark, path, options)
        if not queries.changed and mark is None:
            return
        context = upgrade_context(path, settings, options, notice, functions, spark, stop, stack)
        rebuild = Rebuild(path, options, queries, manifest, context, say, notice, stop)
        if mark is not None:
            rebuild.check_same(mark)
        else:
            mark = rebuild.decided()
        if mark is None:
            return
        begun = None
        if running is not None:
            rebuild.catch_up(mark)
            begun = time.monotonic()
            notice(f"stops the job {running.name}")
            _stop(running)
            lock = _locked(options.checkpoint, stack)
            rebuild.move_ends(mark)
        assert lock is not None, "taken before or after the job has ended"  # noqa: S101
        for name in queries.plans:
            folder = path / queries.directory_of(name)
            check_whole(folder, notice)
            adopt(folder)
        rebuild.finish(mark, lock)
        if begun is not None:
            say(f"the topics were not written for {time.monotonic() - begun:.1f} s so far")


def upgrade_context(
    path: Path,
    settings: Settings,
    options: UpgradeOptions,
    notice: Notice,
    functions: Sequence[UserFunction],
    spark: SparkSession | None,
    stop: threading.Event,
    stack: ExitStack,
) -> LoweringContext:
    """Start Spark, until the stack is closed."""
    job = stack.enter_context(
        job_spark(settings, options.master, spark, stop, notice, verbose=options.verbose)
    )
    job.settle()
    register(functions, python_files(settings), job.session)
    set_up_state(job.session, settings)
    bridge = Bridge(job.session)
    return LoweringContext(
        job.session, bridge, settings, bounded=True, patient=False, directory=path
    )


def _check_mark(mark: Mark | None, path: Path, options: UpgradeOptions) -> None:
    """Refuse a checkpoint in which another command was interrupted."""
    if mark is not None and mark.rollback:
        raise StreamtableError(
            Condition.CHECKPOINT_NOT_UPGRADED,
            checkpoint=options.checkpoint,
            reason="a rollback was interrupted",
            hint="complete it with --rollback and the script of before",
        )
    if mark is not None and mark.adopts is not None:
        check_not_upgrading(path, options.checkpoint)


def _locked(directory: str, stack: ExitStack) -> Lock:
    _, lock = taken(directory, None)
    stack.callback(lock.close)
    return lock


def _compared(
    path: Path, plans: Sequence[Sink], options: UpgradeOptions
) -> tuple[Assignment, Manifest]:
    """Compare the script with the checkpoint."""
    manifest = read_manifest(path, options.checkpoint)
    assert manifest is not None, "its file is there"  # noqa: S101
    check_not_rescaling(path, options.checkpoint)
    named = query_names(plans)
    queries = assign(named, manifest)
    check_same_job(options.checkpoint, named, manifest, queries, refuse_changed=False)
    return queries, manifest


def _stop(job: FoundJob) -> None:
    """Stop the job of the checkpoint.

    Raises:
        StreamtableError: JOB_NOT_STOPPED, also if the job has failed.
    """
    outcome = stop_job(job, _STOP_S)
    if not outcome.clean:
        raise StreamtableError(
            Condition.JOB_NOT_STOPPED,
            job=job.name,
            reason="it has failed",
            hint="`streamtable status` shows the error; the same command continues the upgrade",
        )


def _local(directory: str) -> Path:
    """Return the folder of an existing checkpoint on a local disk."""
    if is_remote(directory):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"the upgrade of a checkpoint at {directory}",
            hint="copy the checkpoint to a local disk, upgrade it there, and copy it back",
        )
    path = local_folder(directory, "a checkpoint")
    if not (path / MANIFEST).exists():
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=f"it has no '{MANIFEST}'",
            hint="name the directory that the job has as its --checkpoint",
        )
    return path
