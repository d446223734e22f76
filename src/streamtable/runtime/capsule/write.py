"""Write the capsule of a difference, and check that it reproduces the difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import PySparkException

from streamtable import __version__
from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import is_secret, without_secrets
from streamtable.jvm.faults import JavaError, job_fault
from streamtable.jvm.install.installed_spark import installed_spark
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.capsule.file import Capsule, RawRecord
from streamtable.runtime.capsule.replay import replayed
from streamtable.runtime.capsule.selection import (
    LIMIT,
    TooManyRecordsError,
    all_inputs,
    deciding_inputs,
    target_records,
)
from streamtable.runtime.proof.prover import Difference

#: Selects the input records of a capsule.
_Selection = Callable[[], Mapping[str, Sequence[RawRecord]]]


@dataclass(frozen=True)
class CapsuleWriter:
    """Writes capsules of the queries of a script.

    Attributes:
        folder: the directory of the files; it is created.
        script: the script, without secrets.
        secrets: the variables of the script that stand for secrets, each with its option.
        plans: the plans of this script, one per INSERT; the place of a plan is that of the INSERT.
        original: the plans of the proof, in the same order.
        settings: values of `--set`.
        notice: takes one line for the user.
    """

    folder: Path
    script: str
    secrets: Mapping[str, str]
    plans: Sequence[Sink]
    original: Sequence[Sink]
    settings: Mapping[str, str]
    notice: Notice

    def __call__(self, difference: Difference) -> None:
        """Write the capsule of the smallest differing key; report the file, or why there is none.

        Raises:
            StreamtableError: an error of a read; FILE_UNWRITABLE if the file cannot be written.
        """
        try:
            self._keep(difference)
        except (PySparkException, JavaError) as error:
            explain = source_of(difference.sink.table).explain
            raise job_fault(difference.proof.query, str(error), [explain]) from error
        except OSError as error:
            raise StreamtableError(
                Condition.FILE_UNWRITABLE,
                path=error.filename or self.folder,
                reason=error.strerror,
                hint="pass a directory that can be written with --capsule",
            ) from error

    def _keep(self, difference: Difference) -> None:
        query, key = difference.proof.query, difference.proof.smallest
        if key is None:
            return
        empty = self._empty(difference, key)
        sink, commit, lowering = difference.sink, difference.commit, difference.lowering
        # The second selection is for keys that the sink writes in another form than the query.
        selections: tuple[_Selection, ...] = (
            lambda: deciding_inputs(sink, commit, lowering, key),
            lambda: all_inputs(sink, commit, lowering),
        )
        for selection in selections:
            try:
                inputs = selection()
            except TooManyRecordsError as error:
                self.notice(f"{query}: no capsule: {error} has more than {LIMIT:,} records for it")
                return
            capsule = empty(inputs)
            result = replayed(capsule, self.plans[capsule.insert], lowering)
            if result.same_rows:
                self._write(capsule)
                return
        self.notice(f"{query}: no capsule: its records alone do not give the rows of {key}")

    def _empty(
        self, difference: Difference, key: str
    ) -> Callable[[Mapping[str, Sequence[RawRecord]]], Capsule]:
        """Return a function that adds the input records to a capsule."""
        proof, sink = difference.proof, difference.sink
        plans = enumerate(self.original)
        insert = next(place for place, plan in plans if plan.input is sink.input)
        (example,) = (rows for found, *rows in proof.examples if found == key)
        target = target_records(sink, difference.commit, difference.lowering, key)
        settings = {
            name: without_secrets(value)
            for name, value in self.settings.items()
            if not is_secret(name)
        }

        def capsule(inputs: Mapping[str, Sequence[RawRecord]]) -> Capsule:
            return Capsule(
                script=self.script,
                secrets=self.secrets,
                settings=settings,
                insert=insert,
                query=proof.query,
                table=proof.table,
                key=key,
                commit=difference.commit,
                expected=example[0],
                found=example[1],
                written=None if proof.written is None else proof.written.as_json(),
                checkpoint={"job": difference.job, "topics": dict(difference.topics)},
                versions={"streamtable": __version__, "Spark": installed_spark().version},
                inputs=inputs,
                target=target,
            )

        return capsule

    def _write(self, capsule: Capsule) -> None:
        name = re.sub(r"[^\w.-]", "_", capsule.query)
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{name}-batch-{capsule.commit.batch}.zip"
        capsule.write(file)
        records = sum(map(len, capsule.inputs.values()))
        self.notice(
            f"{capsule.query}: capsule {file} of {capsule.key}: {records:,} input records,"
            f" {len(capsule.target):,} sink records; streamtable replay {file}"
        )
