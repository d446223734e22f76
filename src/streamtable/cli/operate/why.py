"""`streamtable why`: the input records of a row of a sink, or why the row is missing."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import (
    load_script,
    master_option,
    notice,
    print_notices,
    script_arguments,
)
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.session.launch import launched_ahead


@click.command()
@script_arguments
@click.option("--table", metavar="T", required=True, help="The table that the script writes.")
@click.option(
    "--key",
    metavar="JSON",
    required=True,
    help="The key of the row: an object with the columns of the table's primary key, such as"
    " '{\"id\": 7}'.",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Read the records that the newest commit of this checkpoint covers, instead of all up to"
    " now. The job may run meanwhile.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Show at most N records, the newest.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    table: str,
    key: str,
    checkpoint: str | None,
    limit: int,
    as_json: bool,
    master: str | None,
) -> None:
    """Show the input records from which a row of a table comes.

    FILE is the SQL script with the INSERT into the table. If the query has no row with the key, the
    operators are shown, with the number of the rows of the key, up to the one that drops them.
    Spark computes the query from the stored records. The script does not run, and nothing is
    written.
    """
    session = load_script(file, settings, variables)
    current = session.job_settings
    print_notices(session)

    check_machine()  # Spark is needed from here on
    verbose = bool(context.find_root().params.get("debug"))
    with launched_ahead(current, master, verbose, notice):
        from streamtable.runtime.why.asked import question
        from streamtable.runtime.why.command import run_why

        asked = question(session.plans, table, key, limit)
        functions = session.catalog.functions.made
        answer = run_why(asked, checkpoint, current, master, functions, notice, verbose=verbose)
    if as_json:
        click.echo(answer.json())
        return
    for line in answer.lines():
        click.echo(line)
