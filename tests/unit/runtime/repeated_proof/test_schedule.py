"""The time at which a running job starts its next proof."""

from __future__ import annotations

import random

from streamtable.runtime.repeated_proof.schedule import FIRST_CPU_S, ProofSchedule


def _schedule(interval_s: float = 60) -> ProofSchedule:
    return ProofSchedule(interval_s, share=0.05, cores=2, began_s=1_000)


def test_the_first_proof_waits_for_its_expected_cost() -> None:
    assert _schedule().next_s == 1_000 + FIRST_CPU_S / 0.1
    assert _schedule(interval_s=3_600).next_s == 4_600


def test_cheap_proofs_keep_the_interval() -> None:
    schedule = _schedule()
    schedule.start(1_600)
    schedule.end(1)
    assert schedule.next_s == 1_660


def test_a_proof_longer_than_the_interval_delays_the_next() -> None:
    schedule = ProofSchedule(60, share=1, cores=1, began_s=0)
    schedule.start(60)
    schedule.end(200)
    assert schedule.next_s == 400, "200 s for this one, and as much for the next"


def test_the_cpu_share_delays_the_proof_after_an_expensive_proof() -> None:
    schedule = _schedule()
    schedule.start(1_600)
    schedule.end(90)
    assert schedule.next_s == 1_000 + (90 + 90) / 0.1
    schedule.start(2_800)
    schedule.end(5)
    assert schedule.next_s == 2_860, "100 s of CPU time are 1,000 s"


def test_the_share_is_not_exceeded_by_proofs_of_equal_cost() -> None:
    dice = random.Random(1)
    for _ in range(50):
        schedule = _schedule(interval_s=dice.choice([1, 60, 3_600]))
        cost, used = dice.uniform(1, FIRST_CPU_S), 0.0
        for _ in range(20):
            now = schedule.next_s
            schedule.start(now)
            schedule.end(cost)
            used += cost
            assert used <= 0.05 * 2 * (now - 1_000) + 1e-6
