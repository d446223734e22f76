"""`streamtable demo`: the pageviews example, with its own Kafka."""

from __future__ import annotations

import click

_BOUNDED_EVENTS = 100_000


@click.command()
@click.option("--bounded", is_flag=True, help="Count a fixed number of page views, then exit.")
@click.option(
    "--events",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Produce N page views.  [default: unlimited; with --bounded {_BOUNDED_EVENTS:,}]",
)
@click.option(
    "--rate",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Page views per second; has no effect with --bounded.",
)
@click.option("--seed", type=int, metavar="N", help="Seed of the random page views.")
@click.pass_context
def command(
    context: click.Context, bounded: bool, events: int | None, rate: int, seed: int | None
) -> None:
    """Count page views and visitors per region until Ctrl-C.

    Starts a Kafka broker, a producer and a job, and stops them at the end. The job is the example
    of Flink's Upsert Kafka page. The command shows the content of the upsert topic.
    """
    from rich.console import Console  # not at the top: keeps --help fast

    console = Console()
    if not bounded:
        from streamtable.demo.live import run_live

        try:
            run_live(console, rate, events, seed)
        except KeyboardInterrupt:  # before the job runs; a running job handles Ctrl-C itself
            console.print("stopped")
        return

    from streamtable.demo.bounded import run_bounded

    if not run_bounded(console, events or _BOUNDED_EVENTS, seed):
        click.echo("the table does not match the produced page views", err=True)
        context.exit(1)
    click.echo("the table matches the produced page views")
