"""`streamtable`: the group of subcommands, each imported only when called, and how errors end.

A subcommand is the click command named `command` in its module. It raises StreamtableError for
whatever is wrong; exit codes other than 0 and 1 it sets with `ctx.exit`. Exit codes: 0 done, 1 an
error of the user's or the cluster's, 2 wrong usage, 70 a bug of ours, 130 interrupted.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from streamtable import __version__
from streamtable.core.errors import Faults, InternalError, StreamtableError
from streamtable.core.secrets import without_secrets

EXIT_ERROR = 1
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Subcommand:
    """A subcommand before it is imported: the module that holds it, and its line of help."""

    module: str
    help: str


SUBCOMMANDS = {
    "run": Subcommand("streamtable.cli.run", "Run a script: its INSERTs and SELECTs."),
    "explain": Subcommand("streamtable.cli.explain", "Show a script's plan without running it."),
    "validate": Subcommand("streamtable.cli.validate", "Check a script without Spark or Kafka."),
    "options": Subcommand("streamtable.cli.options", "List the options of connectors and formats."),
    "demo": Subcommand("streamtable.cli.demo", "See a small pipeline run on a broker of its own."),
    "txn": Subcommand("streamtable.cli.txn", "List or abort transactions left open."),
    "dev": Subcommand("streamtable.cli.dev", "Keep a development broker: up, down, status."),
}


class LazyGroup(click.Group):
    """A group that knows its subcommands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table, which is that of use."""
        del ctx
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None if there is none."""
        del ctx
        known = SUBCOMMANDS.get(cmd_name)
        if known is None:
            return None
        command: click.Command = import_module(known.module).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, from the table: click's own would import every subcommand."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, known.help) for name, known in SUBCOMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run; an error becomes a message on standard error and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                click.echo(without_secrets(traceback.format_exc()), err=True, nl=False)
            text, code = _verdict(error)
            click.echo(text, err=True)
            raise click.exceptions.Exit(code) from error


def _verdict(error: Exception) -> tuple[str, int]:
    """What to print about an error, one after the other where it is several, and the exit code."""
    if isinstance(error, Faults):
        return "\n".join(map(_told, error.faults)), EXIT_ERROR
    if isinstance(error, StreamtableError):
        return _told(error), EXIT_ERROR
    kind = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
    what = without_secrets(" ".join(f"{kind}{error}".split()))
    return f"internal error: {what}. Please report this; --debug shows the traceback", EXIT_BUG


def _told(error: StreamtableError) -> str:
    """The message on one line, and the line of the script that it is about below it."""
    message = f"error: {error}"
    if error.at is None:
        return message
    from streamtable.sql.excerpt import excerpt  # `--help` needs no lexer

    try:
        shown = excerpt(Path(error.at.file).read_text(encoding="utf-8"), error.at)
    except (OSError, ValueError):
        return message
    return message if shown is None else f"{message}\n{shown}"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="streamtable %(version)s")
@click.option("--debug", is_flag=True, help="Show tracebacks of errors, and Spark's log.")
def cli(debug: bool) -> None:
    """Flink SQL's kafka and upsert-kafka tables on Apache Spark."""


def main() -> None:
    """The console script's entry; leaves the process with an exit code."""
    try:
        code = cli.main(prog_name="streamtable", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(code if isinstance(code, int) else 0)
