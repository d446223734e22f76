"""`streamtable run`: runs the INSERTs of a script as one job."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamtable.cli.log_lines import JsonLines
from streamtable.cli.proof_options import repeated_proof, repeated_proof_options
from streamtable.cli.script import load_script, master_option, print_notices, script_arguments
from streamtable.cli.status import StatusLine, summary
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY, EXECUTION_MODE, ExecutionMode
from streamtable.core.settings.job import JOB_NAME
from streamtable.core.settings.reporting import METRIC_LABELS
from streamtable.ingest import is_job_file, require_reader
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.session.launch import launched_ahead

if TYPE_CHECKING:
    from streamtable.runtime.job import RunOptions
    from streamtable.session import Session


@click.command()
@script_arguments
@click.option(
    "--bounded", is_flag=True, help="Read the topics up to their current ends, then exit."
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Checkpoint directory. A run continues from an existing checkpoint.",
)
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in ExecutionMode]),
    help="Execution mode; overrides SET 'execution.mode'.",
)
@master_option
@click.option(
    "--metrics-port",
    type=click.IntRange(0, 65_535),
    metavar="PORT",
    help="Serve Prometheus metrics on this port; 0 selects a free port.",
)
@click.option(
    "--metrics-host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    help="Address of the metrics server; 0.0.0.0 means all interfaces.",
)
@click.option(
    "--ui",
    type=click.IntRange(0, 65_535),
    is_flag=False,
    flag_value=0,
    metavar="[PORT]",
    help="Serve a page of the job: plan, rates, lag, state, watermarks, newest rows of the sinks."
    " Without PORT, a free port is chosen. Put it after FILE.",
)
@click.option(
    "--ui-host",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    help="Address of the page. The page is not encrypted.",
)
@repeated_proof_options
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the lines on standard error: text, or a JSON object per line.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    bounded: bool,
    checkpoint: str | None,
    mode: str | None,
    master: str | None,
    metrics_port: int | None,
    metrics_host: str,
    ui: int | None,
    ui_host: str,
    log_format: str,
    **of_proofs: object,
) -> None:
    """Run the INSERTs and SELECTs of the SQL script FILE until Ctrl-C.

    The job ends at the end of its input with --bounded, or if all of its tables are bounded. A FILE
    with the suffix .yaml or .yml is a data ingestion job, which copies MySQL tables into topics.
    """
    del of_proofs  # `repeated_proof` reads them from the context
    metrics = JobMetrics()
    line = StatusLine(metrics.values, sys.stderr)
    if log_format == "json":
        line = as_json = JsonLines(metrics.values, sys.stderr)
        context.find_root().obj = as_json.error
    if is_job_file(file):
        _check_ingest(context.params)
        verbose = bool(context.find_root().params["debug"])
        place = None if ui is None else (ui_host, ui)
        _ingest(file, settings, variables, (bounded, checkpoint, master, verbose), place, line)
        return
    if mode is not None:
        settings = {**settings, EXECUTION_MODE.key: mode}
    session = load_script(file, settings, variables)
    for text in session.printed:
        click.echo(text)
    if not (session.plans or session.selects or session.printed):
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    if not (session.plans or session.selects):
        print_notices(session)
    else:
        check_machine()  # Spark is needed from here on
        address = None if metrics_port is None else (metrics_host, metrics_port)
        verbose = bool(context.find_root().params["debug"])
        if not session.plans:
            _check_selects(context.params)
        with launched_ahead(session.job_settings, master, verbose, line.notice):
            from streamtable.runtime.job import RunOptions
            from streamtable.runtime.ui.server import UiAddress

            page = None if ui is None else UiAddress(ui_host, ui)
            proofs = repeated_proof(context, file, settings, variables)
            options = RunOptions(bounded, checkpoint, master, verbose, page, proofs)
            _run(session, options, address, metrics, line)


def _check_ingest(given: Mapping[str, Any]) -> None:
    """Refuse options of `run` that a data ingestion job does not have."""
    refused = {
        "mode": "a data ingestion job runs in micro-batches: remove --mode",
        "metrics_port": "a data ingestion job serves no metrics: remove --metrics-port",
        "prove_every": "`streamtable verify` compares its topics: remove --prove-every",
    }
    _check(given, refused)


def _check_selects(given: Mapping[str, Any]) -> None:
    """Refuse options of `run` that a script without INSERTs does not have."""
    only = "INSERTs, and the script has only SELECTs"
    refused = {
        "ui": f"--ui shows {only}: remove --ui",
        "prove_every": f"--prove-every compares {only}: remove --prove-every",
    }
    _check(given, refused)


def _check(given: Mapping[str, Any], refused: Mapping[str, str]) -> None:
    for name, message in refused.items():
        if given[name] is not None:
            raise click.UsageError(message)


def _ingest(
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    chosen: tuple[bool, str | None, str | None, bool],
    page: tuple[str, int] | None,
    line: StatusLine,
) -> None:
    """Run a data ingestion job, and show its progress on standard error."""
    require_reader()
    from streamtable.ingest.file.job_file import load_job
    from streamtable.ingest.file.options import PIPELINE_NAME
    from streamtable.session import fixed_settings

    job = load_job(file, variables)
    name = job.pipeline.get(PIPELINE_NAME)
    named = {} if name is None else {JOB_NAME.key: name}
    given = fixed_settings({**named, **settings}).current()

    check_machine()
    _, _, master, verbose = chosen
    with launched_ahead(given, master, verbose, line.notice):
        from streamtable.ingest.run.run import IngestOptions, run_ingest
        from streamtable.runtime.ui.server import UiAddress

        address = None if page is None else UiAddress(*page)
        run_ingest(job, given, IngestOptions(*chosen, ui=address), line.notice, line.notice)


def _run(
    session: Session,
    options: RunOptions,
    address: tuple[str, int] | None,
    metrics: JobMetrics,
    line: StatusLine,
) -> None:
    """Run the job, show its status on standard error, and serve its metrics at an address."""
    from streamtable.runtime.metrics.prometheus import JobCollector, serve
    from streamtable.runtime.outline import job_name
    from streamtable.runtime.run_queries import JobObserver

    given = session.job_settings
    name = job_name(session.plans, given)
    with ExitStack() as stack:
        stack.callback(line.clear)
        if address is not None:
            collector = JobCollector(metrics, name, given.get(METRIC_LABELS) or {})
            port = stack.enter_context(serve(collector, *address))
            line.notice(f"metrics at http://{address[0]}:{port}/metrics")
        begun = time.monotonic()
        session.run(options, line.notice, show=line.show, observer=JobObserver(metrics, line.tick))
        if session.plans:
            kept = options.checkpoint or given.get(CHECKPOINT_DIRECTORY)
            for text in summary(metrics.values(), time.monotonic() - begun, kept):
                line.notice(text)
