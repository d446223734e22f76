"""Repeated proofs of a job, with a small program instead of `prove`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.assignment import query_names
from streamtable.runtime.metrics.metrics import QueryState
from streamtable.runtime.repeated_proof import repeated
from streamtable.runtime.repeated_proof.process import ProofProcess
from streamtable.runtime.repeated_proof.repeated import ProofOptions, repeated_proofs
from streamtable.runtime.run_queries import JobObserver
from streamtable.session import Session

_TABLES = """
CREATE TABLE e (g STRING, n INT, p AS PROCTIME()) WITH ('connector' = 'kafka', 'topic' = 'e',
  'format' = 'json', 'properties.bootstrap.servers' = 'localhost:1');
CREATE TABLE u (g STRING, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'u', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = 'localhost:1');
CREATE TABLE shown (g STRING, n INT) WITH ('connector' = 'print');
"""
_COUNT = "INSERT INTO u SELECT g, COUNT(*) FROM e GROUP BY g;"
_SHOWN = "INSERT INTO shown SELECT g, n FROM e;"

#: Appends its input line to a file, prints the prepared output, ends with the prepared code.
_PROGRAM = """
import json, sys
from pathlib import Path
folder = Path(sys.argv[1])
with (folder / "asked").open("a") as asked:
    asked.write(sys.stdin.readline())
