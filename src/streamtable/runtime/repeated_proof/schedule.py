"""Start times of the proofs that a running job repeats: an interval, and a limit of CPU time."""

from __future__ import annotations

from dataclasses import dataclass

#: CPU time that the first proof is expected to take, in seconds. Proofs of a million records have
#: taken 43 to 55 seconds, most of it for the start of Spark (`benchmarks/proofs.py`).
FIRST_CPU_S = 60.0


@dataclass
class ProofSchedule:
    """Decides when the next proof starts. It reads no clock; all times are of one monotonic clock.

    A proof starts at least one interval after the start of the job, or of the proof before it. It
    also waits until the CPU time of all proofs, with the CPU time of the last proof once more for
    the next one, is within the limit. The first proof counts as `FIRST_CPU_S`.

    Attributes:
        interval_s: shortest time between the starts of two proofs, in seconds.
        share: limit of the CPU time of all proofs, as a share of the CPU time of the machine since
            the start of the job, 0 to 1.
        cores: number of cores of the machine.
        began_s: start of the job.
    """

    interval_s: float
    share: float
    cores: int
    began_s: float

    def __post_init__(self) -> None:
        self._used_s = 0.0
        self._last_used_s = FIRST_CPU_S
        self._last_start_s = self.began_s

    @property
    def next_s(self) -> float:
        """Earliest start of the next proof."""
        within = (self._used_s + self._last_used_s) / (self.share * self.cores)
        return max(self._last_start_s + self.interval_s, self.began_s + within)

    def start(self, now_s: float) -> None:
        """Note that a proof starts."""
        self._last_start_s = now_s

    def end(self, cpu_s: float) -> None:
        """Note that a proof has ended.

        Args:
            cpu_s: its CPU time, in seconds, with all of its child processes.
        """
        self._used_s += cpu_s
        self._last_used_s = cpu_s
