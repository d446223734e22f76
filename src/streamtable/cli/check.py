"""`streamtable check`: checks of MySQL and Kafka before a data ingestion job runs."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import script_arguments
from streamtable.ingest import require_reader
from streamtable.jvm.installed_spark import check_machine


@click.command()
@script_arguments
@click.option(
    "--master", metavar="URL", help="Spark master. By default, Spark runs on this machine."
)
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
) -> None:
    """Check the servers, tables and topics of the data ingestion job FILE.

    Reports every problem and how to fix it. Changes nothing. The exit code is 1 if there is a
    problem, else 0.
    """
    require_reader()
    from streamtable.ingest.file.job_file import load_job
    from streamtable.session import fixed_settings

    given = fixed_settings(settings).current()
    job = load_job(file, variables)

    check_machine()  # Spark is needed from here on
    from streamtable.ingest.check import check_job

    if not check_job(job, given, master, click.echo):
        context.exit(1)
