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

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import MANIFEST, CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign, query_names
from streamtable.runtime.checkpoint.checkpoint import (
    check_not_rescaling,
    check_not_upgrading,
    check_same_job,
)
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import read_manifest
from streamtable.runtime.checkpoint.storage.local_folder import local_folder
from streamtable.runtime.checkpoint.storage.moved import adopt
from streamtable.runtime.checkpoint.storage.remote import is_remote
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.status.found import FoundJob, job_at
from streamtable.runtime.status.stop import stop_job
from streamtable.runtime.upgrade.decisions import line_of, unchanged
from streamtable.runtime.upgrade.mark import Mark
from streamtable.runtime.upgrade.opening import UpgradeOpening
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
    with ExitStack() as stack:
        running = _running(options) if options.stop_job else None
        opening = UpgradeOpening(stack, settings, options, notice, functions, spark)
        path = _existing(opening.path, options)
        lock = None if running else opening.lock()
        if options.rollback:
            assert lock is not None, "excluded by the command line"  # noqa: S101
            back = UpgradeRollback(path, plans)
            for line in back.described():
                say(line)
            if not options.plan:
                back.run(opening.context, opening.stop, say, notice)
            return
        queries, manifest = _compared(path, plans, options)
        for decision in unchanged(queries):
            say(line_of(decision))
        mark = Mark.read(path)
        _check_mark(mark, path, options)
        if not queries.changed and mark is None:
            return
        rebuild = Rebuild(
            path, options, queries, manifest, opening.context, say, notice, opening.stop
        )
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
            lock = opening.lock()
            rebuild.move_ends(mark)
        assert lock is not None, "taken before or after the job has ended"  # noqa: S101
        for name in queries.plans:
            folder = path / queries.directory_of(name)
            check_whole(folder, notice)
            adopt(folder)
        rebuild.finish(mark, lock)
        if begun is not None:
            say(f"the topics were not written for {time.monotonic() - begun:.1f} s so far")


def _check_mark(mark: Mark | None, path: CheckpointPath, options: UpgradeOptions) -> None:
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


def _compared(
    path: CheckpointPath, plans: Sequence[Sink], options: UpgradeOptions
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


def _running(options: UpgradeOptions) -> FoundJob | None:
    """Return the job that runs on a checkpoint; None if none does."""
    if is_remote(options.checkpoint):
        raise StreamtableError(
            Condition.NOT_YET,
            what=f"--stop-job for a checkpoint at {options.checkpoint}",
            hint="only its holder may write there: stop the job, and run the command without",
        )
    job = job_at(local_folder(options.checkpoint, "a checkpoint"))
    return job if job is not None and job.state.lives else None


def _existing(path: CheckpointPath, options: UpgradeOptions) -> CheckpointPath:
    """Return a checkpoint directory that has a manifest."""
    if not (path / MANIFEST).exists():
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=options.checkpoint,
            reason=f"it has no '{MANIFEST}'",
            hint="name the directory that the job has as its --checkpoint",
        )
    return path
