"""Flame graphs of JDK Flight Recorder files, as SVG.

A box is a method, its width the share of samples that have it at this place of the stack, its title
the number of samples. The lowest row are the groups of threads.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

#: Frames per stack that Flight Recorder keeps; it cuts off the outermost frames of deeper stacks.
STACK_DEPTH = 512

_WIDTH, _ROW = 1_200, 16
#: Boxes below this share of all samples are left out.
_SMALLEST = 0.005
_THREAD = re.compile(r'sampledThread = "([^"]*)"')
_FRAME = re.compile(r"^\s+([\w.$]+(?:<init>|<clinit>)?)\(.*line:", re.MULTILINE)
#: Groups of threads by the begin of their names.
_GROUPS = {
    "Executor task": "tasks",
    "stream execution": "query",
    "Thread-": "Python",
    "kafka": "Kafka's clients",
    "C1 Comp": "compilers",
    "C2 Comp": "compilers",
}
#: Colours by the begin of a method's name.
_COLOURS = {
    "io.streamtable": "#f6a04d",
    "org.apache.spark.sql.catalyst.expressions.GeneratedClass": "#f2d35b",
    "org.apache.spark": "#8db9e2",
    "org.apache.kafka": "#9fd39b",
    "org.rocksdb": "#c9a6dc",
    "scala": "#c5d6e6",
}
_OTHER_COLOUR = "#dddddd"


@dataclass
class _Box:
    """A method at one place of the stack, with the boxes of the methods that it calls."""

    name: str
    samples: int = 0
    calls: dict[str, _Box] = field(default_factory=dict)

    def add(self, stack: Sequence[str]) -> None:
        self.samples += 1
        if stack:
            self.calls.setdefault(stack[0], _Box(stack[0])).add(stack[1:])

    @property
    def depth(self) -> int:
        return 1 + max((box.depth for box in self.calls.values()), default=0)


def flame_graph(recording: Path, title: str) -> str:
    """Return the flame graph of a recording's samples as SVG.

    Args:
        recording: a file of JDK Flight Recorder with `jdk.ExecutionSample` events.
        title: the heading.
    """
    everything = _Box("all")
    for stack in _stacks(recording):
        everything.add(stack)
    smallest = max(1, round(everything.samples * _SMALLEST))
    _prune(everything, smallest)
    height = (everything.depth + 2) * _ROW
    boxes = "\n".join(_boxes(everything, 0.0, height - _ROW, everything.samples))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        ' font-family="monospace" font-size="10">\n'
        f'<text x="4" y="12">{escape(title)}: {everything.samples:,} samples of Java code</text>\n'
        f"{boxes}\n</svg>\n"
    )


def _stacks(recording: Path) -> Iterator[list[str]]:
    """Yield the stack of each sample, from the group of its thread to the running method."""
    command = ["jfr", "print", "--events", "jdk.ExecutionSample"]
    command += ["--stack-depth", str(STACK_DEPTH), str(recording)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for event in printed.split("jdk.ExecutionSample {")[1:]:
        thread = _THREAD.search(event)
        name = thread[1] if thread else ""
        group = next((g for start, g in _GROUPS.items() if name.startswith(start)), "other threads")
        yield [group, *reversed(_FRAME.findall(event))]


def _prune(box: _Box, smallest: int) -> None:
    box.calls = {name: call for name, call in box.calls.items() if call.samples >= smallest}
    for call in box.calls.values():
        _prune(call, smallest)


def _boxes(box: _Box, x: float, y: int, everything: int) -> Iterator[str]:
    width = box.samples / everything * _WIDTH
    share = f"{box.samples:,} samples, {box.samples / everything:.1%}"
    colour = next((c for start, c in _COLOURS.items() if box.name.startswith(start)), _OTHER_COLOUR)
    text = ".".join(box.name.split(".")[-2:])[: int(width / 6.2)]
    yield (
        f'<g><title>{escape(box.name)}: {share}</title><rect x="{x:.1f}" y="{y}"'
        f' width="{width:.1f}" height="{_ROW - 1}" fill="{colour}"/>'
        + (f'<text x="{x + 2:.1f}" y="{y + 11}">{escape(text)}</text>' if len(text) > 2 else "")
        + "</g>"
    )
    for call in sorted(box.calls.values(), key=lambda call: call.name):
        yield from _boxes(call, x, y - _ROW, everything)
        x += call.samples / everything * _WIDTH
