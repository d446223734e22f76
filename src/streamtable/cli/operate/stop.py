"""`streamtable stop`: stops a job that another process runs."""

from __future__ import annotations

import click

from streamtable.runtime.status.document import KILLED
from streamtable.runtime.status.found import find_job
from streamtable.runtime.status.stop import stop_job


@click.command()
@click.argument("job", metavar="JOB|DIR")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest wait for the end of the job. The request remains after it.",
)
@click.pass_context
def command(context: click.Context, *, job: str, timeout: float) -> None:
    """Stop a job by its name or pid (`streamtable jobs`), or by its checkpoint directory.

    Sends SIGTERM to the process that holds the job's checkpoint, and waits for its end. The next
    start of the job continues from the checkpoint. The exit code is 1 if the job fails.
    """
    found = find_job(job)
    outcome = stop_job(found, timeout)
    document = outcome.document
    if document is not None and outcome.clean:
        click.echo(f"job {found.name}: {document.state.value} after {outcome.seconds:.1f} s")
        if not document.temporary:
            click.echo(f"checkpoint at {found.checkpoint}")
        return
    error = None if document is None else document.error
    click.echo(f"job {found.name} failed: {KILLED if error is None else error.message}", err=True)
    context.exit(1)
