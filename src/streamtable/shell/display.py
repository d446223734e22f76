"""Display of results: rows, changes, live tables, and what became of a job."""

from __future__ import annotations

import click
from rich.console import Console

from streamtable.api.job import Job
from streamtable.api.query import Query
from streamtable.api.result import Result
from streamtable.core.settings.display import RESULT_MODE, ResultMode
from streamtable.shell.live import LiveRows


def display(result: Result) -> None:
    """Show a result: rows until their end or Ctrl-C; a job by its id.

    On a terminal, the result modes `table` and `changelog` redraw one table. Else, and in mode
    `tableau`, each change is a line.
    """
    if isinstance(result, Job):
        click.echo(f"job {result.id} ({result.name}) is started; STOP JOB '{result.id}' stops it")
    elif isinstance(result, Query):
        _show(result)
    else:
        result.print()


def _show(query: Query) -> None:
    console = Console()
    mode = query.planned.settings[RESULT_MODE]
    if mode is not ResultMode.TABLEAU and console.is_terminal:
        show = LiveRows(query, console, changes=mode is ResultMode.CHANGELOG).show
    else:
        show = query.print
    try:
        show()
    except KeyboardInterrupt:
        click.echo("the query is ended")
