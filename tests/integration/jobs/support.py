"""Helpers for tests of whole jobs: the pageviews script, page views, the command line."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGEVIEWS = """
CREATE TABLE pageviews_per_region (
  user_region STRING,
  pv BIGINT,
  uv BIGINT,
  PRIMARY KEY (user_region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = '${out}',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'avro',
  'value.format' = 'avro'
);

CREATE TABLE pageviews (
  user_id BIGINT,
  page_id BIGINT,
  viewtime TIMESTAMP,
  user_region STRING,
  WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
) WITH (
  'connector' = 'kafka',
  'topic' = '${source}',
  'properties.bootstrap.servers' = '${servers}',
  'properties.auto.offset.reset' = 'earliest',
  'format' = 'json'
);

-- calculate the pv, uv and insert into the upsert-kafka sink
INSERT INTO pageviews_per_region
SELECT
  user_region,
  COUNT(*),
  COUNT(DISTINCT user_id)
FROM pageviews
GROUP BY user_region;
"""


def page_views(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """Yield page views of 500 users in 8 regions, reproducible by their seed."""
    source = random.Random(seed)
    for i in range(count):
        yield {
            "user_id": source.randrange(500),
            "page_id": source.randrange(50),
            "viewtime": f"2026-01-01 00:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03}",
            "user_region": f"region-{source.randrange(8)}",
        }


def recount(views: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the expected pv and uv per region."""
    hits = Counter(view["user_region"] for view in views)
    users = defaultdict(set)
    for view in views:
        users[view["user_region"]].add(view["user_id"])
    return {
        (region,): {"user_region": region, "pv": pv, "uv": len(users[region])}
        for region, pv in hits.items()
    }


#: Seconds after which a job counts as hanging, even on a machine with other work.
PATIENCE_S = 240

#: Processes that tests have started and that may still run.
_STARTED: list[subprocess.Popen[str]] = []


def kill_leftovers() -> None:
    """Kill the processes that a failed test has left running, with their JVMs."""
    while _STARTED:
        process = _STARTED.pop()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class Cli:
    """A `streamtable` command in its own process group, so that a kill also ends its JVM."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, *arguments: str, log: Path | None = None) -> Cli:
        """Start a command; with a log, its output and errors go there, however long they are.

        A script runs without planner warm-up, which a short run does not need.
        """
        if arguments[:1] == ("run",) and arguments[1].endswith(".sql"):
            arguments = (*arguments, "--set", "execution.real-time.practice-plans=0")
        with log.open("w") if log else nullcontext(subprocess.PIPE) as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "streamtable", *arguments],
                stdout=out,
                stderr=subprocess.STDOUT if log else subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        _STARTED.append(process)
        return cls(process)

    def end(self, timeout: float = PATIENCE_S) -> tuple[int, str, str]:
        """Wait for the end and return exit code, standard output and standard error."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def wait_for(self, text: str, seconds: float = PATIENCE_S) -> None:
        """Read standard error until a line has the text; the lines up to there are lost."""
        assert self.process.stderr is not None
        too_late = threading.Timer(seconds, self.process.kill)
        too_late.start()
        seen = []
        for line in self.process.stderr:
            seen.append(line)
            if text in line:
                break
        else:
            message = f"it ended without '{text}': {''.join(seen)}"
            raise AssertionError(message)
        too_late.cancel()

    def until(
        self, reached: Callable[[], bool], seconds: float = PATIENCE_S, pause: float = 0.2
    ) -> None:
        """Wait until something is reached. The command must run until then."""
        deadline = time.monotonic() + seconds
        while not reached():
            assert self.process.poll() is None, self.end()
            assert time.monotonic() < deadline, f"not reached in {seconds} s"
            time.sleep(pause)

    def kill(self) -> None:
        """End the command and all its processes with `kill -9`, like a power failure."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self.process.send_signal(signal.SIGTERM)

    def terminate_all(self) -> None:
        """Send SIGTERM to the command and to its JVM, as service managers do."""
        os.killpg(self.process.pid, signal.SIGTERM)


def run(*arguments: str, timeout: float = PATIENCE_S) -> tuple[int, str, str]:
    """Run a command and return its exit code, output and errors."""
    return Cli.start(*arguments).end(timeout)


def write(path: Path, text: str) -> str:
    """Write the text to a file, and return its path as an argument."""
    path.write_text(text)
    return str(path)
