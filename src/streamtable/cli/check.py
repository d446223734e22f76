"""`streamtable check`: checks of a script or a job file against its servers, before a start."""

from __future__ import annotations

import json
from pathlib import Path

import click

from streamtable.cli.script import (
    load_script,
    master_option,
    notice,
    print_notices,
    script_arguments,
)
from streamtable.connector_api.findings import Finding, Severity
from streamtable.core.errors import StreamtableError
from streamtable.ingest import is_job_file, require_reader
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.session.launch import launched_ahead


@click.command()
@script_arguments
@master_option
@click.option("--json", "as_json", is_flag=True, help="Print the findings of a script as JSON.")
@click.option(
    "--no-samples", is_flag=True, help="Do not read the newest records of a script's sources."
)
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
    as_json: bool,
    no_samples: bool,
) -> None:
    """Check the SQL script or data ingestion job FILE against its servers.

    Reports every problem and how to fix it. Changes nothing. The exit code is 1 if the job cannot
    run, else 0.

    For a script: connection, rights, topics, schemas, keys and execution mode; and, from a sample
    of the newest records, event times and hot keys. For a job file (suffix .yaml or .yml): the
    settings and grants of the database server, its tables, and the topics.
    """
    if is_job_file(file):
        if as_json or no_samples:
            option = "--json" if as_json else "--no-samples"
            message = f"{option} applies to SQL scripts, and {file} is a data ingestion job"
            raise click.UsageError(message)
        ready = _check_ingestion(file, settings, variables, master)
    else:
        found = _check_script(file, settings, variables, master, samples=not no_samples)
        ready = all(finding.severity is not Severity.ERROR for finding in found)
        if as_json:
            click.echo(json.dumps([finding.as_json() for finding in found], indent=2))
        else:
            _print(file, found)
    if not ready:
        context.exit(1)


def _check_script(
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
    *,
    samples: bool,
) -> list[Finding]:
    try:
        session = load_script(file, settings, variables)
    except StreamtableError as error:
        return Finding.of_error(error, "script")
    print_notices(session)
    valid = Finding(Severity.OK, "script", None, f"{session.statements} statements are valid")

    check_machine()  # Spark is needed from here on
    with launched_ahead(session.job_settings, master, False, notice):
        from streamtable.runtime.preflight.script_check import check_script

        return [
            valid,
            *check_script(
                session.plans,
                session.selects,
                session.job_settings,
                master,
                notice,
                session.catalog.functions.made,
                samples=samples,
            ),
        ]


def _print(file: Path, found: list[Finding]) -> None:
    for finding in found:
        click.echo(str(finding))
    errors, warnings = (
        sum(finding.severity is severity for finding in found)
        for severity in (Severity.ERROR, Severity.WARNING)
    )
    click.echo(f"{file}: {errors} error(s), {warnings} warning(s)")


def _check_ingestion(
    file: Path, settings: dict[str, str], variables: dict[str, str], master: str | None
) -> bool:
    require_reader()
    from streamtable.ingest.file.job_file import load_job
    from streamtable.session import fixed_settings

    given = fixed_settings(settings).current()
    job = load_job(file, variables)

    check_machine()  # Spark is needed from here on
    from streamtable.ingest.check import check_job

    return check_job(job, given, master, click.echo)
