"""An upgrade is rolled back only until the changed query has written."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.file import read_manifest, write_manifest
from streamtable.runtime.upgrade.rollback import UpgradeRollback
from streamtable.session import Session

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()
COPY = "INSERT INTO users_copy SELECT id, score FROM users;"

#: Files in the new directory since the upgrade, entries that the upgrade has kept, and whether
#: the query has written.
SINCE = {
    "no run": ([], {}, False),
    "a planned batch": (["offsets/4"], {}, True),
    "real-time mode": (["real-time"], {"real_time": False}, True),
    "real-time mode, after an earlier version": (["real-time"], {}, True),
    "real-time mode before the upgrade": (["real-time"], {"real_time": True}, False),
}


@pytest.mark.parametrize("case", SINCE)
def test_a_rollback_is_refused_after_the_query_has_written(case: str, tmp_path: Path) -> None:
    files, kept, has_written = SINCE[case]
    session = Session()
    session.load(TABLES + COPY, "job.sql")
    checkpoint = open_checkpoint(str(tmp_path), query_names(session.plans))
    begin(checkpoint, {})
    checkpoint.close()
    own = {"directory": "users_copy@2", "batch": 3, "target": "t", "rewritten": False, "id": "i"}
    last = {
        "manifest": json.loads((tmp_path / "streamtable.json").read_text()),
        "watermarks": None,
        "queries": {"users_copy": own | kept},
    }
    (tmp_path / "upgrade-last.json").write_text(json.dumps(last))
    for name in ("offsets/3", *files):
        file = tmp_path / "users_copy@2" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    if not has_written:
        assert len(UpgradeRollback(tmp_path, session.plans).described()) == 1
        return
    with pytest.raises(StreamtableError, match="users_copy has read further since the upgrade"):
        UpgradeRollback(tmp_path, session.plans)


COUNTS = "INSERT INTO per_region SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region;"
_WATERMARKS = {"users_copy/0/users/0": 2, "per_region/0/users/0": 1}


def _run(tmp_path: Path, *inserts: str) -> list[Sink]:
    """Write the manifest of a run of the script; return the plans."""
    session = Session()
    session.load(TABLES + "".join(inserts), "job.sql")
    checkpoint = open_checkpoint(str(tmp_path), query_names(session.plans))
    begin(checkpoint, {"users": "of-users"})
    checkpoint.close()
    return list(session.plans)


def _manifest(tmp_path: Path) -> Manifest:
    found = read_manifest(tmp_path, "c")
    assert found is not None
    return found


@pytest.mark.parametrize("has_it", [True, False])
def test_rollback_of_a_query_missing_in_the_earlier_script(has_it: bool, tmp_path: Path) -> None:
    earlier = _run(tmp_path, COUNTS, COPY)
    plans = _run(tmp_path, COUNTS)
    before = _manifest(tmp_path)
    (old,) = before.retired.values()
    rebuilt = replace(old, hash="other", id="i", directory="users_copy@2", topics={})
    last = {
        "manifest": before.to_json(),
        "watermarks": dict.fromkeys(_WATERMARKS, 0),
        "queries": {
            "users_copy": {
                "directory": "users_copy@2",
                "batch": -1,
                "real_time": False,
                "target": "other",
                "rewritten": True,
                "id": "i",
            }
        },
    }
    (tmp_path / "upgrade-last.json").write_text(json.dumps(last))
    (tmp_path / "watermarks.json").write_text(json.dumps(_WATERMARKS))
    queries = {**before.queries, "users_copy": rebuilt}
    write_manifest(tmp_path, replace(before, queries=queries, retired={}))
    back = UpgradeRollback(tmp_path, earlier if has_it else plans)
    (line,) = back.described()
    context: Any = SimpleNamespace(bridge=None)
    back.run(context, threading.Event(), print, print)
    assert not (tmp_path / "upgrade-last.json").exists()
    now = _manifest(tmp_path)
    assert now.queries == before.queries
    marks = json.loads((tmp_path / "watermarks.json").read_text())
    if has_it:
        assert line.startswith("users_copy: its sink stays, continues where it stopped")
        assert now.retired == before.retired
        assert marks == {**_WATERMARKS, "users_copy/0/users/0": 0}
    else:
        assert line == "users_copy: not in the script, stays as it is since the upgrade"
        assert now.retired == {"users_copy": replace(rebuilt, topics={"users": "of-users"})}
        assert marks == _WATERMARKS
