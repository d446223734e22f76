"""A query in the manifest of a checkpoint."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.secrets import masked, without_secrets
from streamtable.core.settings.job import TIME_ZONE
from streamtable.core.settings.session import same_zone, zone_name
from streamtable.plan.explain.explain import explain
from streamtable.plan.join.join import Join
from streamtable.plan.rules.local_time import uses_zone
from streamtable.plan.rules.shape import shape
from streamtable.plan.rules.state_layouts import layouts
from streamtable.plan.sink.reused_scan import reused_scans
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans
from streamtable.plan.window.window_aggregate import WindowAggregate
from streamtable.runtime.checkpoint.manifest.from_now import FromNow
from streamtable.runtime.checkpoint.manifest.query_change import first_change
from streamtable.runtime.checkpoint.manifest.row_options import RowOptions, first_other, row_options

#: State layouts that operators have got besides an earlier one, with the layout of the first
#: checkpoints that have them. Versions before would look for other keys of state.
ADDED_LAYOUTS = {
    WindowAggregate.bucket_state.id: 8,
    Join.append_state.id: 9,
    Join.pair_state.id: 10,
}

#: The folder of a query for the ends of its sinks.
POSITIONS = "sinks"

_SINK_LINE = re.compile(r"Sink (.+?): ")


@dataclass(frozen=True)
class SharedQuery:
    """The streaming query of several INSERTs (`plan.sink.shared_scan`).

    Attributes:
        name: its name, which is also that of its directory.
        writer_id: `writer_id` of its first sink in its first run; None if the sinks have none.
    """

    name: str
    writer_id: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the part of an entry of the manifest."""
        return {"name": self.name, "writer_id": self.writer_id}