prepared = json.loads((folder / "answer").read_text())
print(prepared["out"])
print(prepared["err"], file=sys.stderr)
sys.exit(prepared["code"])
"""

_EQUAL = {
    "query": "u",
    "table": "u",
    "result": "equal",
    "differ": 0,
    "batch": 7,
    "keyed": True,
    "undecided": [],
    "smallest": None,
    "examples": [],
}


@dataclass
class _Job:
    """A job without running queries, and the prepared answers of its proofs."""

    folder: Path
    observer: JobObserver = field(default_factory=JobObserver)
    notices: list[str] = field(default_factory=list)

    def answer(self, *results: Mapping[str, Any], err: str = "", code: int = 0) -> None:
        """Prepare the output of the next proofs."""
        out = "\n".join(map(json.dumps, results))
        draft = self.folder / "draft"
        draft.write_text(json.dumps({"out": out, "err": err, "code": code}))
        draft.replace(self.folder / "answer")

    def asked(self) -> list[list[str]]:
        """Return the arguments of all proofs so far."""
        file = self.folder / "asked"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def until(self, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Wait until `done` accepts the metrics of the query; return the metrics."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            found = self.observer.metrics.values()["queries"]["u"]
            if done(found):
                return found
            time.sleep(0.02)
        raise AssertionError(found)

    def committed(self) -> None:
        """Record the first batch of the query in the metrics."""
        self.observer.metrics.take({}, {"u": QueryState(batch=0, finished=1.0)})

    @contextmanager
    def proved(self, inserts: str = _COUNT + _SHOWN, **more: bool) -> Iterator[None]:
        """Repeat the proofs of a script while the block runs."""
        program = self.folder / "program.py"
        program.write_text(_PROGRAM)
        command = [sys.executable, str(program), str(self.folder)]
        options = ProofOptions(timedelta(milliseconds=50), 1_000.0, "1g", command, ["job.sql"])
        plans = _planned(inserts)
        given = {"temporary": False, "bounded": False, **more}
        with repeated_proofs(
            plans,
            options,
            self.folder / "checkpoint",
            (),
            self.notices.append,
            self.observer,
            **given,
        ):
            yield


def _planned(inserts: str) -> dict[str, Sink]:
    session = Session()
    session.load(_TABLES + inserts, "job.sql")
    return query_names(session.plans)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> _Job:
    monkeypatch.setattr(repeated, "_POLL_S", 0.02)
    return _Job(tmp_path)


def test_metrics_follow_the_proofs(job: _Job) -> None:
    job.answer(_EQUAL)
    with job.proved():
        assert [line.partition(": ")[0] for line in job.notices] == ["not proved"]
        assert "NO_HISTORY: table shown" in job.notices[0]
        time.sleep(0.3)
        assert not job.asked(), "the query has no batch yet"
        job.committed()
        found = job.until(lambda now: "proofAge" in now)
        assert (found["proofDifferences"], found["proofFailures"]) == (0, 0)
        assert 0 <= found["proofAge"] < 30_000
        assert job.asked()[0] == [
            *("job.sql", "--checkpoint", str(job.folder / "checkpoint"), "--since", "last"),
            *("--json", "--master", "local[1]", "--set", "spark.driver.memory=1g", "--table", "u"),
        ]

        examples = [{"key": '{"g":"a"}', "expected": '{"n":1}', "found": None}]
        differs = {"result": "differs", "differ": 2, "smallest": '{"g":"a"}', "examples": examples}
        job.answer({**_EQUAL, **differs}, code=1)
        assert job.until(lambda now: now["proofDifferences"])["proofDifferences"] == 2
        assert job.notices[1].startswith(
            "SINK_DIFFERS: u differs from its batch answer at batch 7 of u: 2 keys, such as"
            ' {"g":"a"}: expected {"n":1}, found no row'
        )

        doubt = {**differs, "result": "undecided", "undecided": ["rows may be late"]}
        job.answer({**_EQUAL, **doubt}, code=1)
        found = job.until(lambda now: now["proofUndecided"])
        assert (found["proofDifferences"], found["proofUndecided"]) == (0, 2)
        assert "undecided: rows may be late" in job.notices[-1]


def test_failures_are_reported_once_and_counted(job: _Job) -> None:
    job.answer(err="starting Spark\nerror: MOMENT_LOST: gone\nINSERT", code=1)
    job.committed()
    with job.proved(_COUNT):
        job.until(lambda now: now.get("proofFailures", 0) >= 2)
        assert len(job.notices) == 1
        assert job.notices[0].startswith("PROOF_FAILED: ")
        assert job.notices[0].endswith("batch answers: MOMENT_LOST: gone")
        assert "proofAge" not in job.observer.metrics.values()["queries"]["u"]
        job.answer(err="what\nis this", code=70)
        failures = job.until(lambda _: len(job.notices) == 2)["proofFailures"]
        assert job.notices[1].endswith("the process ended with exit code 70: is this")
        job.answer(_EQUAL)
        found = job.until(lambda now: "proofAge" in now)
        assert found["proofFailures"] >= failures


@pytest.mark.parametrize(
    ("inserts", "more", "condition", "part"),
    [
        (_SHOWN, {}, Condition.OPTION_CONFLICT, "shown: NO_HISTORY: table shown"),
        (_COUNT, {"temporary": True}, Condition.OPTION_CONFLICT, "add --checkpoint"),
        (_COUNT, {"bounded": True}, Condition.OPTION_CONFLICT, "for jobs without an end"),
    ],
)
def test_jobs_that_cannot_be_proved_are_refused(
    inserts: str, more: dict[str, bool], condition: Condition, part: str, job: _Job
) -> None:
    with pytest.raises(StreamtableError) as caught, job.proved(inserts, **more):
        pass
    assert caught.value.condition is condition
    assert "'--prove-every'" in str(caught.value)
    assert part in str(caught.value)


def _process(text: str) -> ProofProcess:
    return ProofProcess([sys.executable, "-c", text], [])


def _ended(process: ProofProcess) -> Any:
    deadline = time.monotonic() + 30
    while (found := process.poll()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def test_cpu_time_includes_child_processes() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    found = _ended(
        _process(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])")
    )
    assert found.code == 0
    assert 0.3 <= found.cpu_s < 10


def test_a_stopped_process_ends_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    process = _process(
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'draft')!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"os.rename({str(tmp_path / 'draft')!r}, {str(pids)!r})\n"
        "time.sleep(60)\n"
    )
    deadline = time.monotonic() + 30
    while not pids.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running = [Process.of(int(pid)) for pid in pids.read_text().split()]
    assert all(running)
    process.stop()
    deadline = time.monotonic() + 30
    while any(one is not None and one.alive for one in running):
        assert time.monotonic() < deadline
        time.sleep(0.02)
