"""`streamtable sql`: the shell, interactive or with statements from a file or an argument."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import master_option, notice, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamtable.shell.shell import Shell

#: Exit code after SIGTERM, as a shell reports it.
_TERMINATED = 128 + signal.SIGTERM
_FILE = click.Path(path_type=Path)


@click.command()
@click.option("-f", "--file", type=_FILE, metavar="FILE", help="Run the statements of a file.")
@click.option("-e", "--execute", metavar="SQL", help="Run these statements.")
@click.option(
    "-i",
    "--init",
    type=_FILE,
    metavar="FILE",
    help="Run these statements first. Without it, the interactive shell runs"
    " ~/.config/streamtable/init.sql if there is one.",
)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pairs,
    help="An initial setting, which SET may change.",
)
@click.option(
    "--var",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="A value for ${NAME} in statements.",
)
@master_option
@click.option("--history", type=_FILE, metavar="FILE", help="History file of the prompt.")
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path | None,
    execute: str | None,
    init: Path | None,
    settings: dict[str, str],
    variables: dict[str, str],
    master: str | None,
    history: Path | None,
) -> None:
    """Run Flink SQL statements: interactively, or those of -f FILE or -e SQL.

    INSERTs run as jobs in the background. With -f or -e, the command ends when its jobs have ended,
    or at Ctrl-C, which stops them.
    """
    if file is not None and execute is not None:
        message = "give one of --file and --execute"
        raise click.UsageError(message)
    from streamtable.api.connect import session_parts
    from streamtable.api.session import Session
    from streamtable.shell.history import default_init
    from streamtable.shell.shell import Shell

    debug = bool(context.find_root().params["debug"])
    session = Session(*session_parts(settings, None, master, notice, verbose=debug))
    interactive = file is None and execute is None and sys.stdin.isatty()
    shell = Shell(session, variables, follows=interactive, debug=debug)
    with session, _terminated():
        if init is not None:
            shell.run_file(init)
        elif interactive and default_init().exists():
            shell.run_file(default_init())
        if interactive:
            from streamtable.shell.terminal import Terminal

            Terminal(shell, history).loop()
            return
        _run(shell, file, execute)


def _run(shell: Shell, file: Path | None, execute: str | None) -> None:
    """Run a script, or standard input, and wait for its jobs; Ctrl-C stops them."""
    if file is not None:
        shell.run_file(file)
    else:
        shell.run_script(sys.stdin.read() if execute is None else execute, "<string>")
    try:
        shell.wait()
    except KeyboardInterrupt:
        click.echo("stopping", err=True)


@contextmanager
def _terminated() -> Iterator[None]:
    """Leave the block at SIGTERM, so that jobs stop gracefully."""

    def leave(_number: int, _frame: object) -> None:
        sys.exit(_TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
