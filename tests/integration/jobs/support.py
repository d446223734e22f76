"""What tests of whole jobs share: the pageviews script, page views, the command line."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
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
    """Page views of 500 users in 8 regions, reproducible by their seed."""
    source = random.Random(seed)
    for i in range(count):
        yield {
            "user_id": source.randrange(500),
            "page_id": source.randrange(50),
            "viewtime": f"2026-01-01 00:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03}",
            "user_region": f"region-{source.randrange(8)}",
        }


def recount(views: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """What pv/uv per region must be."""
    hits = Counter(view["user_region"] for view in views)
    users = defaultdict(set)
    for view in views:
        users[view["user_region"]].add(view["user_id"])
    return {
        (region,): {"user_region": region, "pv": pv, "uv": len(users[region])}
        for region, pv in hits.items()
    }


#: Seconds after which what a job has not done hangs, on a machine with other work too.
PATIENCE_S = 240

#: Processes that tests have started and that may still run.
_STARTED: list[subprocess.Popen[str]] = []


def kill_leftovers() -> None:
    """Ends what a failed test has left running, with the JVM in its process group."""
    while _STARTED:
        process = _STARTED.pop()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@dataclass
class Cli:
    """`streamtable` as a process of its own, with its JVM in a process group to be killed with."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, *arguments: str, log: Path | None = None) -> Cli:
        """Starts it; where there is a log, that takes all it says, however much that is.

        A script runs without the planner's warm-up, which a short run does not need.
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
        """Exit code, standard output, standard error."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err

    def wait_for(self, text: str, seconds: float = PATIENCE_S) -> None:
        """Returns once a line of standard error has that text; such lines are read away."""
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

    def kill(self) -> None:
        """`kill -9` of everything it started, as a machine that loses power."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def terminate(self) -> None:
        """A polite stop."""
        self.process.send_signal(signal.SIGTERM)

    def terminate_all(self) -> None:
        """The same to its JVM as well, as service managers do."""
        os.killpg(self.process.pid, signal.SIGTERM)


def run(*arguments: str, timeout: float = PATIENCE_S) -> tuple[int, str, str]:
    """A command to its end."""
    return Cli.start(*arguments).end(timeout)


def write(path: Path, text: str) -> str:
    """A file with this text; its path as an argument."""
    path.write_text(text)
    return str(path)
