"""INSERTs that share a query of a checkpoint, in runs that add and remove INSERTs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.checkpoint.checkpoint import Checkpoint, begin, open_checkpoint
from streamtable.runtime.checkpoint.manifest.recorded_query import SharedQuery
from streamtable.runtime.query.job_query import job_queries
from streamtable.session import Session

_SINK = """
CREATE TABLE {name} (id BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = 's:9092',
  'format' = 'json' {options});
"""
_SOURCE = """
CREATE TABLE t (id BIGINT, v STRING) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 's:9092',
  'format' = 'json');
"""
_EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'of-{name}'"
)


def _opened(
    folder: Path,
    inserts: str,
    *,
    hints: str = "",
    options: str = "",
    of_set: bool = True,
    notices: list[str] | None = None,
) -> Checkpoint:
    """Open the checkpoint of a script with an INSERT for each letter.

    The INSERTs before `|` are a statement set, unless `of_set` is false. The INSERTs after `|`
    are outside of the set.
    """
    text = _SOURCE
    for name in "abcd":
        text += _SINK.format(name=name, options=options.format(name=name))
    together, others = (
        "".join(
            f"INSERT INTO {name} SELECT id FROM t {hints if name == 'b' else ''};\n"
            for name in names
        )
        for names in (inserts.partition("|")[0], inserts.partition("|")[2])
    )
    if together and of_set:
        together = f"EXECUTE STATEMENT SET BEGIN\n{together}END;"
    text += f"{together}\n{others}"
    session = Session()
    session.load(text, "job.sql")
    told = [] if notices is None else notices
    return open_checkpoint(str(folder), query_names(session.plans), told.append)


def _run(folder: Path, inserts: str, *, options: str = "", of_set: bool = True) -> dict[str, str]:
    """Start a job up to its manifest; return its queries with their INSERTs."""
    checkpoint = _opened(folder, inserts, options=options, of_set=of_set)
    begin(checkpoint, {})
    for query in job_queries(checkpoint.queries):
        (folder / query.name).mkdir(exist_ok=True)
    checkpoint.close()
    return {query.name: "".join(query.inserts) for query in job_queries(checkpoint.queries)}


#: Successive statement sets on one checkpoint, and the queries of the last run.
HISTORIES = {
    "unchanged": (["ab", "ab"], {"statement-set": "ab"}),
    "another order": (["ab", "ba"], {"statement-set": "ba"}),
    "removed": (["abc", "ac"], {"statement-set": "ac"}),
    "all but one removed": (["ab", "b"], {"statement-set": "b"}),
    "added": (["ab", "abc"], {"statement-set": "ab", "c": "c"}),
    "two added": (["ab", "abcd"], {"statement-set": "ab", "statement-set-2": "cd"}),
    "added to one": (["a", "abc"], {"a": "a", "statement-set": "bc"}),
    "removed and again": (["abc", "ab", "abc"], {"statement-set": "ab", "c": "c"}),
    "all removed and again": (["abc|d", "|d", "abc|d"], {"statement-set": "abc", "d": "d"}),
    "all removed and some again": (
        ["abc|d", "|d", "ab|d", "abc|d"],
        {"statement-set": "ab", "c": "c", "d": "d"},
    ),
}


@pytest.mark.parametrize(("sets", "queries"), HISTORIES.values(), ids=HISTORIES)
def test_histories(sets: list[str], queries: dict[str, str], tmp_path: Path) -> None:
    for inserts in sets[:-1]:
        _run(tmp_path, inserts)
    assert _run(tmp_path, sets[-1]) == queries


def test_the_first_run_decides_whether_inserts_share_a_query(tmp_path: Path) -> None:
    assert _run(tmp_path / "apart", "ab", of_set=False) == {"a": "a", "b": "b"}
    assert _run(tmp_path / "apart", "ab") == {"a": "a", "b": "b"}
    assert _run(tmp_path / "set", "ab") == {"statement-set": "ab"}
    assert _run(tmp_path / "set", "ab", of_set=False) == {"statement-set": "ab"}


def test_shared_queries_have_a_later_manifest_layout(tmp_path: Path) -> None:
    _run(tmp_path / "apart", "ab", of_set=False)
    _run(tmp_path / "set", "ab")
    layouts = [
        json.loads((tmp_path / name / "streamtable.json").read_text())["layout"]
        for name in ("apart", "set")
    ]
    assert layouts == [3, 5]


def test_a_removed_insert_is_reported_and_its_query_continues(tmp_path: Path) -> None:
    _run(tmp_path, "abc")
    notices: list[str] = []
    _opened(tmp_path, "ab", notices=notices).close()
    (notice,) = notices
    assert notice == (
        "c: no longer in the script; its rows stay in c, and its query goes on without it, so that"
        " the same INSERT would start anew"
    )


def test_transactional_ids_are_kept_if_their_insert_is_removed(tmp_path: Path) -> None:
    _run(tmp_path, "abc", options=_EXACTLY_ONCE)
    _run(tmp_path, "cb", options=_EXACTLY_ONCE)
    checkpoint = _opened(tmp_path, "cb", options=_EXACTLY_ONCE)
    checkpoint.close()
    assert checkpoint.record_of("b").shared == SharedQuery("statement-set", "of-a")


def test_ids_of_later_enabled_transactions_are_kept(tmp_path: Path) -> None:
    _run(tmp_path, "ab")
    _run(tmp_path, "ab", options=_EXACTLY_ONCE)
    checkpoint = _opened(tmp_path, "b", options=_EXACTLY_ONCE)
    checkpoint.close()
    assert checkpoint.record_of("b").shared == SharedQuery("statement-set", "of-a")


def test_inserts_that_can_no_longer_share_a_query_are_refused(tmp_path: Path) -> None:
    _run(tmp_path, "abc")
    hint = "/*+ OPTIONS('scan.startup.mode'='latest-offset') */"
    with pytest.raises(StreamtableError, match="one query writes a, b, c") as refused:
        _opened(tmp_path, "abc", hints=hint)
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
