"""`streamtable dev up|down|status`: a persistent broker for development."""

from __future__ import annotations

import json
from pathlib import Path

import click

from streamtable.devbroker import dev

EXIT_NOT_RUNNING = 3

_directory = click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Store data, log and state in DIR/dev instead of the cache folder.",
)


def _addresses(running: dev.Running | None) -> dict[str, str | None]:
    servers = running.bootstrap_servers if running else None
    registry = running.registry.url if running and running.registry else None
    return {"bootstrap_servers": servers, "schema_registry_url": registry}


def _print_registry(running: dev.Running) -> None:
    if running.registry:
        pid = running.registry.process.pid
        click.echo(f"a schema registry runs at {running.registry.url} (process {pid})")


@click.group()
def command() -> None:
    """Manage a single-node Kafka broker for development on this machine.

    The broker listens on 127.0.0.1 only. It keeps its topics until `down --delete-data`, and does
    not create topics automatically.
    """


@command.command()
@_directory
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    help="Port to listen on.  [default: the last port, else 9092, else a free port]",
)
@click.option(
    "--heap-mb",
    type=click.IntRange(min=128),
    default=256,
    show_default=True,
    help="Heap of the broker's JVM in MB.",
)
@click.option(
    "--schema-registry",
    is_flag=True,
    help="Also start a schema registry (Apicurio). The first start downloads 104 MB.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the addresses as one line of JSON.")
def up(
    *, directory: Path | None, port: int | None, heap_mb: int, schema_registry: bool, as_json: bool
) -> None:
    """Start the broker, or print the address of the running broker."""
    found = dev.status(directory)
    running = dev.up(directory, port=port, heap_mb=heap_mb, schema_registry=schema_registry)
    if as_json:
        click.echo(json.dumps(_addresses(running)))
        return
    state = "already runs" if found and found.process == running.process else "runs"
    click.echo(f"Kafka {state} at {running.bootstrap_servers} (process {running.process.pid})")
    _print_registry(running)
    click.echo(f"log: {running.log}")
    click.echo("to stop: streamtable dev down" + (f" --dir {directory}" if directory else ""))


@command.command()
@_directory
@click.option("--delete-data", is_flag=True, help="Delete the topics and the log, too.")
def down(*, directory: Path | None, delete_data: bool) -> None:
    """Stop the broker that `up` started."""
    stopped = dev.down(directory, delete_data=delete_data)
    if stopped:
        both = " and the schema registry" if stopped.registry else ""
        click.echo(f"stopped Kafka at {stopped.bootstrap_servers}{both}")
    else:
        click.echo("no development broker was running")
    if delete_data:
        click.echo("deleted the data")


@command.command()
@_directory
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def status(ctx: click.Context, *, directory: Path | None, as_json: bool) -> None:
    """Print whether the broker runs. The exit code is 0 if it runs, else 3."""
    running = dev.status(directory)
    if as_json:
        pid = running.process.pid if running else None
        state = {"running": running is not None, **_addresses(running), "pid": pid}
        click.echo(json.dumps(state))
    elif running:
        click.echo(f"Kafka runs at {running.bootstrap_servers} (process {running.process.pid})")
        _print_registry(running)
    else:
        click.echo("no development broker is running")
    ctx.exit(0 if running else EXIT_NOT_RUNNING)
