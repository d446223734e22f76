"""`streamtable explain`: the plan of every INSERT, without Spark and without a broker."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, script_arguments


@click.command()
@script_arguments
def command(file: Path, settings: dict[str, str], variables: dict[str, str]) -> None:
    """Show the plans of the SQL script FILE: operators, row kinds, keys."""
    session = load_script(file, settings, variables)
    click.echo(session.explain())
