"""What a command and all it starts use of the machine, sampled from /proc."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_EVERY_S = 0.25
#: After how many samples the disk is looked at.
_DISK_EVERY = 8
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    """What a finished command took.

    Attributes:
        cpu_s: CPU seconds of it and its descendants.
        peak_mb: the most resident memory they held at once.
        disk_mb: the most that the folder held which was watched.
    """

    cpu_s: float
    peak_mb: float
    disk_mb: float


def run(
    command: Sequence[str], env: Mapping[str, str], log: Path, timeout_s: float, disk: Path
) -> Used:
    """Runs a command to its end.

    Args:
        command: the program and its arguments.
        env: environment variables, besides ours.
        log: takes what it prints.
        timeout_s: after so long it is killed, with all it started.
        disk: a folder to be watched; it need not be there yet.

    Raises:
        RuntimeError: it failed; the message holds the end of its log.
    """
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, env={**os.environ, **env}, stdout=out, stderr=out, start_new_session=True
        )
    watch = _Watch(process.pid, disk)
    watch.start()
    try:
        code = process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        code = process.wait()
    finally:
        watch.done.set()
        watch.join()
    if code:
        tail = log.read_text(errors="replace")[-3000:]
        message = f"{' '.join(command)} ended with {code}:\n{tail}"
        raise RuntimeError(message)
    return Used(sum(watch.cpu.values()), watch.peak / 2**20, watch.disk / 2**20)


class _Watch(threading.Thread):
    """Samples a session of processes until it is told to stop."""

    def __init__(self, session: int, folder: Path) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._folder = folder
        self.done = threading.Event()
        self.cpu: dict[str, float] = {}
        self.peak = 0.0
        self.disk = 0

    def run(self) -> None:
        samples = 0
        while not self.done.wait(_EVERY_S):
            samples += 1
            if samples % _DISK_EVERY == 0:
                self.disk = max(self.disk, _size(self._folder))
            resident = 0
            for pid, cpu_s, size in _session(self._session):
                # What a JVM has just begun to start still lives in its parent's memory.
                if pid in self.cpu:
                    resident += size
                self.cpu[pid] = cpu_s
            self.peak = max(self.peak, resident)


def cpu_seconds(session: int) -> float:
    """What the processes of a session have used so far."""
    return sum(cpu_s for _, cpu_s, _ in _session(session))


def _session(number: int) -> Iterator[tuple[str, float, int]]:
    """Of each process of a session: its number, CPU seconds, resident bytes."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended just now
            continue
        if int(fields[3]) == number:
            cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
            yield stat.parent.name, cpu_s, int(fields[21]) * _PAGE


def _size(folder: Path) -> int:
    """Bytes of the files below; those that go meanwhile do not count."""
    found = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            found += file.stat().st_size
    return found


def machine() -> str:
    """Cores, their clock and memory, in a few words."""
    memory = os.sysconf("SC_PHYS_PAGES") * _PAGE / 2**30
    clock = re.search(r"^cpu MHz\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    speed = f" of {float(clock[1]) / 1_000:.1f} GHz" if clock else ""
    return f"{os.cpu_count()} cores{speed}, {memory:.0f} GiB"
