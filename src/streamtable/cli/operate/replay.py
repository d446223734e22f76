"""`streamtable replay`: compares a differing key again, over the records of a capsule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamtable.cli.script import load_text, master_option, notice, pairs, settings_option
from streamtable.core.secrets import MASK
from streamtable.jvm.install.installed_spark import check_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamtable.session import Session


def capsule_session(
    script: str, secrets: Mapping[str, str], settings: dict[str, str], given: dict[str, str]
) -> Session:
    """Load the script of a capsule.

    Args:
        script: the script, with a variable for each secret.
        secrets: these variables.
        settings: session settings that the script cannot change.
        given: values of some of the variables; the others have no value.
    """
    masked = dict.fromkeys(secrets, MASK)
    return load_text(script, "script.sql", settings, {**masked, **given})


@click.command()
@click.argument("capsule", type=click.Path(path_type=Path))
@settings_option
@click.option(
    "--var",
    "variables",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="Give a secret that the capsule leaves out, such as the password of a schema registry."
    " Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@master_option
@click.pass_context
def command(
    context: click.Context,
    *,
    capsule: Path,
    settings: dict[str, str],
    variables: dict[str, str],
    as_json: bool,
    master: str | None,
) -> None:
    """Compare a differing key again, over the records of a file of `prove --capsule`.

    Computes the query of the script in CAPSULE over its input records, decodes its records of the
    sink, and compares the rows of the key. No broker is needed. The exit code is 1 if the key
    differs again, else 0.
    """
    check_machine()
    from streamtable.runtime.capsule.file import Capsule
    from streamtable.runtime.capsule.replay import replayed
    from streamtable.runtime.reading import reading_context

    found = Capsule.read(capsule)
    session = capsule_session(
        found.script, found.secrets, {**found.settings, **settings}, variables
    )
    with reading_context(
        session.job_settings,
        master,
        session.catalog.functions.made,
        notice,
        verbose=bool(context.find_root().params.get("debug")),
    ) as lowering:
        result = replayed(found, session.plans[found.insert], lowering)
    for line in [json.dumps(result.as_json())] if as_json else result.lines():
        click.echo(line)
    if result.reproduced:
        context.exit(1)
