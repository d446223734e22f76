"""Assignment of the INSERTs of a script to the queries of a checkpoint."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import forget_secrets, hide, without_secrets
from streamtable.plan.rules.shape import shape
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import Checkpoint, begin, open_checkpoint
from streamtable.runtime.checkpoint.manifest.shapes import first_difference
from streamtable.session import Session

TABLES = (Path(__file__).parents[3] / "golden" / "tables.sql").read_text()
COUNTS = "INSERT INTO per_region SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region"
SUMS = COUNTS.replace("MAX", "MIN")
COPY = "INSERT INTO users_copy SELECT id, score FROM users"
FILTERED = f"{COPY} WHERE id > 1"
EVENTS = "INSERT INTO events SELECT id, note FROM events"


def opened(folder: Path, *inserts: str, notices: list[str] | None = None) -> Checkpoint:
    session = Session()
    session.load(TABLES + "".join(f"\n{insert};" for insert in inserts), "job.sql")
    told = [] if notices is None else notices
    return open_checkpoint(str(folder), query_names(session.plans), told.append)


def run(folder: Path, *inserts: str, topics: dict[str, str] | None = None) -> list[str]:
    """Start a job up to its manifest; return the names of its queries."""
    checkpoint = opened(folder, *inserts)
    begin(checkpoint, topics or {})
    checkpoint.close()
    return list(checkpoint.plans)


def manifest(folder: Path) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((folder / "streamtable.json").read_text())
    return found


#: Successive scripts on one checkpoint, and the names of the queries of the last script.
HISTORIES = {
    "unchanged": ([[COUNTS, COPY], [COUNTS, COPY]], ["per_region", "users_copy"]),
    "another order": ([[COUNTS, COPY], [COPY, COUNTS]], ["users_copy", "per_region"]),
    "added": ([[COUNTS], [COPY, COUNTS]], ["users_copy", "per_region"]),
    "removed": ([[COUNTS, COPY], [COPY]], ["users_copy"]),
    "removed and again": ([[COUNTS, COPY], [COPY], [COUNTS, COPY]], ["per_region", "users_copy"]),
    "first of two": ([[COPY, FILTERED], [FILTERED]], ["users_copy-2"]),
    "second of two": ([[COPY, FILTERED], [COPY]], ["users_copy"]),
    "two change places": ([[COPY, FILTERED], [FILTERED, COPY]], ["users_copy-2", "users_copy"]),
    "a second one before": ([[COPY], [FILTERED, COPY]], ["users_copy-2", "users_copy"]),
    "the first again": (
        [[COPY, FILTERED], [FILTERED], [FILTERED, COPY]],
        ["users_copy-2", "users_copy"],
    ),
    "equal ones": ([[COPY, COPY], [COPY]], ["users_copy"]),
    "a name that was given away": (
        [[COPY, FILTERED, EVENTS], [EVENTS], [EVENTS, FILTERED], [EVENTS, FILTERED, COPY]],
        ["events", "users_copy-2", "users_copy"],
    ),
}


@pytest.mark.parametrize("case", HISTORIES)
def test_names_stay_with_their_queries(case: str, tmp_path: Path) -> None:
    scripts, names = HISTORIES[case]
    found = [run(tmp_path, *script) for script in scripts]
    assert found[-1] == names


#: INSERTs of an earlier run, INSERTs of the script now, and the error message.
CHANGES = {
    "changed": ([COUNTS, COPY], [SUMS, COPY], "the query into per_region was"),
    "one of two changed": ([COPY, COUNTS], [FILTERED, COUNTS], "the query into users_copy was"),
    "all others": ([COUNTS], [COPY], "its queries write per_region, and the script writes users"),
    "an ingestion job": (
        [],
        [COPY],
        "its queries write no table, and the script writes users_copy",
    ),
    "no query": ([COPY], [], "its queries write users_copy, and the script writes no table"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_scripts_with_other_queries_are_refused(case: str, tmp_path: Path) -> None:
    before, now, told = CHANGES[case]
    run(tmp_path, *before)
    kept = (tmp_path / "streamtable.json").read_text()
    with pytest.raises(StreamtableError, match=told) as refused:
        opened(tmp_path, *now)
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
    assert (tmp_path / "streamtable.json").read_text() == kept


def test_a_query_that_replaces_a_removed_query_is_refused(tmp_path: Path) -> None:
    """The removed query has left keys in the topic, which no query would delete."""
    run(tmp_path, COPY, COUNTS)
    run(tmp_path, COUNTS)
    with pytest.raises(StreamtableError, match="the query into users_copy was"):
        opened(tmp_path, FILTERED, COUNTS)


def test_each_change_is_reported_once(tmp_path: Path) -> None:
    run(tmp_path, COUNTS)
    told: list[str] = []
    opened(tmp_path, COUNTS, COPY, notices=told).close()
    assert told == ["users_copy: new in the script, starts at the startup positions of its tables"]
    run(tmp_path, COUNTS, COPY)
    told.clear()
    opened(tmp_path, COPY, notices=told).close()
    assert len(told) == 1
    assert told[0].startswith("per_region: no longer in the script; its rows stay in per_region")
    run(tmp_path, COPY)
    told.clear()
    opened(tmp_path, COPY, notices=told).close()
    assert told == []
    opened(tmp_path, COPY, COUNTS, notices=told).close()
    assert told == ["per_region: in the script again, continues at its last commit"]


def test_a_removed_query_is_kept_in_the_manifest(tmp_path: Path) -> None:
    run(tmp_path, COUNTS, COPY, topics={"users": "1", "carts": "2"})
    assert manifest(tmp_path)["layout"] == 3
    run(tmp_path, COPY, topics={"users": "1"})
    held = manifest(tmp_path)
    assert (held["layout"], list(held["queries"])) == (4, ["users_copy"])
    assert held["topics"] == {"users": "1"}, "another topic of a removed query may be made anew"
    checkpoint = opened(tmp_path, COUNTS, COPY)
    assert checkpoint.retired_topic_ids("per_region") == {"users": "1", "carts": "2"}
    assert checkpoint.queries.starting == {"per_region"}
    begin(checkpoint, {"users": "1"})
    checkpoint.close()
    assert manifest(tmp_path)["layout"] == 3


def test_queries_of_an_older_manifest_are_known_by_their_hash(tmp_path: Path) -> None:
    run(tmp_path, COPY, FILTERED)
    held = manifest(tmp_path)
    for query in held["queries"].values():
        assert isinstance(query, dict)
        del query["shape"], query["table"]
    (tmp_path / "streamtable.json").write_text(json.dumps(held))
    assert run(tmp_path, FILTERED) == ["users_copy-2"]
    assert "shape" in json.dumps(manifest(tmp_path)["queries"])


#: Passwords before and after a restart. A password may be a word of the plan of COUNTS.
PASSWORDS = {
    "a word, then another": ("users", "score"),
    "a word, then none": ("users", "pass-4711"),
    "none, then a word": ("pass-4711", "score"),
}


@pytest.mark.parametrize("case", PASSWORDS)
def test_a_password_that_is_a_word_of_the_plan_can_change(case: str, tmp_path: Path) -> None:
    before, now = PASSWORDS[case]
    hide(before)
    run(tmp_path, COUNTS)
    assert before not in json.dumps(manifest(tmp_path))
    forget_secrets()
    hide(now)
    assert run(tmp_path, COUNTS) == ["per_region"]


def test_a_hash_masked_by_an_earlier_version_is_recognized(tmp_path: Path) -> None:
    hide("users")
    run(tmp_path, COUNTS)
    held = manifest(tmp_path)
    (plan,) = opened(tmp_path / "other", COUNTS).plans.values()
    masked = without_secrets(json.dumps(shape(plan), sort_keys=True))
    held["queries"]["per_region"]["hash"] = sha256(masked.encode()).hexdigest()  # type: ignore[index]
    (tmp_path / "streamtable.json").write_text(json.dumps(held))
    assert run(tmp_path, COUNTS) == ["per_region"]
    with pytest.raises(StreamtableError, match="the query into per_region was"):
        run(tmp_path, SUMS)


def test_the_id_of_a_query_is_kept(tmp_path: Path) -> None:
    run(tmp_path, COPY, COUNTS)
    held = manifest(tmp_path)
    held["queries"]["users_copy"]["id"] = "own"  # type: ignore[index]
    held["layout"] = 4  # type: ignore[assignment]
    (tmp_path / "streamtable.json").write_text(json.dumps(held))
    run(tmp_path, COUNTS)
    run(tmp_path, COUNTS, COPY)
    checkpoint = opened(tmp_path, COUNTS, COPY)
    checkpoint.close()
    assert checkpoint.id_of("users_copy") == "own"
    assert checkpoint.id_of("per_region") == checkpoint.id
    assert manifest(tmp_path)["layout"] == 4


@pytest.mark.parametrize(
    ("now", "operator"),
    [
        (SUMS, "projections of Calc"),
        (COUNTS.replace("GROUP", "WHERE score > 1 GROUP"), "condition of Calc"),
        (COUNTS.replace("COUNT(*)", "COUNT(*) + 1"), "projections of Calc"),
        ("INSERT INTO per_region SELECT region, id, score FROM users", "Calc, now"),
    ],
)
def test_the_first_operator_that_differs_is_named(now: str, operator: str, tmp_path: Path) -> None:
    run(tmp_path, COUNTS)
    with pytest.raises(StreamtableError, match=rf"first difference: {operator}"):
        opened(tmp_path, now)
    shapes = manifest(tmp_path)["queries"]["per_region"]["shape"]  # type: ignore[index]
    assert first_difference(shapes, shapes) is None
