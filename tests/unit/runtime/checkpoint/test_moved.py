"""Operator metadata names the schema files at the current place of the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.storage.moved import adopt


def _metadata(query: Path, text: str) -> Path:
    file = query / "state" / "0" / "_metadata" / "v2" / "3"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return file


def _text(root: str) -> str:
    store = {
        "storeName": "default",
        "numPartitions": 2,
        "stateSchemaFilePaths": [f"file:{root}/o/state/0/_stateSchema/default/0_a"],
    }
    return "v2\n" + json.dumps({"operatorInfo": {}, "stateStoreInfo": [store]})


def test_paths_of_a_moved_checkpoint_are_rewritten(tmp_path: Path) -> None:
    file = _metadata(tmp_path / "o", _text("/elsewhere/c"))
    file.with_name(".3.crc").write_text("of the old content")
    adopt(tmp_path / "o")
    version, _, found = file.read_text().partition("\n")
    assert version == "v2"
    assert json.loads(found) == json.loads(_text(str(tmp_path)).partition("\n")[2])
    assert [p.name for p in file.parent.iterdir()] == ["3"]


def test_current_paths_are_not_rewritten(tmp_path: Path) -> None:
    file = _metadata(tmp_path / "o", _text(str(tmp_path)))
    written = file.stat()
    adopt(tmp_path / "o")
    assert file.stat().st_mtime_ns == written.st_mtime_ns
    adopt(tmp_path / "new")


def test_unreadable_metadata_is_refused(tmp_path: Path) -> None:
    _metadata(tmp_path / "o", "v2\n{")
    with pytest.raises(StreamtableError) as refused:
        adopt(tmp_path / "o")
    assert refused.value.condition is Condition.CHECKPOINT_UNREADABLE
