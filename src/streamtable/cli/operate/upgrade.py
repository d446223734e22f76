"""`streamtable upgrade`: continues the checkpoint of a stopped job with a changed script."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import load_script, master_option, notice, script_arguments


@click.command()
@script_arguments
@click.option(
    "--checkpoint", metavar="DIR", required=True, help="Checkpoint of the job, which is stopped."
)
@click.option("--plan", is_flag=True, help="Print what the command would do, and change nothing.")
@click.option(
    "--from-now",
    is_flag=True,
    help="Let queries that cannot be rebuilt continue from now, with the old rows in their sinks.",
)
@click.option(
    "--stop-job",
    is_flag=True,
    help="The job may run: catch up meanwhile, and then stop it for the rest of the upgrade.",
)
@click.option(
    "--run",
    "then_run",
    is_flag=True,
    help="Then run the changed job in this process, whose Spark has started already. Options of"
    " `run` have their defaults.",
)
@click.option(
    "--rollback",
    is_flag=True,
    help="Undo the last upgrade, before the job has gone on; FILE is the script of before.",
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
    from_now: bool,
    stop_job: bool,
    then_run: bool,
    rollback: bool,
    master: str | None,
) -> None:
    """Upgrade the checkpoint of a job to the changed SQL script FILE.

    A changed query reads its input again, and only the rows that differ are written to its sink.
    The next `streamtable run`, or this command with --run, continues with the changed script. Run
    the command again after an interruption: until then, the job does not start.
    """
    from streamtable.jvm.install.installed_spark import check_machine

    if rollback and (stop_job or from_now):
        message = "--rollback goes with neither --stop-job nor --from-now"
        raise click.UsageError(message)
    if then_run and (rollback or plan):
        message = "--run goes with neither --rollback nor --plan"
        raise click.UsageError(message)
    session = load_script(file, settings, variables)
    check_machine()
    from streamtable.runtime.upgrade.options import UpgradeOptions
    from streamtable.runtime.upgrade.upgrade import upgrade_job

    verbose = bool(context.find_root().params["debug"])
    options = UpgradeOptions(checkpoint, plan, from_now, stop_job, rollback, master, verbose)
    functions = session.catalog.functions.made
    upgrade_job(session.plans, session.job_settings, options, click.echo, notice, functions)
    if then_run:
        from streamtable.cli.run import command as run

        given = {"settings": settings, "variables": variables, "master": master}
        context.invoke(run, file=file, checkpoint=checkpoint, **given)
