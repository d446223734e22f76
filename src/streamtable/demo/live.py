"""Live demo: page views arrive and the result changes until Ctrl-C."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.demo.display import counted, result_line, result_table
from streamtable.demo.producer import ViewProducer
from streamtable.demo.stage import TOPIC, Tell, beside, stage

if TYPE_CHECKING:
    from pathlib import Path

_POLL_S = 0.1
_LINE_EVERY_S = 1.0

#: Files of a checkpoint in which Spark stores the start offsets of a scan.
_POSITIONS = "*/sources/*/0"


@dataclass
class DemoTopic:
    """Monitor of the upsert topic and the producer.

    Attributes:
        delay_s: seconds from a page view until the read of the newest change that counts it.
    """

    topic: FoldedTopic
    producer: ViewProducer
    delay_s: float | None = None

    def poll(self, seconds: float) -> bool:
        """Read changes for the given seconds; return whether there were any."""
        if not self.topic.poll(seconds):
            return False
        sent = self.producer.sent_at(counted(self.topic.rows))
        self.delay_s = None if sent is None else time.monotonic() - sent
        return True

    def status(self) -> str:
        """Return the numbers of produced and counted views, and the delay, as a short text."""
        produced, in_result = self.producer.tally.total, counted(self.topic.rows)
        delay = "" if self.delay_s is None else f", newest change after {self.delay_s:.1f} s"
        return f"{produced:,} page views produced, {in_result:,} counted{delay}"

    def verdict(self) -> str | None:
        """Return whether the result is correct, in words; None until all page views are counted."""
        if not self.producer.done.is_set():
            return None
        expected = self.producer.tally
        if counted(self.topic.rows) < expected.total:
            return None
        same = dict(self.topic.rows) == expected.rows()
        return (
            "matches the produced page views" if same else "does not match the produced page views"
        )


def run_live(console: Console, rate: int, events: int | None, seed: int | None) -> None:
    """Run the demo until Ctrl-C.

    Args:
        console: a terminal, or a pipe that gets plain lines.
        rate: page views per second.
        events: total number of page views; None is unlimited.
        seed: random seed of the page views.

    Raises:
        StreamtableError: the error that ended the job, the broker or the producer.
    """
    begun = time.monotonic()

    def tell(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    with stage(tell, lambda _servers: None) as running:
        from streamtable.runtime.job import RunOptions

        producer = ViewProducer(running.servers, TOPIC, seed)

        def watch(stop: threading.Event) -> None:
            if not _in_position(running.checkpoint, stop):
                return
            tell(f"producing {rate:,} page views a second; Ctrl-C stops")
            with (
                beside(lambda halt: producer.send_at(rate, events, halt)),
                FoldedTopic(running.result) as topic,
            ):
                seen = DemoTopic(topic, producer)
                while not seen.poll(_POLL_S):
                    if stop.is_set():
                        return
                tell(f"first result {time.monotonic() - begun:.1f} s after the start")
                show = _show_table if console.is_terminal else _show_lines
                show(console, tell, seen, stop)

        with beside(watch):
            options = RunOptions(checkpoint=str(running.checkpoint))
            running.session.run(options, tell, running.spark)
        tell("stopped")


def _in_position(checkpoint: Path, stop: threading.Event) -> bool:
    """Wait until the query has its start offsets; return False after a stop request.

    The script does not set the startup mode, so its scan starts at the latest offsets at the time
    of the first read. As on Flink, the scan does not read records that were produced earlier.
    """
    while not stop.wait(_POLL_S):
        if any(checkpoint.glob(_POSITIONS)):
            return True
    return False


def _show_table(console: Console, tell: Tell, seen: DemoTopic, stop: threading.Event) -> None:
    verdict = None
    with Live(console=console, refresh_per_second=4) as live:
        while not stop.is_set():
            seen.poll(_POLL_S)
            live.update(Group(result_table(seen.topic.rows), Text(seen.status())))
            if verdict is None and (verdict := seen.verdict()):
                tell(verdict)


def _show_lines(_console: Console, tell: Tell, seen: DemoTopic, stop: threading.Event) -> None:
    verdict = None
    changed, printed = True, 0.0
    while not stop.is_set():
        changed = seen.poll(_POLL_S) or changed
        if changed and time.monotonic() - printed >= _LINE_EVERY_S:
            tell(f"{seen.status()}: {result_line(seen.topic.rows)}")
            changed, printed = False, time.monotonic()
        if verdict is None and (verdict := seen.verdict()):
            tell(verdict)
