"""`streamtable validate`: everything about a script that can be checked without a cluster."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, script_arguments


@click.command()
@script_arguments
def command(file: Path, settings: dict[str, str], variables: dict[str, str]) -> None:
    """Check the SQL script FILE: syntax, options, names, types, row kinds."""
    session = load_script(file, settings, variables)
    selects = f" and {len(session.selects)} SELECT(s)" if session.selects else ""
    click.echo(f"{file}: valid, {len(session.plans)} INSERT(s){selects}")
