"""Prove the queries of a job: choose what to compare, compare each sink, and report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from streamtable.catalog.functions import UserFunction
from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import StreamtableError, raise_all
from streamtable.core.options import Settings
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.outline import job_name
from streamtable.runtime.proof.asked import Asked, job_of, reads_checkpoint
from streamtable.runtime.proof.baseline import (
    chosen_proofs,
)
from streamtable.runtime.proof.duckdb import DuckDbEngine
from streamtable.runtime.proof.history import remember
from streamtable.runtime.proof.prover import Difference, Prover
from streamtable.runtime.proof.report import Proof
from streamtable.runtime.provable import check_provable
from streamtable.runtime.reading import ReadOpening


def prove_job(
    plans: Sequence[Sink],
    asked: Asked,
    settings: Settings,
    master: str | None,
    functions: Sequence[UserFunction],
    notice: Notice,
    show: Callable[[Proof], None],
    keep: Callable[[Difference], None] | None = None,
    engine_of: Callable[[Sink], DuckDbEngine] | None = None,
    *,
    verbose: bool = False,
) -> bool:
    """Compare the sinks of a job with the batch answers over the records of a commit.

    Only `proofs.json` of the checkpoint is written. The job may run.

    Args:
        plans: one per INSERT of the script.
        asked: what to prove.
        settings: the session's settings.
        master: Spark's master URL; None is this machine.
        functions: the user's functions.
        notice: takes one line for the user.
        show: takes the result of each query.
        keep: takes each query that differs, while Spark runs.
        engine_of: returns what computes the expected rows of a query; None for Spark.
        verbose: whether Spark's own log is shown.

    Returns:
        Whether all sinks are equal to their answers.

    Raises:
        StreamtableError: any error that is known before the records are read, for all queries; or
            the errors of the reads, after the other queries are compared.
    """
    with ExitStack() as stack:
        opening = ReadOpening(stack, settings, master, functions, notice, verbose=verbose)
        job = job_of(plans, asked, opening.checkpoint(asked.directory))
        faults = []
        engines: dict[str, DuckDbEngine] = {}
        for name, sink in job.queries.items():
            try:
                check_provable(sink, functions)
                job.kept_until(name)
                if engine_of is not None:
                    engines[name] = engine_of(sink)
            except StreamtableError as error:
                faults.append(error)
        baselines = chosen_proofs(job, asked, notice, faults)
        raise_all(faults)
        context = opening.context
        equal = True
        title = job_name(plans, settings)
        for group in job.groups:
            name = group[0]
            lowering = replace(context, query=name, counters={})
            prover = Prover(group, job, title, lowering, asked, notice, engines)
            try:
                with reads_checkpoint(asked.directory):
                    found = prover.difference(baselines.get(name))
            except StreamtableError as error:
                faults.append(error)  # the other queries are compared first
                continue
            proof = found.proof
            equal = equal and proof.equal
            if len(group) > 1:
                for one in group:
                    others = [other for other in group if other != one]
                    show(replace(proof, query=one, together=others))
                if not proof.equal and keep is not None:
                    notice(f"{name}: a capsule holds one query, and several write its target")
                continue
            show(proof)
            remember(job, name, proof, found.commit, lowering.bridge, notice)
            if not proof.equal and keep is not None and proof.since is None:
                keep(found)
    raise_all(faults)
    return equal
