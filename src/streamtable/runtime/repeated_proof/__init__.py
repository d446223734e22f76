"""Proofs that a running job repeats: `run --prove-every`."""
