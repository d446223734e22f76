"""`streamtable read`: the rows of a table at a moment, its changes, or a difference."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from streamtable.cli.script import (
    load_script,
    master_option,
    notice,
    print_notices,
    script_arguments,
)
from streamtable.core.moment import NOW, Moment, parse_moment
from streamtable.core.options import Settings
from streamtable.core.settings.session import time_zone
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.session.launch import launched_ahead


@click.command()
@script_arguments
@click.argument("table")
@click.option(
    "--as-of",
    metavar="MOMENT",
    help="Read the table at this moment instead of now: a time such as '2026-01-31 12:00:00' or"
    " '10 min ago', or offsets such as 'partition:0,offset:42;partition:1,offset:300'.",
)
@click.option("--where", metavar="CONDITION", help="Show only rows that meet a SQL condition.")
@click.option("--changes", is_flag=True, help="Show the changes of the rows, oldest first.")
@click.option(
    "--diff",
    nargs=2,
    metavar="MOMENT MOMENT",
    help="Show what changed between two moments, as a changelog.",
)
@click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="Format of the rows.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Show at most N rows.")
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    table: str,
    settings: dict[str, str],
    variables: dict[str, str],
    as_of: str | None,
    where: str | None,
    changes: bool,
    diff: tuple[str, str] | None,
    output: str,
    limit: int | None,
    master: str | None,
) -> None:
    """Read the table or view TABLE of the SQL script FILE, without running the script.

    Spark folds the stored changes: of a table with a primary key, the last record of each key. The
    table's own properties log in to the cluster. Nothing is written.
    """
    if diff and (changes or as_of):
        message = f"--diff names both moments: remove {'--changes' if changes else '--as-of'}"
        raise click.UsageError(message)
    session = load_script(file, settings, variables)
    plan = session.read_of(table, where, "--where")
    current = session.settings.current()
    if diff:
        moments = [_moment(text, "--diff", current) for text in diff]
    else:
        moments = [NOW if as_of is None else _moment(as_of, "--as-of", current)]
    print_notices(session)

    check_machine()  # Spark is needed from here on
    verbose = bool(context.find_root().params.get("debug"))
    with launched_ahead(current, master, verbose, notice):
        from streamtable.runtime.stored.command import Asked, run_read
        from streamtable.runtime.stored.output import Output
        from streamtable.runtime.stored.read import View

        view = View.DIFFERENCE if diff else View.CHANGES if changes else View.CONTENT
        asked = Asked(view, moments, Output(output), limit)
        functions = session.catalog.functions.made
        run_read(plan, asked, current, master, functions, notice, click.echo, verbose=verbose)


def _moment(text: str, option: str, settings: Settings) -> Moment:
    return parse_moment(text, option, time_zone(settings), datetime.now(UTC))
