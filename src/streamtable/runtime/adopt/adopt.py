"""Adopt the sink topics that another engine has written with the same script.

The checkpoint is new. Each query reads its input in a *shadow run* (`runtime.upgrade`) from the
startup positions of its tables to the offsets up to which the other engine has read, and its rows
are compared with the sink. Only the keys whose rows differ are written. Then the next run continues
from there.

`upgrade.json` marks the checkpoint from the first step to the last. A job does not start on a
marked checkpoint, and the same command continues an interrupted adoption.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from pyspark.sql import SparkSession

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.adopt.adoption import Adoption
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.checkpoint.assignment import assign, query_names
from streamtable.runtime.checkpoint.checkpoint import check_not_upgrading
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import read_manifest
from streamtable.runtime.checkpoint.storage.torn_files import check_whole
from streamtable.runtime.endpoints import sources_of
from streamtable.runtime.upgrade.mark import Mark
from streamtable.runtime.upgrade.opening import UpgradeOpening
from streamtable.runtime.upgrade.ranges import topic_of


def adopt_job(
    plans: Sequence[Sink],
    settings: Settings,
    options: AdoptOptions,
    say: Callable[[str], None],
    notice: Notice,
    functions: Sequence[UserFunction] = (),
    spark: SparkSession | None = None,
) -> None:
    """Adopt the sinks of a script into a new checkpoint.

    Args:
        plans: one per INSERT.
        settings: the session's settings.
        options: options of the adoption.
        say: takes one line of the result.
        notice: takes one line about the progress.
        functions: the user's functions that plans may call.
        spark: an existing session; None starts a session and stops it at the end.

    Raises:
        StreamtableError: TOPICS_NOT_ADOPTED, an error of the checkpoint, a source or a sink, or of
            a query.
    """
    with ExitStack() as stack:
        opening = UpgradeOpening(stack, settings, options, notice, functions, spark)
        path = opening.path
        lock = opening.lock() if path.exists() or not options.plan else None
        mark = _interrupted(path, options)
        manifest = Manifest(uuid.uuid4().hex, {})
        if mark is not None and mark.adopts is not None:
            manifest = mark.adopts.manifest
        queries = assign(query_names(plans), manifest)
        context = opening.context
        adoption = Adoption(path, options, queries, manifest, context, say, notice, opening.stop)
        if mark is None:
            _check_topics(plans, options, context)
            mark = adoption.decided()
        else:
            adoption.check_same(mark)
        if options.plan:
            adoption.preview(mark)
            return
        assert lock is not None, "taken unless only the plan is wanted"  # noqa: S101
        for name in queries.plans:
            check_whole(path / name, notice)
        adoption.finish(mark, lock)


def _interrupted(path: CheckpointPath, options: AdoptOptions) -> Mark | None:
    """Return the mark of an interrupted adoption; None for a directory without a job."""
    mark = Mark.read(path)
    if mark is None:
        if path.exists() and read_manifest(path, options.checkpoint) is not None:
            raise StreamtableError(
                Condition.TOPICS_NOT_ADOPTED,
                reason=f"checkpoint {options.checkpoint} has a job already",
                hint="name a new directory; `streamtable upgrade` changes the script of a job",
            )
        return None
    if mark.adopts is None:
        check_not_upgrading(path, options.checkpoint)
    return mark


def _check_topics(plans: Sequence[Sink], options: AdoptOptions, context: LoweringContext) -> None:
    """Refuse offsets of topics that no query reads."""
    splits = (split for source in sources_of(plans) for split in source.splits(context.bridge))
    read = {topic_of(split) for split in splits}
    for topic in options.at:
        if topic not in read:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                option="--at",
                value=topic,
                expected=f"a topic that the script reads: {', '.join(sorted(read))}",
            )
