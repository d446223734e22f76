"""`streamtable txn list|abort`: open transactions that a job has left on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamtable.cli.script import pairs
from streamtable.jvm.install.installed_spark import check_machine

if TYPE_CHECKING:
    from streamtable.connectors.kafka.cluster.admin import KafkaAdmin

_F = TypeVar("_F", bound=Callable[..., Any])


def _cluster(function: _F) -> _F:
    """Add `--prefix` and the connection options of the brokers to a command."""
    decorators = (
        click.option(
            "--prefix",
            required=True,
            help="Prefix of the transactional ids: the table's 'sink.transactional-id-prefix'.",
        ),
        click.option("--bootstrap-servers", required=True, metavar="HOST:PORT"),
        click.option(
            "--property",
            "properties",
            metavar="KEY=VALUE",
            multiple=True,
            callback=pairs,
            help="A Kafka client property, such as the login. Repeatable.",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


@contextmanager
def _admin(servers: str, properties: dict[str, str]) -> Iterator[KafkaAdmin]:
    check_machine()
    from streamtable.connectors.kafka.cluster.admin import KafkaAdmin
    from streamtable.core.settings.session import SessionSettings
    from streamtable.jvm.bridge import Bridge
    from streamtable.runtime.session.spark import start_spark, stop_spark

    spark = start_spark(SessionSettings().current(), "local[1]")
    try:
        yield KafkaAdmin(Bridge(spark), {**properties, "bootstrap.servers": servers})
    finally:
        stop_spark(spark)


@click.group()
def command() -> None:
    """List or abort open transactions of exactly-once sinks.

    A job aborts the open transactions of its earlier runs at its start. Use these commands for jobs
    that will not start again: consumers with isolation level read_committed cannot read past an
    open transaction.
    """


@command.command("list")
@_cluster
def list_open(prefix: str, bootstrap_servers: str, properties: dict[str, str]) -> None:
    """List open transactions.

    Prints one line per transaction, separated by tabs: id, state, start time, timeout, partitions.
    """
    with _admin(bootstrap_servers, properties) as admin:
        found = admin.open_transactions(prefix)
    for one in found:
        since = "unknown"
        if one.begun_ms is not None:
            since = datetime.fromtimestamp(one.begun_ms / 1_000, UTC).isoformat(" ", "seconds")
        cells = (one.id, one.state, since, f"{one.timeout_ms} ms", one.partitions)
        click.echo("\t".join(cells))
    if not found:
        click.echo(f"no open transactions under '{prefix}'", err=True)


@command.command()
@_cluster
def abort(prefix: str, bootstrap_servers: str, properties: dict[str, str]) -> None:
    """Abort open transactions, and fence their producers.

    A running job with this prefix fails. Its next start continues from the checkpoint, without lost
    or duplicate records.
    """
    with _admin(bootstrap_servers, properties) as admin:
        ids = [one.id for one in admin.open_transactions(prefix)]
        admin.abort_transactions(ids)
    for one in ids:
        click.echo(f"aborted {one}")
    if not ids:
        click.echo(f"no open transactions under '{prefix}'", err=True)
