"""`streamtable test`: unit tests of scripts, in memory."""

from __future__ import annotations

from pathlib import Path

import click

from streamtable.cli.script import notice
from streamtable.core.errors import StreamtableError
from streamtable.jvm.install.installed_spark import check_machine
from streamtable.sqltest.bind import bind
from streamtable.sqltest.document import read_file
from streamtable.sqltest.files import test_files

_EXIT_FAILED = 1
_EXIT_UNUSABLE = 2


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-k", "text", metavar="TEXT", help="Run only cases whose file or name has TEXT.")
@click.option(
    "--cuts",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Run each case N more times with random batches; the final tables must be equal.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of the first random batches."
)
@click.option(
    "--junit",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the outcomes as JUnit XML.",
)
@click.pass_context
def command(
    context: click.Context,
    *,
    paths: tuple[Path, ...],
    text: str | None,
    cuts: int,
    seed: int,
    junit: Path | None,
) -> None:
    """Run the cases of test files, such as job.test.yaml, in memory and without Kafka.

    PATHS are test files, and folders to search. The exit code is 0 if all cases pass, 1 if a case
    fails, and 2 if there is no case or a file cannot be used.
    """
    try:
        files = [bind(read_file(path)) for path in test_files(paths)]
    except StreamtableError as error:
        click.echo(f"error: {error}", err=True)
        context.exit(_EXIT_UNUSABLE)
    check_machine()
    # These modules import Spark.
    from streamtable.sqltest.junit import write_junit
    from streamtable.sqltest.memory import Memory
    from streamtable.sqltest.run import local_spark, run_case, selected

    chosen = [(bound, selected(bound, text)) for bound in files]
    count = sum(len(cases) for _, cases in chosen)
    if not count:
        click.echo("error: no cases found", err=True)
        context.exit(_EXIT_UNUSABLE)
    outcomes = []
    with local_spark(notice) as spark:
        for bound, cases in chosen:
            if not cases:
                continue
            try:
                memory = Memory.of(spark, bound)
            except StreamtableError as error:
                click.echo(f"error: {error}", err=True)
                context.exit(_EXIT_UNUSABLE)
            for case in cases:
                outcome = run_case(memory, case, cuts, seed)
                outcomes.append(outcome)
                state = "FAILED" if outcome.lines else "passed"
                click.echo(
                    f"{state} {bound.file.path}::{case.name} ({outcome.seconds * 1000:.0f} ms)"
                )
                for line in outcome.lines:
                    click.echo(f"  {line}")
    if junit is not None:
        write_junit(outcomes, junit)
    failed = sum(bool(outcome.lines) for outcome in outcomes)
    click.echo(f"{count - failed} passed, {failed} failed")
    context.exit(_EXIT_FAILED if failed else 0)
