"""`streamtable new`: creates a project."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.new_project.create import NAME, TEMPLATES, create_project


def _checked(_context: click.Context, parameter: click.Parameter, value: str) -> str:
    if NAME.fullmatch(value) is None:
        message = f"'{value}' is not a letter followed by up to 63 letters, digits, '_' or '-'"
        raise click.BadParameter(message, param=parameter)
    return value


@click.command()
@click.argument("name", callback=_checked)
@click.option(
    "--template",
    type=click.Choice(TEMPLATES),
    default="orders",
    show_default=True,
    help="The query of the script.",
)
def command(name: str, template: str) -> None:
    """Create the folder NAME with a script, its test file, a README and a CI file.

    The script reads generated rows and writes a topic. The README shows how to test and run it.
    """
    folder = create_project(name, Path(), template)
    click.echo(f"created {folder}; next: cd {folder} && streamtable test .")
