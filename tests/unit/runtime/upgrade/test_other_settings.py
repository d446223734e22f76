"""An interrupted upgrade or adoption continues only with the same options of its rows."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.runtime.adopt.adoption import Adoption
from streamtable.runtime.adopt.options import AdoptOptions
from streamtable.runtime.checkpoint.assignment import Assignment, assign, query_names
from streamtable.runtime.checkpoint.manifest.content import Manifest
from streamtable.runtime.checkpoint.manifest.recorded_query import RecordedQuery
from streamtable.runtime.upgrade import rebuild
from streamtable.runtime.upgrade.decisions import Action
from streamtable.runtime.upgrade.mark import Mark, Work
from streamtable.runtime.upgrade.options import UpgradeOptions
from streamtable.runtime.upgrade.ranges import ReadRange
from streamtable.session import Session

_NONE = ReadRange({}, {})


def _queries(manifest: Manifest, zone: str, null: str, key: str) -> Assignment:
    session = Session()
    session.load(
        f"""SET 'table.local-time-zone' = '{zone}';
        CREATE TABLE i (s STRING, at TIMESTAMP_LTZ(3) METADATA FROM '{key}' VIRTUAL) WITH (
          'connector' = 'kafka', 'topic' = 'i', 'properties.bootstrap.servers' = 'kafka:9092',
          'format' = 'debezium-json', 'debezium-json.schema-include' = 'false');
        CREATE TABLE j (s STRING) WITH ('connector' = 'kafka', 'topic' = 'j', 'format' = 'csv',
          'properties.bootstrap.servers' = 'kafka:9092', 'csv.null-literal' = '{null}');
        CREATE TABLE o (s STRING, PRIMARY KEY (s) NOT ENFORCED) WITH (
          'connector' = 'upsert-kafka', 'topic' = 'o', 'key.format' = 'json',
          'properties.bootstrap.servers' = 'kafka:9092', 'value.format' = 'json');
        INSERT INTO o SELECT CAST(at AS STRING) FROM i UNION ALL SELECT s FROM j;""",
        "job.sql",
    )
    return assign(query_names(session.plans), manifest)


#: Time zone, null literal and metadata key of the repeated command; the difference in words.
_FIRST = ("UTC", "n", "value.source.timestamp")
_REPEATED = {
    "the same": (_FIRST, None),
    "the same zone": (("Etc/UTC", *_FIRST[1:]), None),
    "another zone": (
        ("Europe/Berlin", *_FIRST[1:]),
        "'table.local-time-zone' was 'UTC' and is now 'Europe/Berlin'",
    ),
    "another option of a format": (
        ("UTC", "none", _FIRST[2]),
        "option 'value.csv.null-literal' of j was 'n' and is now 'none'",
    ),
    "other metadata": (
        (*_FIRST[:2], "value.ingestion-timestamp"),
        "column i.at of the query into o was metadata 'value.source.timestamp'",
    ),
}


@pytest.mark.parametrize("case", _REPEATED)
@pytest.mark.parametrize(
    ("kind", "options"), [(rebuild.Rebuild, UpgradeOptions), (Adoption, AdoptOptions)]
)
def test_an_interrupted_command_refuses_other_settings(
    kind: Any, options: Any, case: str, tmp_path: Path
) -> None:
    settings, difference = _REPEATED[case]
    manifest = Manifest("c", {})
    record = _queries(manifest, *_FIRST).records["o"]
    Mark(tmp_path, {"o": Work(Action.REBUILT, record, _NONE)}).write()
    mark = Mark.read(tmp_path)
    lines: list[str] = []
    command = kind(
        tmp_path,
        options("c"),
        _queries(manifest, *settings),
        manifest,
        None,
        lines.append,
        lines.append,
        threading.Event(),
    )
    if difference is None:
        command.check_same(mark)
        assert lines[0].startswith("continues the interrupted")
        return
    with pytest.raises(StreamtableError, match="was interrupted") as refused:
        command.check_same(mark)
    assert difference in str(refused.value)
    assert lines == []


@pytest.mark.parametrize("case", _REPEATED)
def test_a_draft_with_other_settings_is_replaced(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, difference = _REPEATED[case]
    old = RecordedQuery((), "", (), table="o", id="old", directory="o")
    manifest = Manifest("c", {"o": old})
    record = _queries(manifest, *_FIRST).records["o"].alone("new", "o@2")
    (tmp_path / "o@2").mkdir()
    Mark(tmp_path, {"o": Work(Action.REBUILT, record, _NONE)}, draft=True).write()
    for name, value in {
        "stage": rebuild.Stage.OPEN,
        "read_range": _NONE,
        "extension_of": None,
    }.items():
        monkeypatch.setattr(rebuild, name, lambda *_, value=value: value)
    context: Any = type("Context", (), {"bridge": None})
    command = rebuild.Rebuild(
        tmp_path,
        UpgradeOptions("c"),
        _queries(manifest, *settings),
        manifest,
        context,
        lambda _: None,
        lambda _: None,
        threading.Event(),
    )
    monkeypatch.setattr(command, "_size", lambda *_: "")
    mark = command.decided()
    assert mark is not None
    assert mark.work["o"].record.directory == ("o@2" if difference is None else "o@3")
    assert (tmp_path / "o@2").exists() is (difference is None)
