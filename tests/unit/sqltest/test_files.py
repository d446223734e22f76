"""Test files: valid contents, and the message for each mistake."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from streamtable.core.changelog import RowKind
from streamtable.core.errors import StreamtableError
from streamtable.sqltest.bind import bind
from streamtable.sqltest.document import read_file

_SCRIPT = """
CREATE TABLE t (k INT, v DECIMAL(4, 1), op STRING, a ARRAY<INT>, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'h:1',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE out (k INT, v DECIMAL(4, 1), PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'h:1',
  'key.format' = 'json', 'value.format' = 'json');
INSERT INTO out SELECT k, v FROM t;
"""
_FILE = """script: t.sql
cases:
  - name: one
    given: {given}
    expect: {expect}
"""
_ONE = "cases: [{name: a, given: {}, expect: {out: []}}]"


def _bound(folder: Path, text: str):  # type: ignore[no-untyped-def]
    (folder / "t.sql").write_text(_SCRIPT)
    file = folder / "t.test.yaml"
    file.write_text(text)
    return bind(read_file(file))


def test_rows_are_converted_by_their_columns(tmp_path: Path) -> None:
    text = _FILE.format(
        given="{t: [{k: 1, v: 2.50, op: x, a: [1, null]}, {$op: -D, k: 1}]}", expect="{out: []}"
    )
    with pytest.raises(StreamtableError, match="more than 3 digits before or 1 after") as error:
        _bound(tmp_path, text.replace("2.50", "2.55"))
    assert error.value.at is not None
    assert error.value.at.line == 4
    (case,) = _bound(tmp_path, text).cases
    first, second = case.batches[0].rows["t"]
    assert first.kind is RowKind.UPDATE_AFTER
    assert first.values == (1, Decimal("2.5"), "x", (1, None))
    assert (second.kind, second.values) == (RowKind.DELETE, (1, None, None, None))


@pytest.mark.parametrize(
    ("given", "expect", "message"),
    [
        ("{u: []}", "{out: []}", "UNKNOWN_TABLE"),
        ("{out: []}", "{out: []}", "table out is not read"),
        ("{}", "{t: []}", "table t is not written"),
        ("{t: [{q: 1}]}", "{out: []}", "table t has no column 'q'"),
        ("{t: [{k: x}]}", "{out: []}", "column 'k' of table t is INT NOT NULL, found 'x'"),
        ("{t: [{k: 3000000000}]}", "{out: []}", "it is out of range"),
        ("{t: [{v: 1}]}", "{out: []}", "column 'k' of table t is INT NOT NULL, found null"),
        ("{t: [{k: 1, a: 2}]}", "{out: []}", "column 'a' of table t is ARRAY<INT>, found a text"),
        ("{t: [{k: 1, $op: -U}]}", "{out: []}", "table t has no -U. Hint: it has"),
        ("{t: [{k: 1, $op: -D, v: 1}]}", "{out: []}", "has only its key"),
        ("{t: [{k: 1, partition: x}]}", "{out: []}", "is not a number"),
        ("{t: [7]}", "{out: []}", "a row of t is not a mapping"),
        ("{t: 7}", "{out: []}", "the rows of t is not a list"),
        ("[{advance: end}, {t: []}]", "{out: []}", "make it the last step"),
        ("[{advance: {water: x}}]", "{out: []}", "did you mean 'watermark'"),
        ("[{advance: {clock: x}}]", "{out: []}", "'x' is not a time"),
        ("{}", "{out: {row: []}}", "did you mean 'rows'"),
        ("{}", "{out: {changes: [{k: 1}]}}", "lacks 'op'"),
        ("{}", "{out: [{op: +I, k: 1}]}", "write it below 'changes:'"),
        ("{}", "{out: {changes: [{op: +X, k: 1}]}}", "'op' is '\\+X'"),
        ("{}", "{}", "'expect' of case 'one' is empty"),
    ],
)
def test_errors_in_a_test_file_have_a_position(
    given: str, expect: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(StreamtableError, match=message) as error:
        _bound(tmp_path, _FILE.format(given=given, expect=expect))
    assert str(error.value.at).startswith(f"{tmp_path / 't.test.yaml'}:")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("- 1", "is not a mapping"),
        ("script: t.sql", "lacks the key 'cases'"),
        ("script: t.sql\ncases: []", "'cases' is empty"),
        ("script: t.sql\ncase: []", "did you mean 'cases'"),
        (
            "script: t.sql\nsettings: {no: 1}\ncases: [{name: a, given: {}, expect: {out: []}}]",
            "2:12",
        ),
        (f"script: t.sql\nsettings: {{table.local-time-zone: Mars}}\n{_ONE}", "time zone 'Mars'"),
        ("script: no.sql\ncases: [{name: a, given: {}, expect: {out: []}}]", "does not exist"),
    ],
)
def test_a_wrong_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(StreamtableError, match=message):
        _bound(tmp_path, text)
