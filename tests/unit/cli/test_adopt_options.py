"""`streamtable adopt --at`: the offsets of a topic, in Flink's notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from streamtable.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("orders", "'orders' is not of the form key=value"),
        ("orders=42", "'42' is not of the form 'partition:0,offset:42;partition:1,offset:300'"),
        ("orders=partition:0,offset:1;partition:0,offset:2", "offsets with each partition once"),
    ],
)
def test_offsets_that_cannot_be_read(at: str, message: str, tmp_path: Path) -> None:
    given = ["adopt", str(tmp_path / "job.sql"), "--checkpoint", str(tmp_path / "c"), "--at", at]
    result = CliRunner().invoke(cli, given)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "c").exists()


def test_a_script_without_insert_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("CREATE TABLE t (a INT) WITH ('connector' = 'print');")
    result = CliRunner().invoke(cli, ["adopt", str(script), "--checkpoint", str(tmp_path / "c")])
    assert result.exit_code == 1
    assert "NOTHING_TO_RUN" in result.output
