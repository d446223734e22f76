"""`streamtable jobs`: lists jobs on this machine, or below a directory of checkpoints."""

from __future__ import annotations

import json
from pathlib import Path

import click

from streamtable.core.secrets import masked
from streamtable.runtime.status.display import job_table
from streamtable.runtime.status.found import jobs_below, listed_jobs


@click.command()
@click.argument(
    "directory", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False
)
@click.option("--json", "as_json", is_flag=True, help="Print the status documents as JSON.")
def command(*, directory: Path | None, as_json: bool) -> None:
    """List the jobs whose checkpoints are in or below DIRECTORY.

    Without DIRECTORY, list the jobs that you have started on this machine: those that run, those
    whose checkpoint still exists, and those of the last day whose checkpoint was temporary.
    """
    found = list(listed_jobs() if directory is None else jobs_below(directory.absolute()))
    if as_json:
        click.echo(json.dumps(masked([job.as_json() for job in found]), indent=2))
    elif found:
        click.echo("\n".join(job_table(found)))
    else:
        click.echo("no jobs")
