"""Checkpoint directory of a job: its lock, its plan and its facts about the sources."""
