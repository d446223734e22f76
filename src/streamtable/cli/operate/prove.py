"""`streamtable prove`: compares the sinks of a job with batch answers over the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import load_script, master_option, print_notices, script_arguments
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings import CHECKPOINT_DIRECTORY
from streamtable.jvm.installed_spark import check_machine

if TYPE_CHECKING:
    from streamtable.runtime.proof.report import Proof


def _share(_context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Parse a percentage such as `1%`; a click callback."""
    try:
        number = float(value.removesuffix("%")) if value.endswith("%") else 0.0
    except ValueError:
        number = 0.0
    if not 0 < number <= 100:
        message = f"'{value}' is not a percentage above 0%, such as 1%"
        raise click.BadParameter(message, param=parameter)
    return number / 100


@click.command()
@script_arguments
@click.option(
    "--checkpoint", metavar="DIR", help="Checkpoint of the job; the job may run meanwhile."
)
@click.option("--table", metavar="TABLE", help="Compare only the queries that write this table.")
@click.option(
    "--sample",
    callback=_share,
    default="100%",
    show_default=True,
    metavar="PERCENT",
    help="Compare only a share of the keys, chosen by a hash.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per query.")
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    checkpoint: str | None,
    table: str | None,
    sample: float,
    as_json: bool,
    master: str | None,
) -> None:
    """Compare the tables that the SQL script FILE has written with a batch computation.

    Takes the offsets that a commit of the checkpoint covers, computes the queries with Spark's
    batch operators over exactly these records, and compares the result with the sink topics as of
    this commit. Nothing is written. The exit code is 0 if all tables are equal, else 1.
    """
    session = load_script(file, settings, variables)
    if not session.plans:
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    current = session.settings.current()
    directory = checkpoint or current.get(CHECKPOINT_DIRECTORY)
    if directory is None:
        message = "name the checkpoint of the job: --checkpoint DIR"
        raise click.UsageError(message)
    print_notices(session)

    check_machine()  # Spark is needed from here on
    from streamtable.runtime.proof.prove import Asked, prove_job
    from streamtable.runtime.proof.report import SHARED

    def show(proof: Proof) -> None:
        lines = [json.dumps(proof.as_json())] if as_json else proof.lines()
        for line in lines:
            click.echo(line)

    equal = prove_job(
        session.plans,
        Asked(directory, table, sample),
        current,
        master,
        session.catalog.functions.made,
        lambda line: click.echo(line, err=True),
        show,
        verbose=bool(context.find_root().params.get("debug")),
    )
    if not as_json:
        click.echo(f"{SHARED}.")
    if not equal:
        context.exit(1)
