"""Errors on the terminal: one line each, and below it the line of the statement with the place."""

from __future__ import annotations

import click

from streamtable.core.errors import StreamtableError, singles
from streamtable.sql.lexer.excerpt import excerpt


def tell_error(error: StreamtableError, text: str, file: str) -> None:
    """Print an error of a statement on standard error.

    Args:
        error: the error; several errors are several lines.
        text: the text that was run.
        file: its name in the places of the error.
    """
    for single in singles(error):
        click.echo(click.style("error: ", fg="red", bold=True) + str(single), err=True)
        here = single.at is not None and single.at.file == file
        shown = excerpt(text, single.at) if single.at is not None and here else None
        if shown is not None:
            click.echo(shown, err=True)
