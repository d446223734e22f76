"""Nexmark's queries beside Flink, in one run on one broker: `make bench-nexmark`.

The topic is filled once. Each query runs alone, on each engine, as in `throughput.py`: from the
same topic to its end, with two state partitions in RocksDB and a checkpoint every 10 s. The time
runs from the moment when the sources begin to read until Kafka accepted the last result record.
CPU seconds are those of the whole process. Flink reuses objects and runs with its defaults and with
mini-batches; the better result counts. The results must be equal, except for columns that ties
leave open.

The queries are those of `tests/compat/nexmark`. q10 writes files and q14 calls a Python function;
both are missing here.

- `--only q5,q8` selects queries.
- `--events N` sets the number of events.
- `--rounds N` repeats each query.
- `--engines` selects engines.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.compat.nexmark.queries import EVENTS, QUERIES, VIEWS

from benchmarks.engines import flink
from benchmarks.engines.engines import (
    FLINKS,
    Engine,
    Times,
    difference,
    on_flink,
    ours,
    rounds_of,
)
from benchmarks.harness import processes, result_files
from benchmarks.harness.brokers import QUIET, broker
from benchmarks.harness.filling import fill
from benchmarks.harness.throughput_report import OURS, Figure
from benchmarks.harness.topics import create
from benchmarks.workloads.nexmark_events import TOPIC, events
from benchmarks.workloads.workloads import Workload

_LEFT_OUT = ("q10", "q14")
_MEASURED = tuple(name for name in QUERIES if name not in _LEFT_OUT)
#: Query -> columns of rows with an equal rank: several bids of an auction have the same price, and
#: a bidder bids several times within a millisecond.
_TIES = {"q18": frozenset({"price", "extra"}), "q19": frozenset({"bidder", "date_time"})}
_OBJECT_REUSE = {"pipeline.object-reuse": "true"}
_LOOKUP = " FOR SYSTEM_TIME AS OF b.p_time"


def main() -> None:
    """Run the benchmark."""
    arguments = _arguments()
    installed = flink.installed()
    known = {OURS: _with_side(ours(arguments.set), _LOOKUP)}
    for name, extra in FLINKS.items():
        known[name] = _with_side(on_flink(installed, extra | _OBJECT_REUSE), "")
    engines = {name: known[name] for name in arguments.engines}
    figures: list[Figure] = []
    messages = []
    with (
        tempfile.TemporaryDirectory(prefix="benchmark-") as scratch,
        broker(Path(scratch), QUIET) as kafka,
    ):
        servers = kafka.bootstrap_servers
        create(servers, [TOPIC])
        records = fill(servers, events(arguments.events))
        for name in arguments.only:
            query = _workload(name)
            found, folds = rounds_of(
                query, servers, engines, Path(scratch), records, arguments.rounds
            )
            figures += found
            messages.append(difference(query, folds))
            if not arguments.keep_quiet:
                kept = _with_earlier(figures)
                result_files.write("nexmark", _report(kept), kept)
    print(_report(figures))
    if any(messages):
        raise SystemExit("\n".join(filter(None, messages)))


def _arguments() -> argparse.Namespace:
    def queries(text: str) -> list[str]:
        names = text.split(",")
        unknown = set(names) - set(_MEASURED)
        if unknown:
            message = f"no query {', '.join(sorted(unknown))}; there are {', '.join(_MEASURED)}"
            raise argparse.ArgumentTypeError(message)
        return names

    engines = [OURS, *FLINKS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", type=queries, default=list(_MEASURED), metavar="q5,q8")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", choices=engines, default=engines, metavar="ENGINE")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="a setting of ours, key=value")
    parser.add_argument("--keep-quiet", action="store_true", help="print, write no result files")
    return parser.parse_args()


def _with_side(engine: Engine, lookup: str) -> Engine:
    """Return an engine that joins the side input of q13 by a lookup or, as Flink, regularly."""

    def run(workload: Workload, servers: str, folder: Path) -> tuple[processes.Used, Times]:
        script = workload.script.replace("{lookup}", lookup)
        return engine(replace(workload, script=script), servers, folder)

    return run


def _workload(name: str) -> Workload:
    columns, key, query = QUERIES[name]
    at = "'properties.bootstrap.servers' = '${servers}'"
    source = (
        f"'connector' = 'kafka', 'topic' = '{TOPIC}', {at}, ${{end}}"
        " 'scan.startup.mode' = 'earliest-offset', 'format' = 'json'"
    )
    if key:
        columns += f", PRIMARY KEY ({', '.join(key)}) NOT ENFORCED"
        formats = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"
    else:
        formats = "'connector' = 'kafka', 'format' = 'json'"
    parts = (
        EVENTS.format(connector=source),
        *VIEWS,
        f"CREATE TABLE found ({columns}) WITH ({formats}, 'topic' = '{name}', {at})",
        f"INSERT INTO found {query}",
    )
    script = ";\n".join(parts) + ";\n"
    no_records = partial(iter, ())
    ties = _TIES.get(name, frozenset())
    return Workload(name, "", (TOPIC,), (name,), script, no_records, undetermined=ties)


def _with_earlier(figures: Sequence[Figure]) -> list[Figure]:
    """Add the results of earlier runs for other queries."""
    measured = {f.workload for f in figures}
    earlier = [Figure(**f) for f in result_files.read("nexmark")]
    kept = [f for f in earlier if f.workload not in measured]
    return sorted([*kept, *figures], key=lambda f: _MEASURED.index(f.workload))


def _report(figures: Sequence[Figure]) -> str:
    """Format the table of medians: one line per query and engine."""
    lines = [
        "# Nexmark beside Flink",
        "",
        f"{processes.machine()}; `make bench-nexmark`.",
        "Ratio: Flink's better time divided by ours; CPU s: of the whole process.",
        result_files.versions(),
        "",
        "| query | day | events | engine | seconds | ratio | CPU s | MB | written |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(f.workload for f in figures):
        runs: dict[str, list[Figure]] = {}
        for figure in figures:
            if figure.workload == name:
                runs.setdefault(figure.engine, []).append(figure)
        seconds = {e: statistics.median(f.seconds for f in some) for e, some in runs.items()}
        flinks = [s for e, s in seconds.items() if e in FLINKS]
        for engine, some in runs.items():
            ratio = f"{min(flinks) / seconds[engine]:.2f}" if flinks and engine == OURS else ""
            cpu = statistics.median(f.cpu_s for f in some)
            newest = some[-1]
            lines.append(
                f"| {name} | {newest.day} | {newest.records:,} | {engine} | {seconds[engine]:.1f}"
                f" | {ratio} | {cpu:.0f} | {max(f.peak_mb for f in some):,.0f}"
                f" | {newest.written:,} |"
            )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
