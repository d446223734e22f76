"""`streamtable run`: a script's INSERTs as one job."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import load_script, script_arguments
from streamtable.cli.status import StatusLine
from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from streamtable.runtime.job import RunOptions
    from streamtable.session import Session


@click.command()
@script_arguments
@click.option("--bounded", is_flag=True, help="Process what the topics hold now, then exit.")
@click.option("--checkpoint", metavar="DIR", help="Where progress and state are kept.")
@click.option("--master", metavar="URL", help="Spark's master; without it, this machine.")
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve metrics for Prometheus there; 0 is any free port.",
)
@click.option(
    "--metrics-host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    help="The address to serve them at; 0.0.0.0 is every one.",
)
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    bounded: bool,
    checkpoint: str | None,
    master: str | None,
    metrics_port: int | None,
    metrics_host: str,
) -> None:
    """Run the SQL script FILE, its INSERTs and SELECTs, until Ctrl-C.

    With --bounded, and where every table has an end of its own, it ends by itself.
    """
    session = load_script(file, settings, variables)
    for text in session.printed:
        click.echo(text)
    if not (session.plans or session.selects or session.printed):
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    if session.plans or session.selects:
        from streamtable.runtime.job import RunOptions  # only now Spark is needed

        address = None if metrics_port is None else (metrics_host, metrics_port)
        verbose = bool(context.find_root().params["debug"])
        options = RunOptions(bounded, checkpoint, master, verbose)
        _run(session, options, address)


def _run(session: Session, options: RunOptions, address: tuple[str, int] | None) -> None:
    """Runs the job with its status on standard error and its metrics at an address."""
    from streamtable.runtime.job import Watcher
    from streamtable.runtime.metrics import JobMetrics
    from streamtable.runtime.prometheus import serve

    metrics = JobMetrics()
    line = StatusLine(metrics.values, sys.stderr)
    with ExitStack() as stack:
        stack.callback(line.clear)
        if address is not None:
            port = stack.enter_context(serve(metrics, *address))
            line.notice(f"metrics at http://{address[0]}:{port}/metrics")
        session.run(options, line.notice, show=line.show, watcher=Watcher(metrics, line.tick))
