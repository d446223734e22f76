"""Roll an upgrade back: the records that the sinks had before, and the checkpoint of before.

`upgrade-last.json` holds what the last upgrade has replaced. It can be rolled back until a rebuilt
query has planned a batch or has begun real-time mode: later, the sinks have rows of records that
the old query has not read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from streamtable.connector_api.endpoints import sink_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.streaming.planned_batches import newest_batch
from streamtable.operators.context import LoweringContext
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import Assignment, assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import read_manifest, write_manifest
from streamtable.runtime.checkpoint.partition_watermarks import FILE as WATERMARKS
from streamtable.runtime.checkpoint.storage.whole_files import write_file
from streamtable.runtime.endpoints import sink_facts
from streamtable.runtime.query.real_time_mark import is_marked
from streamtable.runtime.upgrade.at_once import at_once
from streamtable.runtime.upgrade.decisions import EXTENDING, Action
from streamtable.runtime.upgrade.difference import is_compared, write
from streamtable.runtime.upgrade.mark import Mark
from streamtable.runtime.upgrade.ranges import ReadRange
from streamtable.runtime.upgrade.shadow import Shadow

_FILE = "upgrade-last.json"
_REWRITING = (Action.REBUILT, *EXTENDING)


def remember(path: CheckpointPath, mark: Mark, manifest: Manifest, targets: dict[str, str]) -> None:
    """Keep what a rollback needs. Call this before the manifest is replaced.

    Args:
        path: the checkpoint directory.
        mark: the upgrade.
        manifest: the manifest before the upgrade.
        targets: the target of each upgraded query.
    """
    if any(manifest.queries.get(n) == w.record for n, w in mark.work.items()):
        return  # an interrupted call has replaced the manifest already
    file = path / WATERMARKS
    queries = {}
    for name, work in mark.work.items():
        directory = work.record.directory or name
        queries[name] = {
            "directory": directory,
            "batch": newest_batch(path / directory / "offsets"),
            "real_time": is_marked(path / directory),
            "target": targets[name],
            "rewritten": work.action in _REWRITING and is_compared(path / directory),
            "id": work.record.id,
        }
    data = {
        "manifest": manifest.to_json(),
        "watermarks": json.loads(file.read_text("utf-8")) if file.exists() else None,
        "queries": queries,
    }
    write_file(path / _FILE, json.dumps(data))


class UpgradeRollback:
    """The rollback of the last upgrade of a checkpoint, which is locked.

    Args:
        path: the checkpoint directory.
        plans: one per INSERT, of the script before the upgrade.

    Raises:
        StreamtableError: CHECKPOINT_NOT_UPGRADED if the upgrade cannot be rolled back.
    """

    def __init__(self, path: CheckpointPath, plans: Sequence[Sink]) -> None:
        self._path = path
        file = path / _FILE
        mark = Mark.read(path)
        if mark is not None and not mark.rollback:
            reason = "an upgrade was interrupted"
            raise self._refused(reason, "complete it first, without --rollback")
        if not file.exists():
            reason = "there is no upgrade to roll back"
            raise self._refused(reason, None)
        self._last: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        self._manifest = Manifest.from_json(self._last["manifest"], "")
        self._assigned: Assignment = assign(query_names(plans), self._manifest)
        retired, names = self._manifest.retired, self._assigned.plans
        # The script of before need not have a query that only an earlier script had.
        self._left = [n for n in self._last["queries"] if n in retired and n not in names]
        self._upgraded = {n: q for n, q in self._last["queries"].items() if n not in self._left}
        before = {**retired, **self._manifest.queries}
        for name, upgraded in self._upgraded.items():
            if name not in names or name in self._assigned.changed:
                reason = f"the script has another query into {name} than before the upgrade"
                raise self._refused(reason, "name the script that the job had before")
            if before[name].shared is not None:
                reason = f"{name} shared its query with other INSERTs, which may have read further"
                hint = "run the command without --rollback: it rebuilds the old query"
                raise self._refused(reason, hint)
            if self._has_run(upgraded):
                reason = f"{name} has read further since the upgrade"
                hint = "run the command without --rollback: it rebuilds the old query"
                raise self._refused(reason, hint)

    def _has_run(self, upgraded: Mapping[str, Any]) -> bool:
        """Whether a query may have written since the upgrade.

        Real-time mode writes before it plans a batch, and marks the directory.
        """
        directory = self._path / upgraded["directory"]
        if is_marked(directory) and not upgraded.get("real_time", False):
            return True
        return bool(newest_batch(directory / "offsets") != upgraded["batch"])

    def described(self) -> list[str]:
        """Return a line for each query of the upgrade."""
        return [f"{name}: {self._described(name)}" for name in self._last["queries"]]

    def _described(self, name: str) -> str:
        if name in self._left:
            return "not in the script, stays as it is since the upgrade"
        gets = "gets the records of before" if self._writes(name) else "its sink stays"
        return f"{gets}, continues where it stopped before the upgrade"

    def run(
        self,
        context: LoweringContext,
        stop: threading.Event,
        say: Callable[[str], None],
        notice: Notice,
    ) -> None:
        """Write the records of before, then the manifest. An interrupted call is continued."""
        Mark(self._path, rollback=True).write()
        plans, upgraded = self._assigned.plans, self._upgraded
        facts = sink_facts(
            plans,
            lambda name: upgraded.get(name, {}).get("id") or self._manifest.id,
            lambda name: self._path / upgraded.get(name, {}).get("directory", name),
        )

        def write_back(name: str, ends: threading.Event) -> None:
            directory = self._path / upgraded[name]["directory"]
            none = ReadRange({}, {})
            shadow = Shadow(name, plans[name], directory, none, context, ends, notice)
            write(shadow, facts[name], back=True)

        at_once(list(filter(self._writes, upgraded)), write_back, stop, context.bridge)
        self._restore_watermarks()
        write_manifest(self._path, self._restored())
        Mark(self._path).delete()
        (self._path / _FILE).unlink(missing_ok=True)
        say("the next run continues with the script of before")

    def _restored(self) -> Manifest:
        """Return the manifest of before. A query that is left out is retired as it is now.

        Its sink has the rows of the upgrade, which its state of before does not know.
        """
        now = read_manifest(self._path, str(self._path))
        assert now is not None, "it has been upgraded"  # noqa: S101
        queries = {n: replace(query, topics=now.topics) for n, query in now.queries.items()}
        left = {name: {**now.retired, **queries}[name] for name in self._left}
        return replace(self._manifest, retired={**self._manifest.retired, **left})

    def _restore_watermarks(self) -> None:
        """Replace the watermarks of the queries that are rolled back."""
        file = self._path / WATERMARKS
        now = json.loads(file.read_text("utf-8")) if file.exists() else {}
        before = self._last["watermarks"] or {}
        own = tuple(f"{name}/" for name in self._upgraded)
        found = {split: mark for split, mark in now.items() if not split.startswith(own)}
        found |= {split: mark for split, mark in before.items() if split.startswith(own)}
        if found != now:
            write_file(file, json.dumps(dict(sorted(found.items())), indent=1))

    def _writes(self, name: str) -> bool:
        """Whether the upgrade has written the target that the old query has."""
        upgraded = self._upgraded[name]
        target = sink_of(self._assigned.plans[name].table).target
        return bool(upgraded["rewritten"]) and upgraded["target"] == target

    def _refused(self, reason: str, hint: str | None) -> StreamtableError:
        return StreamtableError(
            Condition.CHECKPOINT_NOT_UPGRADED, checkpoint=self._path, reason=reason, hint=hint
        )
