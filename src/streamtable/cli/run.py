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
    """Run the SQL script FILE, its INSERTs and SELECTs, until Ctrl-C or the end with --bounded."""
    session = load_script(file, settings, variables)
    for text in session.printed:
        click.echo(text)
    if not (session.plans or session.selects or session.printed):
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    if session.plans or session.selects:
        from streamtable.runtime.job import RunOptions  # only now Spark is needed

        verbose = bool(context.find_root().params["debug"])
        options = RunOptions(bounded, checkpoint, master, verbose)
        session.run(options, lambda line: click.echo(line, err=True), show=click.echo)
