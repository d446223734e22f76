"""`streamtable txn list|abort`: transactions that a job left open on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from streamtable.cli.script import pairs

if TYPE_CHECKING:
    from streamtable.jvm.kafka_admin import KafkaAdmin

_F = TypeVar("_F", bound=Callable[..., Any])


def _cluster(function: _F) -> _F:
    """`--prefix` and how to reach the brokers."""
    decorators = (
        click.option(
            "--prefix",
            required=True,
            help="The table's 'sink.transactional-id-prefix'; all ids that begin so.",
        ),
        click.option("--bootstrap-servers", required=True, metavar="HOST:PORT"),
        click.option(
            "--property",
            "properties",
            metavar="KEY=VALUE",
            multiple=True,
            callback=pairs,
            help="A setting of Kafka's clients, such as a login's.",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


@contextmanager
def _admin(servers: str, properties: dict[str, str]) -> Iterator[KafkaAdmin]:
    from streamtable.core.session_settings import SessionSettings
    from streamtable.jvm.bridge import Bridge
    from streamtable.jvm.kafka_admin import KafkaAdmin
    from streamtable.runtime.spark import start_spark

    spark = start_spark(SessionSettings().current(), "local[1]")
    try:
        yield KafkaAdmin(Bridge(spark), {**properties, "bootstrap.servers": servers})
    finally:
        spark.stop()


@click.group()
def command() -> None:
    """Transactions of exactly-once sinks that are neither committed nor aborted.

    A job aborts those of its earlier runs when it starts. These commands are for jobs that do not
    start again: until their transactions end, readers of committed records wait before them.
    """


@command.command("list")
@_cluster
def list_open(prefix: str, bootstrap_servers: str, properties: dict[str, str]) -> None:
    """Show open transactions.

    A line each, with tabs between: id, state, since when, timeout, partitions.
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
    """Abort open transactions, and fence out whoever holds them.

    A job that still runs under the prefix fails and goes on from its checkpoint when it is started
    again; nothing is lost or written twice.
    """
    with _admin(bootstrap_servers, properties) as admin:
        ids = [one.id for one in admin.open_transactions(prefix)]
        admin.abort_transactions(ids)
    for one in ids:
        click.echo(f"aborted {one}")
    if not ids:
        click.echo(f"no open transactions under '{prefix}'", err=True)
