"""Proof of a job: the sink of each query compared with the batch answer over the same records.

Input: the plans of a job, and its checkpoint. `commits` finds a commit and the offsets that it
covers, `expected` and `found` compute both sides, and `compare` compares them by key or by count.
Output: one `Proof` per query. Next: the command `prove`.
"""
