"""`streamtable rescale`: changes the number of state partitions of a checkpoint."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import master_option, notice, settings_option
from streamtable.core.settings.execution import CHECKPOINT_LEASE

if TYPE_CHECKING:
    from streamtable.jvm.bridge import Bridge
    from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints


@click.command()
@click.option("--checkpoint", metavar="DIR", required=True, help="Checkpoint of the stopped job.")
@click.option(
    "--to",
    metavar="N",
    type=click.IntRange(min=1),
    required=True,
    help="New number of state partitions: the 'parallelism.default' of the next start.",
)
@click.option("--plan", is_flag=True, help="Print what the command would do, and change nothing.")
@master_option
@settings_option
def command(
    *, checkpoint: str, to: int, plan: bool, master: str | None, settings: dict[str, str]
) -> None:
    """Change the number of state partitions of a checkpoint.

    The job must be stopped, and its last batch must be committed. Run the command again after an
    interruption: until then, the job does not start.
    """
    from streamtable.jvm.install.installed_spark import check_machine
    from streamtable.runtime.checkpoint.rescale import open_rescale
    from streamtable.runtime.checkpoint.storage.remote import is_remote
    from streamtable.session import fixed_settings

    given = fixed_settings(settings).current()
    with ExitStack() as stack:
        bridge: Bridge | None = None
        remote: RemoteCheckpoints | None = None

        def start() -> Bridge:
            check_machine()
            from streamtable.jvm.bridge import Bridge
            from streamtable.runtime.session.spark import start_spark, stop_spark

            spark = start_spark(given, master, notice=notice)
            stack.callback(stop_spark, spark)
            return Bridge(spark)

        if is_remote(checkpoint):
            from streamtable.runtime.checkpoint.storage.remote import RemoteCheckpoints

            bridge = start()  # file systems of Hadoop need Spark's JVM
            remote = RemoteCheckpoints(bridge, given[CHECKPOINT_LEASE], threading.Event(), notice)
        rescale = stack.enter_context(open_rescale(checkpoint, to, notice, remote))
        for line in rescale.described():
            click.echo(line)
        if plan:
            return
        if not rescale.due:
            rescale.run(lambda _directory, _to: None, notice)
            return
        used = bridge or start()
        from streamtable.jvm.streaming.state_partitions import repartition

        rescale.run(lambda directory, n: repartition(used, directory, n), notice)
