"""`streamtable run`: a script's INSERTs as one job."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, script_arguments
from streamtable.core.errors import Condition, StreamtableError


@click.command()
@script_arguments
@click.option("--bounded", is_flag=True, help="Process what the topics hold now, then exit.")
@click.option("--checkpoint", metavar="DIR", help="Where progress and state are kept.")
@click.option("--master", metavar="URL", help="Spark's master; without it, this machine.")
@click.pass_context
def command(
    context: click.Context,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    bounded: bool,
    checkpoint: str | None,
    master: str | None,
) -> None:
    """Run the INSERTs of the SQL script FILE until Ctrl-C, or with --bounded to the end."""
    session = load_script(file, settings, variables)
    for text in session.printed:
        click.echo(text)
    if not session.plans and not session.printed:
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    if session.plans:
        from streamtable.runtime.job import RunOptions  # only now Spark is needed

        verbose = bool(context.find_root().params["debug"])
        options = RunOptions(bounded, checkpoint, master, verbose)
        session.run(options, lambda line: click.echo(line, err=True))
