"""`streamtable demo`: the pageviews example on a Kafka of its own."""

from __future__ import annotations

import click

_BOUNDED_EVENTS = 100_000


@click.command()
@click.option("--bounded", is_flag=True, help="Count a fixed number of page views, then exit.")
@click.option(
    "--events",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Produce N page views.  [default: no end; with --bounded {_BOUNDED_EVENTS:,}]",
)
@click.option(
    "--rate",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    metavar="N",
    help="Page views a second, without --bounded.",
)
@click.option("--seed", type=int, metavar="N", help="The same seed gives the same page views.")
@click.pass_context
def command(
    context: click.Context, bounded: bool, events: int | None, rate: int, seed: int | None
) -> None:
    """Count page views and visitors per region, live, until Ctrl-C.

    Starts a real Kafka, a producer and a job, and stops them all. The job is the example of Flink's
    Upsert Kafka page; what is shown is read back from its upsert topic.
    """
    from rich.console import Console  # help should not wait for these

    console = Console()
    if not bounded:
        from streamtable.demo.live import run_live

        try:
            run_live(console, rate, events, seed)
        except KeyboardInterrupt:  # before the job ran, which else takes Ctrl-C itself
            console.print("stopped")
        return

    from streamtable.demo.bounded import run_bounded

    if not run_bounded(console, events or _BOUNDED_EVENTS, seed):
        click.echo("the table does not match what was produced", err=True)
        context.exit(1)
    click.echo("the table matches what was produced")
