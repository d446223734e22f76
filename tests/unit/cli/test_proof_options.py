"""`run --prove-every` and its options, without a job."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from streamtable.cli.deploy.submit import command as submit
from streamtable.cli.main import cli
from streamtable.cli.proof_options import PROGRAM, repeated_proof
from streamtable.cli.run import command

_FILE = Path("job.sql")


def _context(*options: str) -> click.Context:
    return command.make_context("run", [str(_FILE), *options])


def test_a_proof_gets_the_script_and_its_settings() -> None:
    context = _context("--prove-every", "1h", "--prove-cpu", "2.5%", "--prove-memory", "4g")
    found = repeated_proof(context, _FILE, {"a": "1"}, {"b": "x=y"})
    assert found is not None
    assert (found.every, found.share, found.memory) == (timedelta(hours=1), 0.025, "4g")
    assert found.command == PROGRAM
    assert found.arguments == ["job.sql", "--set", "a=1", "--var", "b=x=y"]


def test_the_defaults() -> None:
    assert repeated_proof(_context(), _FILE, {}, {}) is None
    found = repeated_proof(_context("--prove-every", "10 min"), _FILE, {}, {})
    assert found is not None
    assert (found.share, found.memory) == (0.05, "2g")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--prove-every", "500ms"], "is not a duration of at least one second"),
        (["--prove-every", "soon"], "is not a duration"),
        (["--prove-every", "1h", "--prove-cpu", "0%"], "is not a percentage above 0%"),
        (["--prove-cpu", "1%"], "--prove-cpu needs --prove-every"),
        (["--prove-memory", "1g"], "--prove-memory needs --prove-every"),
    ],
)
def test_wrong_options_are_refused(options: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as caught:
        repeated_proof(_context(*options), _FILE, {}, {})
    assert message in caught.value.format_message()


def test_a_script_without_inserts_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SELECT 1;")
    result = CliRunner().invoke(cli, ["run", str(script), "--prove-every", "1h"])
    assert result.exit_code == 2
    assert "--prove-every compares INSERTs" in result.output


def test_submit_has_no_prove_option() -> None:
    with pytest.raises(click.NoSuchOption):
        submit.make_context("submit", ["job.sql", "--prove-every", "1h"])
