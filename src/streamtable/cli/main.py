"""`streamtable`: the group of subcommands, which are imported on demand, and the error handling.

A subcommand is the click command named `command` in its module. It raises StreamtableError for all
errors, and sets exit codes other than 0 and 1 with `ctx.exit`. Exit codes: 0 success, 1 an error of
the user or the cluster, 2 wrong usage, 70 a bug in streamtable, 130 interrupted.
"""

from __future__ import annotations

import gc
import logging
import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from streamtable import __version__
from streamtable.core.errors import InternalError, StreamtableError, singles
from streamtable.core.secrets import without_secrets

EXIT_ERROR = 1
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class Subcommand:
    """Subcommand before its import: the name of its module, and its line of help."""

    module: str
    help: str


SUBCOMMANDS = {
    "run": Subcommand("streamtable.cli.run", "Run a SQL script or a data ingestion job."),
    "sql": Subcommand("streamtable.cli.sql", "Run statements interactively, or those of a file."),
    "read": Subcommand("streamtable.cli.read", "Read a table as of now or an earlier moment."),
    "why": Subcommand(
        "streamtable.cli.operate.why",
        "Show the input records of a row of a sink, or why it is missing.",
    ),
    "explain": Subcommand("streamtable.cli.explain", "Print the plans of a SQL script."),
    "validate": Subcommand(
        "streamtable.cli.validate", "Check a SQL script or a job file, without Spark or Kafka."
    ),
    "check": Subcommand(
        "streamtable.cli.check", "Check a SQL script or a job file against its servers and topics."
    ),
    "verify": Subcommand(
        "streamtable.cli.verify", "Compare the topics of a data ingestion job with its tables."
    ),
    "prove": Subcommand(
        "streamtable.cli.operate.prove",
        "Compare the tables that a job has written with a batch answer.",
    ),
    "replay": Subcommand(
        "streamtable.cli.operate.replay", "Compare a differing key again, from a file of `prove`."
    ),
    "jobs": Subcommand(
        "streamtable.cli.operate.jobs", "List jobs on this machine or below a directory."
    ),
    "status": Subcommand(
        "streamtable.cli.operate.status", "Show a job: rates, lag, state, watermarks."
    ),
    "stop": Subcommand("streamtable.cli.operate.stop", "Stop a running job, and wait for its end."),
    "rescale": Subcommand(
        "streamtable.cli.operate.rescale", "Change the number of state partitions of a checkpoint."
    ),
    "upgrade": Subcommand(
        "streamtable.cli.operate.upgrade", "Continue a checkpoint with a changed SQL script."
    ),
    "adopt": Subcommand(
        "streamtable.cli.operate.adopt", "Take over the sink topics of a Flink job."
    ),
    "new": Subcommand("streamtable.cli.new", "Create a project: a script and its tests."),
    "test": Subcommand("streamtable.cli.test", "Run unit tests of SQL scripts, in memory."),
    "options": Subcommand("streamtable.cli.options", "List the options of connectors and formats."),
    "jars": Subcommand("streamtable.cli.deploy.jars", "Print the jars that a Spark cluster needs."),
    "conf": Subcommand(
        "streamtable.cli.deploy.conf", "Print the Spark settings that a platform needs."
    ),
    "submit": Subcommand(
        "streamtable.cli.deploy.submit", "Run a job on a cluster by spark-submit."
    ),
    "demo": Subcommand(
        "streamtable.cli.demo", "Run an example pipeline with its own Kafka broker."
    ),
    "txn": Subcommand(
        "streamtable.cli.txn", "List or abort open transactions of exactly-once sinks."
    ),
    "dev": Subcommand(
        "streamtable.cli.dev", "Manage a Kafka broker for development: up, down, status."
    ),
}


class LazyGroup(click.Group):
    """Group that knows its subcommands by name and imports only the subcommand that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table, which is the order of use."""
        del ctx
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command of that name; None if there is none."""
        del ctx
        known = SUBCOMMANDS.get(cmd_name)
        if known is None:
            return None
        return _imported(known.module)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of `--help` from the table: click's own method imports all subcommands."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, known.help) for name, known in SUBCOMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; turn an error into a message on standard error and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params["debug"]:
                click.echo(without_secrets(traceback.format_exc()), err=True, nl=False)
            text, code = _verdict(error)
            if ctx.obj is None:
                click.echo(text, err=True)
            else:
                ctx.obj(error, text)  # `run --log-format json`
            raise click.exceptions.Exit(code) from error


def _imported(module: str) -> click.Command:
    """Import the module of a subcommand without garbage collection.

    An import creates many objects, and almost none of them is garbage. Collections would visit
    them repeatedly; `freeze` excludes them from later ones.
    """
    gc.disable()
    try:
        command: click.Command = import_module(module).command
    finally:
        gc.freeze()
        gc.enable()
    return command


def _verdict(error: Exception) -> tuple[str, int]:
    """Return the message of an error, with a line for each of several errors, and the exit code."""
    if isinstance(error, StreamtableError):
        return "\n".join(map(_message, singles(error))), EXIT_ERROR
    kind = "" if isinstance(error, InternalError) else f"{type(error).__name__}: "
    what = without_secrets(" ".join(f"{kind}{error}".split()))
    return f"internal error: {what}. Please report this; --debug shows the traceback", EXIT_BUG


def _message(error: StreamtableError) -> str:
    """Return the message on one line, and below it the line of the script with the error."""
    message = f"error: {error}"
    if error.at is None:
        return message
    from streamtable.sql.lexer.excerpt import excerpt  # `--help` needs no lexer

    try:
        shown = excerpt(Path(error.at.file).read_text(encoding="utf-8-sig"), error.at)
    except (OSError, ValueError):
        return message
    return message if shown is None else f"{message}\n{shown}"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="streamtable %(version)s")
@click.option("--debug", is_flag=True, help="Show tracebacks of errors, and Spark's log.")
def cli(debug: bool) -> None:
    """Run Flink SQL scripts over Kafka topics on Apache Spark."""
    if not debug:
        # After the JVM has ended, py4j logs a traceback for each call.
        logging.getLogger().addHandler(logging.NullHandler())


def main() -> None:
    """Run the console script and exit with an exit code."""
    try:
        code = cli.main(prog_name="streamtable", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(EXIT_INTERRUPTED)
    finally:
        gc.freeze()  # the last collections would visit all objects for a fifth of a second
    sys.exit(code if isinstance(code, int) else 0)