@dataclass(frozen=True)
class RecordedQuery:
    """An INSERT in a manifest, which is a query of its own unless it shares one.

    Attributes:
        plan: EXPLAIN text, for messages; neither the hash nor a comparison depends on it.
        hash: hash of everything that the state depends on, without addresses and tuning options.
        state: id and layout version of each stateful operator, from the top.
        table: name of the sink table; None if an earlier version has written the manifest.
        shape: the data of the hash, without secrets (`plan.rules.shape`); None as for `table`.
        id: id of the query, in which its epochs are numbered; None for the checkpoint's id.
        directory: name of the directory with its offsets and state; None for the query's name.
        topics: Kafka's ids of the topics that a retired query has read; empty for other queries.
        shared: the query that the INSERT shares with others; None for a query of its own.
        number: number of the INSERT in the state of a query that it shares; None without state.
        metadata: `table.column` -> metadata key, for the metadata columns that the query reads;
            empty if an earlier version has written the manifest.
        reuses_scans: whether one scan serves several places of the query
            (`plan.sink.reused_scan`). The first run decides, because a checkpoint has a position
            for each source.
        read_options: the options of the source tables on which rows depend; None if an earlier
            version has written the manifest.
        written_options: the same of the sink table.
        zone: the session's time zone; None if the rows do not depend on it, or if an earlier
            version has written the manifest.
        from_now: how the query has continued without a rebuild; None if it has not.
        masked_hash: the hash of a plan as earlier versions recorded it, with secrets masked; empty
            for a query of a manifest.
    """

    plan: Sequence[str]
    hash: str
    state: Sequence[tuple[str, int]]
    table: str | None = None
    shape: Any = None
    id: str | None = None
    directory: str | None = None
    topics: Mapping[str, str] = field(default_factory=dict)
    shared: SharedQuery | None = None
    number: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    reuses_scans: bool = False
    read_options: RowOptions | None = None
    written_options: RowOptions | None = None
    zone: str | None = None
    from_now: FromNow | None = None
    masked_hash: str = field(default="", compare=False)

    @classmethod
    def of(cls, plan: Sink, id_: str | None = None) -> Self:
        """Return the record of a plan."""
        data = shape(plan)
        whole = json.dumps(data, sort_keys=True)
        return cls(
            plan=without_secrets(explain(plan, changeable=False)).splitlines(),
            hash=_hash(whole),
            state=tuple(layouts(plan.input, plan.lacking)),
            table=plan.table.name,
            shape=masked(data, keys=False),  # the keys are stable ids
            id=id_,
            metadata=_metadata(plan),
            reuses_scans=bool(reused_scans(plan)),
            read_options=row_options((s.table for s in scans(plan.input)), written=False),
            written_options=row_options([plan.table], written=True),
            zone=zone_name(plan.settings) if uses_zone(plan.input) else None,
            masked_hash=_hash(without_secrets(whole)),
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the record of a query in a manifest."""
        return cls(
            plan=data["plan"],
            hash=data["hash"],
            state=tuple((name, version) for name, version in data["state"]),
            table=data.get("table"),
            shape=data.get("shape"),
            id=data.get("id"),
            directory=data.get("directory"),
            topics=data.get("topics", {}),
            shared=SharedQuery(**data["shared"]) if "shared" in data else None,
            number=data.get("number"),
            metadata=data.get("metadata", {}),
            reuses_scans=data.get("reuses_scans", False),
            read_options=data.get("read_options"),
            written_options=data.get("written_options"),
            zone=data.get("zone"),
            from_now=FromNow.from_json(data["from_now"]) if "from_now" in data else None,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the manifest."""
        entry: dict[str, Any] = {
            "plan": list(self.plan),
            "hash": self.hash,
            "state": [list(layout) for layout in self.state],
        }
        optional = {
            "table": self.table,
            "shape": self.shape,
            "id": self.id,
            "directory": self.directory,
            "shared": self.shared and self.shared.to_json(),
            "number": self.number,
            "reuses_scans": self.reuses_scans or None,
            "read_options": self.read_options,
            "written_options": self.written_options,
            "zone": self.zone,
            "from_now": self.from_now and self.from_now.to_json(),
        }
        entry |= {name: value for name, value in optional.items() if value is not None}
        mappings = {"topics": self.topics, "metadata": self.metadata}
        return entry | {name: dict(value) for name, value in mappings.items() if value}

    @property
    def added_layouts(self) -> frozenset[str]:
        """The `ADDED_LAYOUTS` of the query's state.

        The first run decides, because the keys of the state depend on it.
        """
        return frozenset(operator for operator, _ in self.state if operator in ADDED_LAYOUTS)

    @property
    def decisions(self) -> tuple[bool, frozenset[str]]:
        """What the first run of the query has decided: `reuses_scans` and `added_layouts`."""
        return self.reuses_scans, self.added_layouts

    def continuing(self, old: RecordedQuery | None) -> RecordedQuery:
        """Return the record with the id and the directory of the query that it continues."""
        if old is None:
            return self
        return replace(
            self,
            id=old.id,
            directory=old.directory,
            shared=old.shared,
            number=old.number,
            reuses_scans=old.reuses_scans,
            from_now=old.from_now,
        )

    def sharing(self, query: SharedQuery, number: int | None) -> RecordedQuery:
        """Return the record of an INSERT that shares a query; `number` is that of its state."""
        return replace(self, directory=query.name, shared=query, number=number)

    def alone(self, id_: str, directory: str) -> RecordedQuery:
        """Return the record of an INSERT with a new query of its own."""
        return replace(self, id=id_, directory=directory, shared=None, number=None)

    def positions(self, directory: CheckpointPath) -> CheckpointPath:
        """Return the folder for the ends of the sink at each commit, below that of the query."""
        folder = directory / POSITIONS
        return folder if self.number is None else folder / f"of-{self.number}"

    def table_or(self, name: str) -> str:
        """Return the name of the sink table; `name` if the record does not say it."""
        found = _SINK_LINE.match(self.plan[0]) if self.plan else None
        return self.table or (found[1] if found else name)

    def has_plan_of(self, now: RecordedQuery) -> bool:
        """Whether a query has the plan of a query of now, by its hash.

        A password may be an ordinary word that the plan also has. Earlier versions masked the word
        in the hash, so that another password gave another hash.
        """
        return self.hash in (now.hash, now.masked_hash)

    def other_metadata(self, now: RecordedQuery) -> str | None:
        """Return a column that a query of now reads from other metadata; None if there is none."""
        common = self.metadata.keys() & now.metadata.keys()
        return min((c for c in common if self.metadata[c] != now.metadata[c]), default=None)

    def reads_alike(self, now: RecordedQuery) -> bool:
        """Whether a query of now gets the same values from the same records of its sources."""
        return (
            self.other_metadata(now) is None
            and first_other(self.read_options, now.read_options) is None
            and not self._in_other_zone(now)
        )

    def _in_other_zone(self, now: RecordedQuery) -> bool:
        known = self.zone is not None and now.zone is not None
        return known and not same_zone(self.zone or "", now.zone or "")

    def difference(self, name: str, now: RecordedQuery) -> str | None:
        """Describe the first difference from a query of now in words; None if it may continue.

        Args:
            name: name of the query, for the words.
            now: record of the plan of now.
        """
        if not self.has_plan_of(now):
            return f"the query into {name} was {first_change(self, now)}"
        if column := self.other_metadata(now):
            return (
                f"column {column} of the query into {name} was metadata '{self.metadata[column]}'"
                f" and is now '{now.metadata[column]}'"
            )
        if other := first_other(self.read_options, now.read_options) or first_other(
            self.written_options, now.written_options
        ):
            return f"{other}, in the query into {name}"
        if self._in_other_zone(now):
            return (
                f"'{TIME_ZONE.key}' was '{self.zone}' and is now '{now.zone}', and the rows of the"
                f" query into {name} depend on it"
            )
        for (operator, old), (_, new) in zip(self.state, now.state, strict=True):
            if old != new:
                return f"the state of {operator} in {name} has layout {old}, this version has {new}"
        return None


#: The record of an INSERT that no checkpoint has.
UNRECORDED = RecordedQuery((), "", ())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _metadata(plan: Sink) -> dict[str, str]:
    """Return the metadata keys of the columns that a plan reads, by `table.column`."""
    found = {}
    for scan in scans(plan.input):
        read = {field.name for field in scan.fields}
        for column in scan.table.schema.metadata:
            if column.name in read:
                found[f"{scan.table.name}.{column.name}"] = column.key
    return found
