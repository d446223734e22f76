"""Mark of an upgrade in a checkpoint: what it does, and the step that each query has reached.

A job does not start on a marked checkpoint. The same command continues an interrupted upgrade.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.runtime.checkpoint.checkpoint import ADOPTS, UPGRADE_MARK
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.checkpoint.storage.whole_files import write_file
from streamtable.runtime.upgrade.decisions import Action
from streamtable.runtime.upgrade.ranges import ReadRange

#: The mark before the lock of the checkpoint is taken.
_DRAFT = "upgrade-draft.json"


class Step(Enum):
    """The next step of a query."""

    READ = "read"
    COMPARE = "compare"
    WRITE = "write"
    DONE = "done"


@dataclass(frozen=True)
class Work:
    """The upgrade of one query.

    Attributes:
        action: rebuilt, or one of the two ways from now.
        record: the query as the manifest will have it.
        range: what the query reads.
        step: the next step.
    """

    action: Action
    record: RecordedQuery
    range: ReadRange
    step: Step = Step.READ

    @property
    def is_left(self) -> bool:
        """Whether steps are left."""
        return self.action is not Action.CONTINUED and self.step is not Step.DONE

    def to_json(self) -> dict[str, Any]:
        """Return the work as JSON data."""
        return {
            "action": self.action.value,
            "record": self.record.to_json(),
            "range": self.range.to_json(),
            "step": self.step.value,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Work:
        """Return the work of a mark."""
        return cls(
            Action(data["action"]),
            RecordedQuery.from_json(data["record"]),
            ReadRange(data["range"]["begins"], data["range"]["ends"]),
            Step(data["step"]),
        )


@dataclass(frozen=True)
class NewCheckpoint:
    """A checkpoint that adopts topics (`runtime.adopt`).

    Attributes:
        manifest: the manifest of the checkpoint, still without its queries.
        asked: the options of the command that decide the ends of the ranges.
    """

    manifest: Manifest
    asked: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return the checkpoint as JSON data."""
        return {"manifest": self.manifest.to_json(), "asked": dict(self.asked)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> NewCheckpoint:
        """Return the checkpoint of a mark."""
        return cls(Manifest.from_json(data["manifest"], ""), data["asked"])


@dataclass
class Mark:
    """The file `upgrade.json`.

    Attributes:
        path: the checkpoint directory.
        work: the upgrade of each changed query, by name.
        draft: whether the job may still run; it starts on a checkpoint with a draft.
        rollback: whether the last upgrade is rolled back; `work` is then empty.
        adopts: the new checkpoint of an adoption; None for an upgrade.
    """

    path: CheckpointPath
    work: dict[str, Work] = field(default_factory=dict)
    draft: bool = False
    rollback: bool = False
    adopts: NewCheckpoint | None = None
    _reaching: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def read(cls, path: CheckpointPath, *, draft: bool = False) -> Mark | None:
        """Return the mark of a checkpoint, or the draft; None if there is none."""
        mark = cls(path, draft=draft)
        if not mark._file.exists():
            return None
        found = json.loads(mark._file.read_text(encoding="utf-8"))
        mark.work = {name: Work.from_json(data) for name, data in found["queries"].items()}
        mark.rollback = bool(found.get("rollback"))
        mark.adopts = NewCheckpoint.from_json(found[ADOPTS]) if ADOPTS in found else None
        return mark

    @property
    def _file(self) -> CheckpointPath:
        return self.path / (_DRAFT if self.draft else UPGRADE_MARK)

    def write(self) -> None:
        """Write the mark atomically."""
        data: dict[str, Any] = {"rollback": True} if self.rollback else {}
        data |= {} if self.adopts is None else {ADOPTS: self.adopts.to_json()}
        data["queries"] = {name: work.to_json() for name, work in self.work.items()}
        write_file(self._file, json.dumps(data))

    def reach(self, name: str, step: Step) -> None:
        """Note the next step of a query. Queries may reach their steps at the same time."""
        with self._reaching:
            self.work[name] = replace(self.work[name], step=step)
            self.write()

    def delete(self) -> None:
        """Delete the mark."""
        self._file.unlink(missing_ok=True)


def free_directory(path: CheckpointPath, name: str) -> str:
    """Return a name for the directory of a rebuilt query; Spark has not used it before."""
    number = 2
    while (path / f"{name}@{number}").exists():
        number += 1
    return f"{name}@{number}"
