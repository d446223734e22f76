"""`streamtable status`: shows one job."""

from __future__ import annotations

import json

import click

from streamtable.core.secrets import masked
from streamtable.runtime.status.display import job_report
from streamtable.runtime.status.found import find_job


@click.command()
@click.argument("job", metavar="JOB|DIR")
@click.option("--json", "as_json", is_flag=True, help="Print the status document as JSON.")
def command(*, job: str, as_json: bool) -> None:
    """Show a job by its name or pid (`streamtable jobs`), or by its checkpoint directory.

    Shows, for each query: mode, rates, lag, the state of each operator and the slowest operator,
    and the watermark of each partition, with the partition that holds the query's watermark back.
    """
    found = find_job(job)
    if as_json:
        click.echo(json.dumps(masked(found.as_json()), indent=2))
    else:
        click.echo("\n".join(job_report(found)))
