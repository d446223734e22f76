"""Bounded demo: produces a fixed number of page views, then runs the job on all of them."""

from __future__ import annotations

import time

from rich.console import Console

from streamtable.connectors.kafka.inspect.folded import FoldedTopic
from streamtable.demo.display import result_table
from streamtable.demo.producer import ViewProducer
from streamtable.demo.stage import TOPIC, stage


def run_bounded(console: Console, events: int, seed: int | None) -> bool:
    """Produce page views, run the job, and print the resulting table of the upsert topic.

    Returns:
        Whether the table equals the counts of the producer.
    """

    def tell(line: str) -> None:
        console.print(line, highlight=False, soft_wrap=True)

    producers: list[ViewProducer] = []

    def fill(servers: str) -> None:
        producer = ViewProducer(servers, TOPIC, seed)
        producer.send_all(events)
        producers.append(producer)
        tell(f"{events:,} page views are in the topic '{TOPIC}'")

    with stage(tell, fill) as running:
        from streamtable.runtime.job import RunOptions

        begun = time.monotonic()
        options = RunOptions(bounded=True, checkpoint=str(running.checkpoint))
        running.session.run(options, tell, running.spark)
        tell(f"the job ended after {time.monotonic() - begun:.1f} s")
        with FoldedTopic(running.result) as topic:
            topic.catch_up()
            rows = dict(topic.rows)
    console.print(result_table(rows))
    return rows == producers[0].tally.rows()
