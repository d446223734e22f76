"""The demo without an end: page views come, the result changes, Ctrl-C stops it all."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from streamtable.demo.display import counted, result_line, result_table
from streamtable.demo.producer import ViewProducer
from streamtable.demo.stage import TOPIC, Tell, beside, stage
from streamtable.inspect.folded import FoldedTopic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POLL_S = 0.1
_LINE_EVERY_S = 1.0

#: Spark's words for a query that has taken its position in every topic, and found nothing new, or
#: reads on in real-time mode.
_IN_POSITION = ("Waiting for data to arrive", "Processing new data")


@dataclass
class Watch:
    """The upsert topic and the producer, looked at together.

    Attributes:
        delay_s: seconds from a page view until the newest change that counts it was read here.
    """

    topic: FoldedTopic
    producer: ViewProducer
    delay_s: float | None = None

    def look(self, seconds: float) -> bool:
        """Reads the changes of that time; whether there were any."""
        if not self.topic.poll(seconds):
            return False
        sent = self.producer.sent_at(counted(self.topic.rows))
        self.delay_s = None if sent is None else time.monotonic() - sent
        return True

    def status(self) -> str:
        """Produced and counted views and the delay, in a few words."""
        produced, in_result = self.producer.tally.total, counted(self.topic.rows)
        delay = "" if self.delay_s is None else f", newest change after {self.delay_s:.1f} s"
        return f"{produced:,} page views produced, {in_result:,} counted{delay}"

    def verdict(self) -> str | None:
        """Once the producer is done and all is counted: whether the result is right."""
        if not self.producer.done.is_set():
            return None
        expected = self.producer.tally
        if counted(self.topic.rows) < expected.total:
            return None
        same = dict(self.topic.rows) == expected.rows()
        return "matches what was produced" if same else "does not match what was produced"


def run_live(console: Console, rate: int, events: int | None, seed: int | None) -> None:
    """Runs until Ctrl-C.

    Args:
        console: a terminal, or a pipe that gets plain lines.
        rate: page views a second.
        events: how many page views in all; None is no end.
        seed: of the page views.

    Raises:
        StreamtableError: whatever stops job, broker or producer.
    """
    begun = time.monotonic()

    def tell(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    with stage(tell, lambda _servers: None) as running:
        from streamtable.runtime.job import RunOptions

        producer = ViewProducer(running.servers, TOPIC, seed)

        def watch(stop: threading.Event) -> None:
            if not _in_position(running.spark, stop):
                return
            tell(f"producing {rate:,} page views a second; Ctrl-C stops")
            with (
                beside(lambda halt: producer.send_at(rate, events, halt)),
                FoldedTopic(running.result) as topic,
            ):
                seen = Watch(topic, producer)
                while not seen.look(_POLL_S):
                    if stop.is_set():
                        return
                tell(f"first result {time.monotonic() - begun:.1f} s after the start")
                show = _show_table if console.is_terminal else _show_lines
                show(console, tell, seen, stop)

        with beside(watch):
            options = RunOptions(checkpoint=str(running.checkpoint))
            running.session.run(options, tell, running.spark)
        tell("stopped")


def _in_position(spark: SparkSession, stop: threading.Event) -> bool:
    """Waits until the query stands where it begins to read; False where a stop comes first.

    The script leaves the startup mode open, so its scan begins at the offsets that are the latest
    when the query looks. Whatever is produced before that is not its business, as on Flink.
    """
    while not stop.wait(_POLL_S):
        if any(query.status["message"] in _IN_POSITION for query in spark.streams.active):
            return True
    return False


def _show_table(console: Console, tell: Tell, seen: Watch, stop: threading.Event) -> None:
    verdict = None
    with Live(console=console, refresh_per_second=4) as live:
        while not stop.is_set():
            seen.look(_POLL_S)
            live.update(Group(result_table(seen.topic.rows), Text(seen.status())))
            if verdict is None and (verdict := seen.verdict()):
                tell(verdict)


def _show_lines(_console: Console, tell: Tell, seen: Watch, stop: threading.Event) -> None:
    verdict = None
    changed, told = True, 0.0
    while not stop.is_set():
        changed = seen.look(_POLL_S) or changed
        if changed and time.monotonic() - told >= _LINE_EVERY_S:
            tell(f"{seen.status()}: {result_line(seen.topic.rows)}")
            changed, told = False, time.monotonic()
        if verdict is None and (verdict := seen.verdict()):
            tell(verdict)
