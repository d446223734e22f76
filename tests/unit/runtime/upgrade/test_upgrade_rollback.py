"""An upgrade is rolled back only until the changed query has written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.runtime.upgrade.rollback import UpgradeRollback
from streamtable.session import Session

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()
COPY = "INSERT INTO users_copy SELECT id, score FROM users;"

#: Files of the new directory since the upgrade, what was kept of it, and whether it has written.
SINCE = {
    "no run": ([], {}, False),
    "a planned batch": (["offsets/4"], {}, True),
    "real-time mode": (["real-time"], {"real_time": False}, True),
    "real-time mode, after an earlier version": (["real-time"], {}, True),
    "real-time mode before the upgrade": (["real-time"], {"real_time": True}, False),
}


@pytest.mark.parametrize("case", SINCE)
def test_a_query_that_has_written(case: str, tmp_path: Path) -> None:
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
