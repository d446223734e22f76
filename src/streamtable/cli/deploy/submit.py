"""`streamtable submit`: runs a job by spark-submit."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click
from click.core import ParameterSource

from streamtable.cli.run import command as run_command
from streamtable.cli.script import load_settings, pairs, print_notices, script_arguments

#: Parameters of `streamtable run` that are not passed on as they are, or need a process of its own
#: beside the driver.
_OWN = {
    *("file", "settings", "variables", "master"),
    *("prove_every", "prove_cpu", "prove_memory"),
}

_OF_RUN = [param for param in run_command.params if param.name not in _OWN]


@click.command()
@script_arguments
@click.option(
    "--master", metavar="URL", help="Spark master. By default, spark-defaults.conf names it."
)
@click.option(
    "--deploy-mode",
    type=click.Choice(["client", "cluster"]),
    default="client",
    show_default=True,
    help="Run the driver on this machine, or in the cluster.",
)
@click.option(
    "--conf",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="Set a Spark setting. Repeatable.",
)
@click.option(
    "--files",
    metavar="PATHS",
    multiple=True,
    help="Further files for the driver's working directory, separated by commas. Repeatable.",
)
@click.option(
    "--installed",
    is_flag=True,
    help="In cluster mode, ship no Python packages: the cluster's Python has streamtable.",
)
@click.option(
    "--package",
    "packages",
    metavar="NAME",
    multiple=True,
    help="In cluster mode, also ship this installed Python package. Repeatable.",
)
@click.option(
    "--dry-run",
    "--print",
    "dry_run",
    is_flag=True,
    help="Write the files and print the command line, but do not run it.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
    deploy_mode: str,
    conf: dict[str, str],
    files: tuple[str, ...],
    installed: bool,
    packages: tuple[str, ...],
    dry_run: bool,
    checkpoint: str | None,
    **of_run: object,
) -> None:
    """Run the SQL script or data ingestion job FILE by spark-submit, and print its command line.

    The options of `streamtable run` go to the job. Values of --set and --var travel in a file, and
    Spark settings with secret values too. The exit code is the exit code of spark-submit.
    """
    del of_run  # `_arguments` reads them from the context
    in_cluster = deploy_mode == "cluster"
    if (installed or packages) and not in_cluster:
        message = "--installed and --package need --deploy-mode cluster"
        raise click.UsageError(message)
    session = load_settings(file, settings, variables)
    print_notices(session)
    from streamtable.runtime.submission.checks import check_submission
    from streamtable.runtime.submission.line import Submission, shown_line, submit_line
    from streamtable.runtime.submission.process import run_submit

    check_submission(master, conf, checkpoint, in_cluster=in_cluster)
    job = Submission(
        file=file,
        settings=session.job_settings,
        found=session.spark_settings(master),
        shown=_arguments(context),
        hidden=_pairs("--set", settings) + _pairs("--var", variables),
        master=master,
        in_cluster=in_cluster,
        conf=conf,
        more_files=[path for given in files for path in given.split(",")],
        installed=installed,
        packages=packages,
    )
    folder = Path(tempfile.mkdtemp(prefix="streamtable-submit-"))
    try:
        line = submit_line(job, folder)
        click.echo(shown_line(line), err=not dry_run)
        code = 0 if dry_run else run_submit(line, folder)
    finally:
        if not dry_run:
            shutil.rmtree(folder, ignore_errors=True)
    if dry_run and any(folder.iterdir()):
        click.echo(f"its files are in {folder}: delete them after use", err=True)
    context.exit(code)


command.params[-1:-1] = _OF_RUN


def _arguments(context: click.Context) -> list[str]:
    """Return the options of `run` on the command line, as they were given."""
    found: list[str] = []
    for param in _OF_RUN:
        name = str(param.name)
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = context.params[name]
            found += [param.opts[0]] if value is True else [param.opts[0], str(value)]
    return found


def _pairs(option: str, given: dict[str, str]) -> list[str]:
    return [word for key, value in given.items() for word in (option, f"{key}={value}")]
