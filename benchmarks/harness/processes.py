"""Resource use of a command and its child processes, sampled from /proc."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_EVERY_S = 0.25
#: Number of samples between two measurements of the disk.
_DISK_EVERY = 8
_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Used:
    """Resources that a finished command used.

    Attributes:
        cpu_s: CPU seconds of the command and its descendants.
        peak_mb: maximum resident memory of all of them together.
        disk_mb: maximum size of the watched folder.
    """

    cpu_s: float
    peak_mb: float
    disk_mb: float


def run(
    command: Sequence[str], env: Mapping[str, str], log: Path, timeout_s: float, disk: Path
) -> Used:
    """Run a command to its end.

    Args:
        command: the program and its arguments.
        env: additional environment variables.
        log: file for the output.
        timeout_s: time after which the command and its child processes are killed.
        disk: folder to watch; need not exist yet.

    Raises:
        RuntimeError: the command failed; the message contains the end of its log.
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
    """Samples a session of processes until it is stopped."""

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
            for pid, cpu_s, size in members({self._session}):
                # A process that a JVM has just forked still shares its parent's memory.
                if pid in self.cpu:
                    resident += size
                self.cpu[pid] = cpu_s
            self.peak = max(self.peak, resident)


def cpu_seconds(session: int) -> float:
    """Return the CPU seconds that the processes of a session have used so far."""
    return sum(cpu_s for _, cpu_s, _ in members({session}))


def members(sessions: Collection[int]) -> Iterator[tuple[str, float, int]]:
    """Yield number, CPU seconds and resident bytes of each process of some sessions."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if int(fields[3]) in sessions:
            cpu_s = (int(fields[11]) + int(fields[12])) / _TICKS
            yield stat.parent.name, cpu_s, int(fields[21]) * _PAGE


def _size(folder: Path) -> int:
    """Return the size in bytes of the files below; files deleted meanwhile do not count."""
    found = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            found += file.stat().st_size
    return found


def machine() -> str:
    """Describe cores, clock and memory of the machine in a few words."""
    memory = os.sysconf("SC_PHYS_PAGES") * _PAGE / 2**30
    clock = re.search(r"^cpu MHz\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    speed = f" of {float(clock[1]) / 1_000:.1f} GHz" if clock else ""
    return f"{os.cpu_count()} cores{speed}, {memory:.0f} GiB"
