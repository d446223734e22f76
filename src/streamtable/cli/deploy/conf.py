"""`streamtable conf`: the Spark settings that a platform needs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import load_settings, script_arguments

if TYPE_CHECKING:
    from streamtable.runtime.submission.platform import PlatformSettings


@click.command()
@partial(script_arguments, required=False)
@click.option("--master", metavar="URL", help="Spark master. By default, the platform chooses it.")
@click.option(
    "--jars",
    metavar="PATH",
    help="Directory or URL to which the jars of `streamtable jars` are copied."
    " By default, their paths on this machine are printed.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["properties", "json", "conf"]),
    default="properties",
    show_default=True,
    help="Lines of spark-defaults.conf, a JSON object, or arguments of spark-submit.",
)
@click.option(
    "--launch",
    is_flag=True,
    help="Print only the settings that must be set before Spark's JVM starts.",
)
def command(
    *,
    file: Path | None,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
    jars: str | None,
    style: str,
    launch: bool,
) -> None:
    """Print the Spark settings of a job, with those of the script or job file FILE.

    Settings of this machine, such as the driver's address, are left out. A job that creates its
    Spark session itself, as under spark-submit, needs only the settings of --launch. A platform
    that creates the session, as for notebooks, needs all of them.
    """
    session = load_settings(file, settings, variables)
    found = session.spark_settings(master)
    from streamtable.runtime.submission.platform import platform_settings

    needed = platform_settings(found, session.job_settings, master, jars)
    if launch:
        needed.session.clear()
    for key in needed.secrets:
        click.echo(f"'{key}' is left out, because its value is secret: set it yourself", err=True)
    match style:
        case "json":
            click.echo(json.dumps({**needed.launch, **needed.session}, indent=2))
        case "conf":
            for key, value in {**needed.launch, **needed.session}.items():
                click.echo(f"--conf {shlex.quote(f'{key}={value}')}")
        case _:
            click.echo("\n".join(_properties(needed)))


def _properties(needed: PlatformSettings) -> Iterator[str]:
    """Yield lines of a properties file; a backslash starts an escape in such a file."""
    for title, found in (
        ("Before Spark's JVM starts", needed.launch),
        ("Set by a job that creates its Spark session", needed.session),
    ):
        if found:
            yield f"# {title}"
            yield from (f"{key} {_escaped(value)}" for key, value in found.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
