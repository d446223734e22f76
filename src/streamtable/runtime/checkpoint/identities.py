"""Checks that topics are still the same: a topic can be deleted and created again by name."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from streamtable.connector_api.preflight import Notice
from streamtable.connector_api.source import Source
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import Checkpoint
from streamtable.runtime.endpoints import sources_of

#: Interval of the id checks while a job runs, in seconds. Ids almost never change.
_PAUSE_S = 5.0

#: Timeout of an id check, in milliseconds: an unreachable broker must not block the job.
_TIMEOUT_MS = 2_000


def check_identities(
    plans: Mapping[str, Sink], checkpoint: Checkpoint, bridge: Bridge, notice: Notice
) -> None:
    """Compare the ids of all sources with those in the checkpoint.

    Args:
        plans: by the names of the queries.
        checkpoint: the job's checkpoint.
        bridge: the JVM side.
        notice: takes one line for the user.

    Raises:
        StreamtableError: DATA_LOST, unless the options of the table accept data loss;
            OPTION_CONFLICT for one name in two systems.
    """
    sources = sources_of(plans.values())
    IdentityMonitor(sources, bridge, notice, checkpoint.topic_ids).compare()
    for name in sorted(checkpoint.queries.restored):
        known = checkpoint.retired_topic_ids(name)
        IdentityMonitor(sources_of([plans[name]]), bridge, notice, known).compare()


def identities_of(plans: Iterable[Sink], bridge: Bridge) -> dict[str, str]:
    """Return the ids of all sources, by name.

    Raises:
        StreamtableError: OPTION_CONFLICT for one name in two systems; errors of a source.
    """
    answers = _answers(sources_of(plans), bridge)
    return {name: id_ for _, ids in answers for name, id_ in ids.items()}


def _answers(sources: Iterable[Source], bridge: Bridge) -> list[tuple[Source, Mapping[str, str]]]:
    """Return the ids that each source has now, and refuse two sources with one name and two ids.

    The checkpoint and the lag know a topic by its name alone, so they would confuse topics of two
    clusters. Two addresses may belong to one cluster; the ids are then equal.
    """
    answers = [(source, source.identities(bridge)) for source in sources]
    first: dict[str, tuple[str, str]] = {}
    for source, ids in answers:
        for name, id_ in ids.items():
            known, table = first.setdefault(name, (id_, source.table))
            if known != id_:
                raise StreamtableError(
                    Condition.OPTION_CONFLICT,
                    at=source.at,
                    reason=f"{table} and {source.table} read topics named '{name}' of two clusters",
                    hint="read them in separate jobs, or copy one topic under another name",
                )
    return answers


@dataclass
class IdentityMonitor:
    """Monitor that compares the ids of a job's sources with the known ids.

    Args:
        sources: the sources that the job reads.
        bridge: the JVM side.
        notice: takes one line for the user.
        known: known ids by name. The first id of a new name is accepted without a check.
    """

    sources: Iterable[Source]
    bridge: Bridge
    notice: Notice
    known: Mapping[str, str]

    def __post_init__(self) -> None:
        self._known = dict(self.known)
        self._asked = time.monotonic()

    def check(self) -> None:
        """Compare the ids if the interval has passed. Skip a source that does not respond.

        Raises:
            StreamtableError: DATA_LOST, unless the options of the table accept data loss.
        """
        if time.monotonic() >= self._asked + _PAUSE_S:
            self.check_now()

    def check_now(self) -> None:
        """Compare the ids now, whether or not the interval has passed."""
        self._asked = time.monotonic()
        answers: list[tuple[Source, Mapping[str, str]]] = []
        for source in self.sources:
            with suppress(StreamtableError):
                answers.append((source, source.identities(self.bridge, _TIMEOUT_MS)))
        self._compare(answers)

    def compare(self) -> None:
        """Compare the ids at the start of a job, when every source has to respond.

        Raises:
            StreamtableError: DATA_LOST; OPTION_CONFLICT for one name in two systems; errors of a
                source.
        """
        self._compare(_answers(self.sources, self.bridge))

    def _compare(self, answers: Sequence[tuple[Source, Mapping[str, str]]]) -> None:
        for source, ids in answers:
            for name, id_ in ids.items():
                if self._known.get(name, id_) != id_:
                    source.replaced(name, self.notice)
        for _, ids in answers:
            self._known.update(ids)
