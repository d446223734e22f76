"""Whose a checkpoint folder is: of this plan, in these layouts, with these versions, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.nodes import NODE_NAMES, Sink
from streamtable.plan.real_time import KEEPS_NOTHING
from streamtable.plan.state_layouts import LAYOUTS
from streamtable.runtime.checkpoint import begin, open_checkpoint
from streamtable.session import Session

TESTS = Path(__file__).parents[2]
TABLES = (TESTS / "golden" / "tables.sql").read_text()
INSERT = (
    "INSERT INTO per_region SELECT {} region, COUNT(*), MAX(score) FROM users AS u GROUP BY region"
)
#: Each differs from the one above in what its state holds.
OTHERS = (
    INSERT.replace("MAX", "MIN"),
    INSERT.replace("MAX(score)", "MAX(score + 1)"),
    INSERT.replace("COUNT(*)", "COUNT(DISTINCT score)"),
    INSERT.replace("GROUP BY", "WHERE score > 1 GROUP BY"),
)


def _plans(hint: str = "", insert: str = INSERT, tables: str = TABLES) -> dict[str, Sink]:
    session = Session()
    session.load(f"{tables}\n{insert.format(hint)};", "job.sql")
    return {"per_region": session.plans[0]}


def _written(folder: Path, plans: dict[str, Sink]) -> Path:
    checkpoint = open_checkpoint(str(folder), plans)
    begin(checkpoint, plans, {})
    checkpoint.close()
    return folder / "streamtable.json"


def _refusal(folder: Path, plans: dict[str, Sink]) -> str:
    with pytest.raises(StreamtableError) as refused:
        open_checkpoint(str(folder), plans)
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
    text = str(refused.value)
    assert "it rebuilds its state from the topics" in text
    return text


def test_another_layout_of_a_state_is_refused_by_name(tmp_path: Path) -> None:
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    assert held["queries"]["per_region"]["state"] == [
        ["GroupAggregate", 1],
        ["ChangelogNormalize", 1],
    ]
    held["queries"]["per_region"]["state"][0][1] = 0
    manifest.write_text(json.dumps(held))
    told = _refusal(tmp_path, _plans())
    assert "the state of GroupAggregate in per_region has layout 0, this version has 1" in told


def test_another_layout_of_the_folder_is_refused(tmp_path: Path) -> None:
    """The first one told nothing of its states."""
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    del held["queries"]["per_region"]["state"]
    manifest.write_text(json.dumps({**held, "layout": 1}))
    assert "has layout 1, this version writes 3" in _refusal(tmp_path, _plans())


def test_how_long_state_is_kept_may_change_but_not_whether_it_expires(tmp_path: Path) -> None:
    _written(tmp_path, _plans("/*+ STATE_TTL('u' = '1 d') */"))
    open_checkpoint(str(tmp_path), _plans("/*+ STATE_TTL('u' = '2 d') */")).close()
    told = _refusal(tmp_path, _plans())
    assert "state expires" in told


@pytest.mark.parametrize("other", OTHERS)
def test_another_query_is_refused(other: str, tmp_path: Path) -> None:
    _written(tmp_path, _plans())
    assert "the query into per_region was" in _refusal(tmp_path, _plans(insert=other))


def test_another_topic_is_refused_but_other_brokers_are_not(tmp_path: Path) -> None:
    _written(tmp_path, _plans())
    servers = "'properties.bootstrap.servers' = '"
    moved = TABLES.replace(servers, f"{servers}elsewhere:9092,")
    assert moved != TABLES
    open_checkpoint(str(tmp_path), _plans(tables=moved)).close()
    renamed = TABLES.replace("'topic' = 'users'", "'topic' = 'people'")
    assert renamed != TABLES
    _refusal(tmp_path, _plans(tables=renamed))


def test_words_of_a_plan_may_change(tmp_path: Path) -> None:
    """A later version may tell the same plan in another way."""
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    held["queries"]["per_region"]["plan"] = ["Sink, as it was once called"]
    manifest.write_text(json.dumps(held))
    checkpoint = open_checkpoint(str(tmp_path), _plans())
    begin(checkpoint, _plans(), {})
    checkpoint.close()
    now = json.loads(manifest.read_text())["queries"]["per_region"]["plan"]
    assert now[0].startswith("Sink per_region")


def test_every_operator_that_keeps_state_has_a_layout() -> None:
    assert set(LAYOUTS) == set(NODE_NAMES) - set(KEEPS_NOTHING)


def test_layouts_are_those_of_the_documents() -> None:
    """The table of states in the architecture page has every processor and variable."""
    text = (TESTS.parent / "docs" / "architecture.md").read_text()
    table = text[text.index("\n## State\n") : text.index("\n## The checkpoint folder\n")]
    for layout in LAYOUTS.values():
        for name in (*layout.processors, *layout.variables):
            assert f"`{name}`" in table, name
