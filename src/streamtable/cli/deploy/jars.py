"""`streamtable jars`: the jars that a Spark cluster needs."""

from __future__ import annotations

import click


@click.command()
@click.option("--commas", is_flag=True, help="Print one line, as spark-submit takes --jars.")
def command(commas: bool) -> None:
    """Print the paths of the jars that Spark needs to run a job.

    A job ships these jars to the workers. Use this list where a platform starts Spark itself.
    """
    from streamtable.jvm.install.compile import operators_jar
    from streamtable.jvm.install.jars import connector_jars

    click.echo(("," if commas else "\n").join(map(str, [*connector_jars(), operators_jar()])))
