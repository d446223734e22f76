"""`streamtable validate`: all checks of a script that need no cluster."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, print_notices, script_arguments
from streamtable.ingest import is_job_file, require_reader


@click.command()
@script_arguments
def command(file: Path, settings: dict[str, str], variables: dict[str, str]) -> None:
    """Check the syntax, options, names, types and row kinds of the SQL script FILE.

    Connects to no server: a table whose columns only a schema registry knows is refused. A FILE
    with the suffix .yaml or .yml is a data ingestion job; its keys and values are checked.
    """
    if is_job_file(file):
        require_reader()
        from streamtable.ingest.file.job_file import load_job  # SQL scripts do not need this import

        load_job(file, variables)
        click.echo(f"{file}: valid, a data ingestion job")
        return
    session = load_script(file, settings, variables, offline=True)
    print_notices(session)
    selects = f" and {len(session.selects)} SELECT(s)" if session.selects else ""
    click.echo(f"{file}: valid, {len(session.plans)} INSERT(s){selects}")
