"""`streamtable adopt`: takes over the sink topics that another engine has written."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, master_option, notice, pairs, script_arguments
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.moment import parse_offsets


def _offsets(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, dict[int, int]]:
    """Parse the values of `--at`; a click callback."""
    found = {}
    for topic, text in pairs(context, parameter, values).items():
        offsets = parse_offsets(text, "--at")
        if offsets is None:
            message = f"'{text}' is not of the form 'partition:0,offset:42;partition:1,offset:300'"
            raise click.BadParameter(message, param=parameter)
        found[topic] = offsets
    return found


@click.command()
@script_arguments
@click.option(
    "--checkpoint",
    metavar="DIR",
    required=True,
    help="Checkpoint of the new job; a missing directory is created.",
)
@click.option(
    "--plan", is_flag=True, help="Print what the command would write, and change nothing."
)
@click.option(
    "--at",
    metavar="TOPIC=OFFSETS",
    multiple=True,
    callback=_offsets,
    help="End offsets, exclusive, up to which the other engine has read a topic:"
    " `orders=partition:0,offset:42;partition:1,offset:300`. Repeatable.",
)
@click.option(
    "--group",
    metavar="GROUP",
    help="Consumer group of the other engine: topics without `--at` end at its committed offsets.",
)
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    checkpoint: str,
    plan: bool,
    at: dict[str, dict[int, int]],
    group: str | None,
    master: str | None,
) -> None:
    """Take over the sink topics that another engine has written with the SQL script FILE.

    The other engine, such as a Flink job, has stopped. The queries read their input up to its end,
    or up to the given offsets, and only the rows that differ are written to the upsert sinks. The
    next `streamtable run` continues from there. Run the command again after an interruption: until
    then, the job does not start.
    """
    from streamtable.jvm.install.installed_spark import check_machine

    session = load_script(file, settings, variables)
    if not session.plans:
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    check_machine()
    from streamtable.runtime.adopt.adopt import adopt_job
    from streamtable.runtime.adopt.options import AdoptOptions

    verbose = bool(context.find_root().params["debug"])
    options = AdoptOptions(
        checkpoint, plan=plan, master=master, verbose=verbose, at=at, group=group
    )
    functions = session.catalog.functions.made
    adopt_job(session.plans, session.job_settings, options, click.echo, notice, functions)
