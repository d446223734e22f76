"""The options of `run` that repeat the proof of its job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from streamtable.cli.script import percentage
from streamtable.core.durations import parse_duration

if TYPE_CHECKING:
    from streamtable.runtime.repeated_proof.repeated import ProofOptions

_F = TypeVar("_F", bound=Callable[..., Any])

#: Program of one proof.
PROGRAM = (sys.executable, "-m", "streamtable.cli.operate.proof_process")


def _interval(
    _context: click.Context, parameter: click.Parameter, value: str | None
) -> timedelta | None:
    """Parse a duration of at least a second; a click callback."""
    if value is None:
        return None
    try:
        found = parse_duration(value)
    except ValueError:
        found = timedelta(0)
    if found < timedelta(seconds=1):
        message = f"'{value}' is not a duration of at least one second, such as 1h"
        raise click.BadParameter(message, param=parameter)
    return found


def repeated_proof_options(function: _F) -> _F:
    """Add `--prove-every`, `--prove-cpu` and `--prove-memory` to a command."""
    decorators = (
        click.option(
            "--prove-every",
            callback=_interval,
            metavar="DURATION",
            help="Run `streamtable prove --since last` in a process beside the job at this"
            " interval, such as 1h, and keep the metrics proofDifferences and proofAge current.",
        ),
        click.option(
            "--prove-cpu",
            callback=percentage,
            default="5%",
            show_default=True,
            metavar="PERCENT",
            help="Limit of the proofs' share of the CPU time of all cores. A proof that would"
            " exceed it starts later.",
        ),
        click.option(
            "--prove-memory",
            default="2g",
            show_default=True,
            metavar="SIZE",
            help="'spark.driver.memory' in the process of a proof.",
        ),
    )
    for decorate in reversed(decorators):
        function = decorate(function)
    return function


def repeated_proof(
    context: click.Context, file: Path, settings: dict[str, str], variables: dict[str, str]
) -> ProofOptions | None:
    """Return how `run` repeats the proof of its job; None without `--prove-every`.

    Args:
        context: of the command `run`.
        file: the script.
        settings: values of `--set`.
        variables: values of `--var`.

    Raises:
        click.UsageError: `--prove-cpu` or `--prove-memory` without `--prove-every`.
    """
    from streamtable.runtime.repeated_proof.repeated import ProofOptions

    given = context.params
    if given["prove_every"] is None:
        for name, option in (("prove_cpu", "--prove-cpu"), ("prove_memory", "--prove-memory")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                message = f"{option} needs --prove-every"
                raise click.UsageError(message)
        return None
    arguments = [
        str(file),
        *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")),
        *(word for name, value in variables.items() for word in ("--var", f"{name}={value}")),
    ]
    return ProofOptions(
        given["prove_every"], given["prove_cpu"], given["prove_memory"], PROGRAM, arguments
    )
