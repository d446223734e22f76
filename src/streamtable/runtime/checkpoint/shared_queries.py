"""INSERTs of a statement set that share a query of the checkpoint.

The first run of an INSERT decides whether it shares a query; the manifest keeps the decision. An
INSERT that is added later starts in a query of its own, or shares one with other added INSERTs,
because it starts at other positions. A query goes on without an INSERT that is removed. The record
of such an INSERT is dropped: the positions of its former query say nothing about its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.connector_api.together import writer_id_of
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.plan.sink.shared_scan import share_scan, shared_groups
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import mismatch
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery, SharedQuery

_NAME = "statement-set"


def sharing(queries: Assignment, manifest: Manifest, path: CheckpointPath) -> Assignment:
    """Let the new INSERTs of a statement set that agree share a query.

    Args:
        queries: the queries of the script.
        manifest: of the checkpoint.
        path: the checkpoint directory; a query gets a name that no directory has.
    """
    added = [name for name in queries.plans if name in queries.added]
    used = {*queries.plans, *manifest.queries, *manifest.retired, *manifest.shared}
    groups: dict[SharedQuery, list[str]] = {}
    for name, record in queries.records.items():
        if record.shared is not None:
            groups.setdefault(record.shared, []).append(name)
    for group in shared_groups([queries.plans[name] for name in added]):
        query = SharedQuery(_free(used, path))
        used.add(query.name)
        groups[query] = [added[place] for place in group]
    records = dict(queries.records)
    for query, members in groups.items():
        # A query has an id from its first run with transactions on.
        id_ = query.writer_id or writer_id_of(queries.plans[members[0]].table)
        now = replace(query, writer_id=id_)
        for place, name in enumerate(members):
            found = records[name]
            number = place if found.shared is None and found.state else found.number
            records[name] = found.sharing(now, number)
    return replace(queries, records=records)


def new_queries(plans: Mapping[str, Sink], path: CheckpointPath) -> Assignment:
    """Return the queries of a job with a new checkpoint; nothing is read or written."""
    nothing = Manifest("", {})
    return sharing(assign(plans, nothing), nothing, path)


def members_of(queries: Assignment) -> Mapping[str, list[str]]:
    """Return the names of the INSERTs of each query, in the order of the script."""
    found: dict[str, list[str]] = {}
    for name, record in queries.records.items():
        found.setdefault(name if record.shared is None else record.shared.name, []).append(name)
    return found


def check_sharing(directory: str, queries: Assignment, stale_keys: str) -> None:
    """Refuse a script in which the INSERTs of a query no longer agree.

    Raises:
        StreamtableError: CHECKPOINT_MISMATCH.
    """
    for members in members_of(queries).values():
        if len(members) > 1 and not share_scan([queries.plans[name] for name in members]):
            names = ", ".join(members)
            difference = (
                f"one query writes {names}, and in the script they differ in the options of the"
                " table that they read, or in the delivery guarantee or client options of theirs"
            )
            raise mismatch(directory, difference, stale_keys)


def goes_on(old: RecordedQuery, queries: Assignment) -> bool:
    """Whether the query of an INSERT that was removed goes on with other INSERTs."""
    return old.shared is not None and old.shared.name in members_of(queries)


def _free(used: set[str], path: CheckpointPath) -> str:
    name, number = _NAME, 1
    while name in used or (path / name).exists():
        number += 1
        name = f"{_NAME}-{number}"
    return name
