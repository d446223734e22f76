"""`streamtable verify`: compares the topics of a data ingestion job with its tables."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import master_option, script_arguments
from streamtable.ingest import require_reader
from streamtable.jvm.install.installed_spark import check_machine


@click.command()
@script_arguments
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Checkpoint of the job. Changes that the job has not written yet are not compared.",
)
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    checkpoint: str | None,
    master: str | None,
) -> None:
    """Compare the topics of the data ingestion job FILE with its tables.

    Reads all rows of a table as of one binlog position. Lists the keys that differ. The exit code
    is 1 if a topic differs, else 0.
    """
    require_reader()
    from streamtable.ingest.file.job_file import load_job
    from streamtable.session import fixed_settings

    given = fixed_settings(settings).current()
    job = load_job(file, variables)

    check_machine()  # Spark is needed from here on
    from streamtable.ingest.verify import verify_job

    if not verify_job(job, given, checkpoint, master, click.echo):
        context.exit(1)
