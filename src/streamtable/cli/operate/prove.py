"""`streamtable prove`: compares the sinks of a job with batch answers over the same records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from streamtable.cli.operate.replay import capsule_session
from streamtable.cli.script import (
    load_script,
    master_option,
    notice,
    percentage,
    print_notices,
    script_arguments,
)
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.runtime.session.launch import launched_ahead
from streamtable.sql.lexer.portable import portable
from streamtable.sql.lexer.script import read_script

if TYPE_CHECKING:
    from collections.abc import Callable

    from streamtable.plan.sink.sink import Sink
    from streamtable.runtime.capsule.write import CapsuleWriter
    from streamtable.runtime.proof.duckdb import DuckDbEngine
    from streamtable.runtime.proof.report import Proof
    from streamtable.session import Session


def _since(
    _context: click.Context, parameter: click.Parameter, value: str | None
) -> int | Literal["last"] | None:
    """Parse the number of a batch, or `last`; a click callback."""
    if value is None:
        return None
    if value == "last":
        return "last"
    if not value.isdecimal():
        message = f"'{value}' is neither the number of a batch nor 'last'"
        raise click.BadParameter(message, param=parameter)
    return int(value)


def _writer(
    folder: Path,
    session: Session,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
) -> CapsuleWriter:
    """Return the writer of capsules, with the script as the capsules have it."""
    from streamtable.runtime.capsule.write import CapsuleWriter

    script = portable(read_script(file), variables, str(file))
    again = capsule_session(script.text, script.secrets, settings, {})
    return CapsuleWriter(
        folder, script.text, script.secrets, again.plans, session.plans, settings, notice
    )


def _engines(session: Session) -> Callable[[Sink], DuckDbEngine]:
    """Return the translation of the queries of a session for DuckDB."""
    from streamtable.runtime.proof.duckdb import DuckDbEngine, check_duckdb

    check_duckdb()
    pairs = zip(session.plans, session.inserts, strict=True)
    inserts = {id(plan.input): made for plan, made in pairs}
    return lambda sink: DuckDbEngine.of(sink, *inserts[id(sink.input)])


@click.command()
@script_arguments
@click.option(
    "--checkpoint", metavar="DIR", help="Checkpoint of the job; the job may run meanwhile."
)
@click.option(
    "--table",
    "tables",
    metavar="TABLE",
    multiple=True,
    help="Compare only the queries that write this table. Repeatable.",
)
@click.option(
    "--sample",
    callback=percentage,
    default="100%",
    show_default=True,
    metavar="PERCENT",
    help="Compare only a share of the keys, chosen by a hash.",
)
@click.option(
    "--since",
    callback=_since,
    metavar="BATCH",
    help="Read only the records after a batch whose proof found no difference: its number, or"
    " `last` for the last one, or for the whole input if there is none.",
)
@click.option(
    "--capsule",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a file per query that differs into this directory: one differing key with the"
    " records that decide about it, for `streamtable replay`.",
)
@click.option(
    "--against",
    type=click.Choice(["spark", "duckdb"]),
    default="spark",
    show_default=True,
    help="Compute the expected rows with Spark's batch operators, or with DuckDB from the query of"
    " the script.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per query.")
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    file: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    checkpoint: str | None,
    tables: tuple[str, ...],
    sample: float,
    since: int | Literal["last"] | None,
    capsule: Path | None,
    against: str,
    as_json: bool,
    master: str | None,
) -> None:
    """Compare the tables that the SQL script FILE has written with a batch computation.

    Takes the offsets that a commit of the checkpoint covers, computes the queries with Spark's
    batch operators over exactly these records, and compares the result with the sink topics as of
    this commit. Only the file proofs.json of the checkpoint is written. The exit code is 0 if all
    tables are equal, else 1.
    """
    session = load_script(file, settings, variables)
    if not session.plans:
        raise StreamtableError(
            Condition.NOTHING_TO_RUN, file=file, hint="add INSERT INTO ... SELECT ..."
        )
    current = session.job_settings
    directory = checkpoint or current.get(CHECKPOINT_DIRECTORY)
    if directory is None:
        message = "name the checkpoint of the job: --checkpoint DIR"
        raise click.UsageError(message)
    if capsule is not None and against != "spark":
        message = "a capsule is replayed by Spark: give --capsule without --against"
        raise click.UsageError(message)
    if since is not None and against != "spark":
        message = "a proof by induction is computed by Spark: give --since without --against"
        raise click.UsageError(message)
    print_notices(session)

    check_machine()  # Spark is needed from here on
    verbose = bool(context.find_root().params.get("debug"))
    with launched_ahead(current, master, verbose, notice):
        from streamtable.runtime.proof.asked import Asked
        from streamtable.runtime.proof.prove import prove_job
        from streamtable.runtime.proof.report import SHARED

        def show(proof: Proof) -> None:
            lines = [json.dumps(proof.as_json())] if as_json else proof.lines()
            for line in lines:
                click.echo(line)

        equal = prove_job(
            session.plans,
            Asked(directory, tables, sample, since),
            current,
            master,
            session.catalog.functions.made,
            notice,
            show,
            None if capsule is None else _writer(capsule, session, file, settings, variables),
            None if against == "spark" else _engines(session),
            verbose=verbose,
        )
    if not as_json:
        click.echo(f"{SHARED[against]}.")
    if not equal:
        context.exit(1)
