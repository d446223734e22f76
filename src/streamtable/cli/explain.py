"""`streamtable explain`: plans of all INSERTs, without Spark and without a broker."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, print_notices, script_arguments


@click.command()
@script_arguments
def command(file: Path, settings: dict[str, str], variables: dict[str, str]) -> None:
    """Print the plans of the SQL script FILE: operators, row kinds and keys."""
    session = load_script(file, settings, variables)
    print_notices(session)
    click.echo(session.explain())
