"""Assign the INSERTs of a script to the queries of a checkpoint.

A query has the name of its sink table, with a number if several INSERTs write the table. The order
of the INSERTs does not identify a query: if the first of two INSERTs into a table is removed, the
second one keeps its name, and with it its offsets, state and transactions. Therefore an INSERT is
assigned to the query of the checkpoint with the same plan, whatever its place in the script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamtable.plan.sink.sink import ScanReuse, Sink
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery

#: Whether an INSERT, by its name in a new checkpoint, is a query of the checkpoint.
_Fits = Callable[[str, RecordedQuery, str, RecordedQuery], bool]


@dataclass(frozen=True)
class Assignment:
    """The INSERTs of a script as queries of a checkpoint.

    Attributes:
        plans: name of a query -> plan, in the order of the script.
        records: name of a query -> record of its plan; a record keeps the id of its query.
        added: queries that the checkpoint does not have.
        restored: queries that the checkpoint has kept since a run without them.
        changed: queries that cannot continue -> their records in the checkpoint.
        removed: queries of the checkpoint that the script does not have -> their records.
    """

    plans: Mapping[str, Sink]
    records: Mapping[str, RecordedQuery]
    added: frozenset[str]
    restored: frozenset[str]
    changed: Mapping[str, RecordedQuery]
    removed: Mapping[str, RecordedQuery]

    @property
    def starting(self) -> frozenset[str]:
        """The queries that the last run did not have."""
        return self.added | self.restored

    def directory_of(self, name: str) -> str:
        """Return the name of the directory of a query's offsets and state."""
        record = self.records.get(name)
        return name if record is None or record.directory is None else record.directory

    @property
    def kept(self) -> Sequence[str]:
        """The queries that continue from the checkpoint."""
        return [n for n in self.plans if n not in self.added and n not in self.changed]


def query_names(plans: Sequence[Sink]) -> dict[str, Sink]:
    """Name each query after its sink. Add a number if a script writes a table more than once."""
    named: dict[str, Sink] = {}
    for plan in plans:
        named[_free(plan.table.name, named)] = plan
    return named


def assign(plans: Mapping[str, Sink], manifest: Manifest) -> Assignment:
    """Assign plans to the queries of a checkpoint.

    An INSERT that differs from all queries of its table is a changed query if the checkpoint has a
    query of this table that no other INSERT continues, and else a new query.

    Args:
        plans: by the names that the queries have in a new checkpoint, such as `query_names`.
        manifest: of the checkpoint.
    """
    records = {name: RecordedQuery.of(plan) for name, plan in plans.items()}
    pairs = _Pairs(records, manifest)
    used = {*manifest.queries, *manifest.retired, *manifest.shared}
    names: dict[str, str] = {}
    for default, plan in plans.items():
        if default in pairs.names:
            names[default] = pairs.names[default]
        else:
            names[default] = _free(plan.table.name if default in used else default, used)
            used.add(names[default])
    old = {**manifest.retired, **manifest.queries}
    decided, now = {}, {}
    for default, plan in plans.items():
        name = names[default]
        decided[name], record = _decided(plan, records[default], old.get(name))
        now[name] = record.continuing(old.get(name))
    return Assignment(
        plans=decided,
        records=now,
        added=frozenset(now.keys() - old.keys()),
        restored=frozenset(now.keys() & manifest.retired.keys()),
        changed={
            name: old[name]
            for name, record in now.items()
            if name in old and old[name].difference(name, record) is not None
        },
        removed={n: q for n, q in manifest.queries.items() if n not in now},
    )


def _decided(
    plan: Sink, record: RecordedQuery, old: RecordedQuery | None
) -> tuple[Sink, RecordedQuery]:
    """Return a plan and its record with what the first run of the query has decided."""
    if old is None or record.decisions == old.decisions:
        return plan, record
    reuse = ScanReuse.ALWAYS if old.reuses_scans else ScanReuse.NEVER
    lacking = record.added_layouts - old.added_layouts
    plan = replace(plan, scan_reuse=reuse, lacking=lacking)
    return plan, RecordedQuery.of(plan)


class _Pairs:
    """Pairs of an INSERT and a query of the checkpoint.

    Attributes:
        names: name in a new checkpoint -> name in this checkpoint.
    """

    def __init__(self, records: Mapping[str, RecordedQuery], manifest: Manifest) -> None:
        self._records = records
        self.names: dict[str, str] = {}
        # An INSERT that has its name and its plan keeps both, before equal INSERTs are considered.
        self._pair(manifest.queries, lambda n, r, name, old: n == name and old.has_plan_of(r))
        for pool in (manifest.queries, manifest.retired):
            self._pair(pool, lambda _, r, __, old: old.has_plan_of(r))
        for pool in (manifest.queries, manifest.retired):
            self._pair(pool, lambda n, r, name, old: r.table_or(n) == old.table_or(name))

    def _pair(self, pool: Mapping[str, RecordedQuery], fits: _Fits) -> None:
        for default, record in self._records.items():
            taken = self.names.values()
            free = ((name, old) for name, old in pool.items() if name not in taken)
            found = next((name for name, old in free if fits(default, record, name, old)), None)
            if default not in self.names and found is not None:
                self.names[default] = found


def _free(base: str, used: Mapping[str, object] | set[str]) -> str:
    """Return a name that is not in use: the base, or the base with a number."""
    name, number = base, 1
    while name in used:
        number += 1
        name = f"{base}-{number}"
    return name
