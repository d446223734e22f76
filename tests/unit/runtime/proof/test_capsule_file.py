"""The file of a capsule, and the key that a proof explains."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.runtime.capsule.file import Capsule, RawRecord
from streamtable.runtime.proof.commits import Commit
from streamtable.runtime.proof.origins import Origin
from streamtable.runtime.proof.report import smallest_key

_RECORDS = (
    RawRecord(
        "orders", 0, 7, 1_700_000_000_123, 0, b"\x00\xff", b"{}", [("a", b"\xfe"), ("b", None)]
    ),
    RawRecord("orders", 1, 2**40, 0, 1, None, None, None),
)


def _capsule() -> Capsule:
    return Capsule(
        script="SET 'a' = '${secret_1}';\n",
        secrets={"secret_1": "a"},
        settings={"table.local-time-zone": "UTC"},
        insert=1,
        query="totals",
        table="totals",
        key='{"shop":1}',
        commit=Commit(3, 5, None, [(None, '{"orders":{"0":8}}'), ("x", "y")], {"totals/0": 4}),
        expected='{"shop":1,"n":2}',
        found=None,
        written={"partition": 0, "offset": 3},
        checkpoint={"job": "j", "topics": {"orders": "id"}},
        versions={"streamtable": "1", "Spark": "4.3.0"},
        inputs={"orders": list(_RECORDS), "a b/c": []},
        target=[_RECORDS[0]],
    )


def test_a_capsule_is_read_unchanged(tmp_path: Path) -> None:
    _capsule().write(tmp_path / "c.zip")
    assert Capsule.read(tmp_path / "c.zip") == _capsule()


def test_invalid_capsule_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "c.zip"
    with pytest.raises(StreamtableError, match="CAPSULE_UNREADABLE"):
        Capsule.read(file)
    file.write_text("no zip file")
    with pytest.raises(StreamtableError, match="CAPSULE_UNREADABLE: cannot read capsule"):
        Capsule.read(file)
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("capsule.json", json.dumps({"layout": 2}))
    with pytest.raises(StreamtableError, match="reads layout 1"):
        Capsule.read(file)


def test_the_smallest_key_has_the_fewest_records() -> None:
    origin = Origin("orders", 0, 1, datetime(2026, 1, 1, tzinfo=UTC))
    examples = [("a", None, "{}"), ("b", "{}", None), ("c", "{}", "{}"), ("d", "{}", None)]
    origins = {"b": [origin, origin], "c": [origin], "d": [origin]}
    assert smallest_key(examples, origins) == "c"
    assert smallest_key(examples[:1], {}) == "a"
    assert smallest_key([], {}) is None
